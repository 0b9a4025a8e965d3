//! The notes of chats.

use async_trait::async_trait;

use super::fault::Fault;
use super::tables::Tables;
use super::{SledStore, key};
use crate::domain::note::Note;
use crate::ids::{ChatId, NoteId};
use crate::store::{NoteStore, Result};

#[async_trait]
impl NoteStore for SledStore {
    async fn put_note(&self, note: &Note) -> Result<()> {
        let note = note.clone();
        self.change_durably("store a note", move |tables, changes| {
            changes.put(&tables.notes, key::note(note.chat, note.id), &note)
        })
        .await
    }

    async fn notes(&self, chat: ChatId) -> Result<Vec<Note>> {
        self.read("read the notes", move |tables| oldest_first(tables, chat)).await
    }

    async fn remove_note(&self, chat: ChatId, note: NoteId) -> Result<Option<Note>> {
        self.change_durably("remove a note", move |tables, changes| {
            let key = key::note(chat, note);
            let note = tables.notes.get(&key)?;
            changes.remove(&tables.notes, key);
            Ok(note)
        })
        .await
    }

    async fn clear_notes(&self, chat: ChatId, key: Option<&str>) -> Result<Vec<Note>> {
        let list = key.map(str::to_owned);
        self.change_durably("remove notes", move |tables, changes| {
            let mut notes = oldest_first(tables, chat)?;
            notes.retain(|note| list.as_ref().is_none_or(|list| note.key == *list));
            for note in &notes {
                changes.remove(&tables.notes, key::note(chat, note.id));
            }
            Ok(notes)
        })
        .await
    }
}

fn oldest_first(tables: &Tables, chat: ChatId) -> Result<Vec<Note>, Fault> {
    let mut notes = tables.notes.list(&key::chat(chat))?;
    notes.sort_by_key(|note| (note.created_at, note.id));
    Ok(notes)
}
