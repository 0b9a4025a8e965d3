//! The note tools: `add_note`, `list_notes`, `remove_note`, `clear_notes`. Notes belong to the chat.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, as_data, typed};
use crate::domain::note::{MAX_CONTENT_CHARS, MAX_KEY_CHARS, MAX_NOTES, Note, by_key, normal_key};
use crate::domain::tool::Effect;
use crate::ids::NoteId;
use crate::store::{Added, NoteStore};

/// All note tools over this store.
#[must_use]
pub fn tools(store: &Arc<dyn NoteStore>) -> Vec<Arc<dyn Tool>> {
    vec![add(store.clone()), list(store.clone()), remove(store.clone()), clear(store.clone())]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// The list it belongs to, such as "shopping list"; a new key begins a new list.
    key: String,
    /// One item.
    content: String,
}

fn add(store: Arc<dyn NoteStore>) -> Arc<dyn Tool> {
    let about = "Adds one item to a list of this chat's notes. Call it once per item.";
    typed("add_note", about, Effect::Write, move |context: ToolContext, Add { key, content }| {
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
            let note = Note { id: NoteId::new(), chat, key, content, author, created_at: context.now };
            match store.add_note(&note, MAX_NOTES).await? {
                Added::New => Ok(json!({"success": true, "note_id": note.id, "key": note.key})),
                Added::Already(id) => Ok(json!({"success": true, "note_id": id, "already_there": true})),
                Added::Full => {
                    Err(ToolError::ForModel(format!("this chat has {MAX_NOTES} notes; remove some first")))
                }
            }
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only this list.
    #[serde(default)]
    key: Option<String>,
}

fn list(store: Arc<dyn NoteStore>) -> Arc<dyn Tool> {
    let about = "Lists this chat's notes with their ids.";
    typed("list_notes", about, Effect::Read, move |context: ToolContext, List { key }| {
        let store = store.clone();
        async move {
            let key = key.as_deref().map(read_key).transpose()?;
            let notes = store.notes(context.place.chat).await?;
            let lists: Vec<Value> = by_key(&notes)
                .into_iter()
                .filter(|(name, _)| key.as_ref().is_none_or(|key| key == name))
                .map(|(key, notes)| {
                    let items: Vec<Value> =
                        notes.iter().map(|n| json!({"note_id": n.id, "content": n.content})).collect();
                    json!({"key": key, "notes": items})
                })
                .collect();
            Ok(as_data("lists", lists.into()))
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// From list_notes or add_note.
    note_id: String,
}

fn remove(store: Arc<dyn NoteStore>) -> Arc<dyn Tool> {
    let about = "Removes one note of this chat.";
    typed("remove_note", about, Effect::Destructive, move |context: ToolContext, Remove { note_id }| {
        let store = store.clone();
        async move {
            let unknown =
                || ToolError::ForModel(format!("no note has the id {note_id}; list_notes shows the ids"));
            let id: NoteId = note_id.parse().map_err(|_not_an_id| unknown())?;
            let removed = store.remove_note(context.place.chat, id).await?.ok_or_else(unknown)?;
            Ok(as_data("removed", json!({"key": removed.key, "content": removed.content})))
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

fn clear(store: Arc<dyn NoteStore>) -> Arc<dyn Tool> {
    let about = "Removes all notes of one list, or all notes of this chat. Only when the person asked for exactly that.";
    typed("clear_notes", about, Effect::Destructive, move |context: ToolContext, Clear { key }| {
        let store = store.clone();
        async move {
            let key = key.as_deref().map(read_key).transpose()?;
            let removed = store.clear_notes(context.place.chat, key.as_deref()).await?;
            Ok(json!({"success": true, "removed": removed.len()}))
        }
    })
}

fn read_key(key: &str) -> Result<String, ToolError> {
    normal_key(key).ok_or_else(|| ToolError::ForModel(format!("key takes 1 to {MAX_KEY_CHARS} characters")))
}
