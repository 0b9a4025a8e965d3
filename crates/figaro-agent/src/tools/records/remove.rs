//! `remove_record`: removes one record unless others refer to it. A button under the answer undoes it.

use serde_json::{Value, json};

use super::arguments::RemoveRecordArguments;
use super::base::{REMOVE_NAME, RecordTools, shown};
use super::reminding::tasks_of;
use super::rights::Remover;
use crate::tools::{ToolContext, ToolError, as_kept_data};
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName};
use figaro_domain::record::Removal;
use figaro_domain::undo::MadeIn;
use figaro_store::ByModel;

pub(super) async fn remove(
    tools: &RecordTools,
    context: &ToolContext,
    RemoveRecordArguments { record_id }: RemoveRecordArguments,
) -> Result<Value, ToolError> {
    let (book, id) = tools.found(context, &record_id)?;
    let referring: Vec<Value> = book.referring(id).into_iter().map(|record| shown(&book, record)).collect();
    if !referring.is_empty() {
        return Err(ToolError::ForModel(format!(
            "other records belong to this one: ask whether these are to be removed too, and remove them first: {}",
            Value::from(referring)
        )));
    }
    let Some(entry) = book.entry(id) else { return Err(gone()) };
    let Some(asked) = book.record(id) else { return Err(gone()) };
    let remover = Remover { place: &context.place, user: &context.speaker.user, standing: context.standing };
    if !remover.may_remove(&*tools.tasks.admins, [asked].into_iter()).await {
        let words = "only whoever stated this, an admin of this chat or the bot's owner may have it removed";
        return Err(ToolError::Denied(words.to_owned()));
    }
    let tasks = tasks_of(&tools.tasks.store, &book, &entry, context.language.as_deref())?;
    let tasks = tasks.iter().map(|task| task.id).collect();
    let by = ByModel { made: made(context), name: book.name(asked), event: told(context) };
    let removal = Removal::of(&book, context.place.chat, vec![id], tasks);
    let removed = tools.books.store.remove(&removal, Some(by), context.now).await?;
    let Some(record) = removed.records.first() else { return Err(gone()) };
    let mut answer = as_kept_data("removed", shown(&book, record));
    if !removed.tasks.is_empty() {
        answer["reminders_cancelled"] = json!(removed.tasks.len());
    }
    Ok(answer)
}

fn gone() -> ToolError {
    ToolError::ForModel("the record has just been removed by someone else".to_owned())
}

/// Describes the turn that removes the record.
fn made(context: &ToolContext) -> MadeIn {
    MadeIn {
        run: context.run,
        asked_in: context.place.chat,
        asked_by: context.speaker.user.clone(),
        at: context.now,
    }
}

/// Makes the event for the audit log.
fn told(context: &ToolContext) -> AuditEvent {
    AuditEvent {
        chat: Some(context.place.chat),
        run: Some(context.run),
        call: AuditName::new(&context.call),
        method: AuditName::new(REMOVE_NAME),
        ..AuditEvent::new(AuditKind::CallAllowed, AuditActor::Model, context.now)
    }
}
