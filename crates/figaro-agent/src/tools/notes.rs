//! The note tools: `add_note`, `list_notes`, `remove_note`, `clear_notes`. Notes belong to the chat.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, as_kept_data, typed};
use figaro_base::ids::NoteId;
use figaro_domain::note::{MAX_CONTENT_CHARS, MAX_KEY_CHARS, MAX_NOTES, Note, by_key, normal_key};
use figaro_domain::tool::{Effect, SideEffects, StatusKey};
use figaro_store::{Added, NoteStore};

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_notes");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddNoteArguments {
    /// The list it belongs to, such as "shopping list"; a new key begins a new list.
    key: String,
    /// One item.
    content: String,
}

/// Makes `add_note`, which adds an item to a list of notes.
#[must_use]
pub(crate) fn add(store: NoteStore) -> Arc<dyn Tool> {
    let words = "Adds one item to a list of this chat's notes. Call it once per item.";
    let about = ToolDefinition::new("add_note", words, Effect::Write, STATUS).of_memory();
    typed(about, move |context: ToolContext, AddNoteArguments { key, content }| {
        let store = store.clone();
        async move {
            let key = read_key(&key)?;
            let content = content.trim().to_owned();
            if content.is_empty() || content.chars().count() > MAX_CONTENT_CHARS {
                return Err(ToolError::ForModel(format!(
                    "content takes 1 to {MAX_CONTENT_CHARS} characters"
                )));
            }
            let (chat, author) = (context.place.chat, Some(context.speaker.user));
            let turn = Some(context.run);
            let note = Note { id: NoteId::new(), chat, key, content, author, turn, created_at: context.now };
            match store.add(&note, MAX_NOTES).await? {
                Added::New => {
                    let value = json!({"success": true, "note_id": note.id, "key": note.key});
                    let mut output = of_list(value, Some(note.id));
                    output.side_effects.added.push(note.id);
                    Ok(output)
                }
                Added::Already(id) => {
                    Ok(of_list(json!({"success": true, "note_id": id, "already_there": true}), Some(id)))
                }
                Added::Full => {
                    Err(ToolError::ForModel(format!("this chat has {MAX_NOTES} notes; remove some first")))
                }
            }
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListNotesArguments {
    // The name says what it is; `null` is taken, too.
    #[serde(default)]
    #[schemars(with = "String")]
    key: Option<String>,
}

/// Makes `list_notes`, which shows the notes of the chat.
#[must_use]
pub(crate) fn list(store: NoteStore) -> Arc<dyn Tool> {
    let words = "Lists this chat's notes with their ids.";
    let about = ToolDefinition::new("list_notes", words, Effect::Read, STATUS).of_memory();
    typed(about, move |context: ToolContext, ListNotesArguments { key }| {
        let store = store.clone();
        async move {
            let key = key.as_deref().map(read_key).transpose()?;
            let notes = store.of_chat(context.place.chat)?;
            let mut lists = by_key(&notes);
            lists.retain(|(name, _)| key.as_ref().is_none_or(|key| key == name));
            let first = lists.first().and_then(|(_, notes)| notes.first()).map(|note| note.id);
            let lists: Vec<Value> = lists
                .into_iter()
                .map(|(key, notes)| {
                    let items: Vec<Value> =
                        notes.iter().map(|n| json!({"note_id": n.id, "content": n.content})).collect();
                    json!({"key": key, "notes": items})
                })
                .collect();
            Ok(of_list(as_kept_data("lists", lists.into()), first))
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemoveNoteArguments {
    /// From list_notes or add_note.
    note_id: String,
}

/// Makes `remove_note`, which removes one note.
#[must_use]
pub(crate) fn remove(store: NoteStore) -> Arc<dyn Tool> {
    let words = "Removes one note of this chat.";
    let about = ToolDefinition::new("remove_note", words, Effect::Destructive, STATUS).of_memory();
    typed(about, move |context: ToolContext, RemoveNoteArguments { note_id }| {
        let store = store.clone();
        async move {
            let unknown =
                || ToolError::ForModel(format!("no note has the id {note_id}; list_notes shows the ids"));
            let id: NoteId = note_id.parse().map_err(|_not_an_id| unknown())?;
            let removed = store.remove(context.place.chat, id).await?.ok_or_else(unknown)?;
            let left = store.of_chat(context.place.chat)?;
            let left = left.iter().find(|note| note.key == removed.key).map(|note| note.id);
            let value = as_kept_data("removed", json!({"key": removed.key, "content": removed.content}));
            Ok(of_list(value, left))
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clear {
    /// Only this list; without it every note of the chat.
    #[serde(default)]
    key: Option<String>,
}

/// Makes `clear_notes`, which removes one list or all notes. A rare tool.
#[must_use]
pub(crate) fn clear(store: NoteStore) -> Arc<dyn Tool> {
    let words = "Removes all notes of one list, or all notes of this chat. Only when the person asked for exactly that.";
    let about = ToolDefinition::new("clear_notes", words, Effect::Destructive, STATUS)
        .of_memory()
        .rare("remove delete empty whole list all notes");
    typed(about, move |context: ToolContext, Clear { key }| {
        let store = store.clone();
        async move {
            let key = key.as_deref().map(read_key).transpose()?;
            let removed = store.clear(context.place.chat, key.as_deref()).await?;
            Ok(json!({"success": true, "removed": removed.len()}))
        }
    })
}

/// Makes an output that refers to the list of this note.
fn of_list(value: Value, noted: Option<NoteId>) -> ToolOutput {
    ToolOutput { side_effects: SideEffects { noted, ..SideEffects::default() }, ..value.into() }
}

fn read_key(key: &str) -> Result<String, ToolError> {
    normal_key(key).ok_or_else(|| ToolError::ForModel(format!("key takes 1 to {MAX_KEY_CHARS} characters")))
}
