//! Changes of checklists, which Telegram reports as service messages. Called by [`super`] and by the router.

use serde_json::{Map, Value, json};

use super::said::name;

const DONE: &str = "marked_as_done_task_ids";
const NOT_DONE: &str = "marked_as_not_done_task_ids";

/// Describes which tasks were marked; their texts are taken from the checklist.
pub(super) fn marked(done: &Value) -> String {
    let list = done.pointer("/checklist_message/checklist");
    let tasks: Vec<&Value> = list.and_then(|list| list["tasks"].as_array()).into_iter().flatten().collect();
    let text = |id: &Value| {
        let task = tasks.iter().find(|task| task["id"] == *id).and_then(|task| task["text"].as_str());
        task.map_or_else(|| format!("task {id}"), str::to_owned)
    };
    let part = |field: &str, what: &str| {
        let ids = done[field].as_array().filter(|ids| !ids.is_empty())?;
        Some(format!("{what}: {}", ids.iter().map(text).collect::<Vec<_>>().join("; ")))
    };
    let title = list.and_then(|list| list["title"].as_str()).map(str::to_owned);
    let parts = [title, part(DONE, "now done"), part(NOT_DONE, "no longer done")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the checklist's message with the change by `by` applied; `None` for any other content.
pub(crate) fn checklist(content: &Map<String, Value>, by: &str) -> Option<Value> {
    let added = content.get("checklist_tasks_added");
    let change = content.get("checklist_tasks_done").or(added)?;
    let mut message = change.get("checklist_message")?.clone();
    let tasks = message.pointer_mut("/checklist/tasks")?.as_array_mut()?;
    let is_in =
        |field: &str, task: &Value| change[field].as_array().is_some_and(|ids| ids.contains(&task["id"]));
    for task in tasks.iter_mut() {
        let (is_done, is_open) = (is_in(DONE, task), is_in(NOT_DONE, task));
        let is_told = name(&task["completed_by_user"]).is_some();
        let Some(fields) = task.as_object_mut() else { continue };
        if is_open {
            fields.retain(|name, _| !name.starts_with("complet"));
        } else if is_done && !is_told {
            fields.insert("completed_by_user".to_owned(), json!({"first_name": by}));
        }
    }
    let more = added.and_then(|added| added["tasks"].as_array()).into_iter().flatten();
    for task in more {
        if tasks.iter().all(|known| known["id"] != task["id"]) {
            tasks.push(task.clone());
        }
    }
    Some(message)
}
