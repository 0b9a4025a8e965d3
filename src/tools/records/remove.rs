//! `remove_record`: one record, unless others belong to it.

use serde_json::{Value, json};

use super::arguments::Remove;
use super::base::{RecordTools, shown};
use super::reminding::tasks_of;
use crate::tools::{ToolContext, ToolError, as_data};

/// Removes a record.
pub(super) async fn remove(
    tools: &RecordTools,
    context: &ToolContext,
    Remove { record_id }: Remove,
) -> Result<Value, ToolError> {
    let (book, id) = tools.found(context, &record_id).await?;
    let referring: Vec<Value> = book.referring(id).into_iter().map(|record| shown(&book, record)).collect();
    if !referring.is_empty() {
        return Err(ToolError::ForModel(format!(
            "other records belong to this one: ask whether these are to be removed too, and remove them first: {}",
            Value::from(referring)
        )));
    }
    let tasks = match book.entry(id) {
        Some(entry) => tasks_of(&*tools.tasks, &book, &entry, context.language.as_deref()).await?,
        None => Vec::new(),
    };
    let removed = tools.books.store.remove_records(context.place.chat, &[id]).await?;
    let Some(record) = removed.first() else {
        return Err(ToolError::ForModel("the record has just been removed by someone else".to_owned()));
    };
    let mut answer = as_data("removed", shown(&book, record));
    if !tasks.is_empty() {
        let listed = tasks.iter().map(|task| json!({"task_id": task.id, "title": task.title()}));
        answer["reminders"] = listed.collect();
        answer["next"] = json!("ask whether these reminders are to be cancelled too, and cancel them then");
    }
    Ok(answer)
}
