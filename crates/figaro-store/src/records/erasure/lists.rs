//! Notes and tasks that the model made for a message that is forgotten, in that message's own turn and in its words: every prompt
//! went on showing the notes, and a task says its words when it runs. What another message asked for stays, and so does
//! what repeats nothing of the forgotten one.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde_json::Value;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::tasks;
use super::everything::remove_task;
use super::set_texts::repeats;
use super::to_erase::ToErase;
use figaro_base::ids::{NoteId, TaskId};
use figaro_domain::conversation::{Message, Role};
use figaro_domain::erasure::Erased;

/// Adds a note.
const NOTER: &str = "add_note";
/// These make tasks and change them.
const TASKERS: [&str; 2] = ["schedule_task", "update_task"];

/// The notes and tasks that the calls of the turns that go have made or changed.
#[derive(Debug, Default)]
struct Made {
    notes: BTreeSet<NoteId>,
    tasks: BTreeSet<TaskId>,
}

/// Removes them, as far as they say words of what people said for them. Gives how many in `erased`.
pub(super) fn clear(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    erased: &mut Erased,
) -> Result<(), Fault> {
    let made = made(to_erase);
    let asked = to_erase.messages().filter(|message| message.role == Role::User);
    let said: Vec<String> = asked.map(|message| message.text.to_lowercase()).collect();
    let is_said = |text: &str| said.iter().any(|said| repeats(text, said));
    for note in made.notes {
        let key = key::note(to_erase.chat, note);
        if tables.notes.find(&key)?.is_some_and(|note| is_said(&note.content) || is_said(&note.key)) {
            changes.remove(&tables.notes, key);
            erased.notes += 1;
        }
    }
    let tasks = if made.tasks.is_empty() { Vec::new() } else { tasks::of_chat(tables, to_erase.chat)? };
    for task in tasks.iter().filter(|task| made.tasks.contains(&task.id)) {
        if is_said(&task.prompt) || task.title.as_deref().is_some_and(is_said) {
            remove_task(tables, changes, erased, task)?;
        }
    }
    Ok(())
}

/// What the results of these calls name.
fn made(to_erase: &ToErase) -> Made {
    let mut made = Made::default();
    for call in to_erase.messages() {
        let Some(tool) = call.tool.as_ref().map(|tool| tool.tool_name.as_str()) else { continue };
        if tool == NOTER {
            made.notes.extend(named::<NoteId>(call, "note_id"));
        } else if TASKERS.contains(&tool) {
            made.tasks.extend(named::<TaskId>(call, "task_id"));
        }
    }
    made
}

/// The id that a result gives for what this call made itself: what was there before, somebody else asked for.
fn named<I: FromStr>(call: &Message, field: &str) -> Option<I> {
    let result: Value = serde_json::from_str(&call.text).ok()?;
    let is_made = result["success"] == true && result["already_there"] != true;
    result[field].as_str().filter(|_| is_made)?.parse().ok()
}
