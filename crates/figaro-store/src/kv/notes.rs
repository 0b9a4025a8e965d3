//! The notes of chats.

use async_trait::async_trait;

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{KvStore, key};
use crate::{Added, NoteStore, Result};
use figaro_base::ids::{ChatId, NoteId};
use figaro_domain::note::Note;

#[async_trait]
impl NoteStore for KvStore {
    async fn add_note(&self, note: &Note, limit: usize) -> Result<Added> {
        let note = note.clone();
        self.change_durably("store a note", move |tables, changes| add(tables, changes, &note, limit)).await
    }

    async fn restore_note(&self, note: &Note) -> Result<()> {
        let note = note.clone();
        self.change_durably("put a note back", move |tables, changes| put(tables, changes, &note)).await
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

fn add(tables: &Tables<'_>, changes: &mut Changes<'_>, note: &Note, limit: usize) -> Result<Added, Fault> {
    let kept = tables.notes.list(&key::chat(note.chat))?;
    if let Some(same) = kept.iter().find(|kept| kept.says_the_same(note)) {
        return Ok(Added::Already(same.id));
    }
    if kept.len() >= limit {
        return Ok(Added::Full);
    }
    put(tables, changes, note)?;
    Ok(Added::New)
}

fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, note: &Note) -> Result<(), Fault> {
    changes.put(&tables.notes, key::note(note.chat, note.id), note)
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Note>, Fault> {
    let mut notes = tables.notes.list(&key::chat(chat))?;
    notes.sort_by_key(|note| (note.created_at, note.id));
    Ok(notes)
}
