//! Notes of chats.

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::tables::Tables;
use crate::{NoteStore, Result};
use figaro_base::ids::{ChatId, NoteId};
use figaro_domain::note::Note;

/// Result of adding a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// Stored as a new note.
    New,
    /// The chat already has a note with the same key and content, with this id; nothing was stored.
    Already(NoteId),
    /// The chat has the maximum of notes; nothing was stored.
    Full,
}

impl NoteStore {
    /// Adds a note, durably, unless its chat has the same one or `limit` notes already; concurrent callers cannot exceed
    /// the limit.
    pub async fn add(&self, note: &Note, limit: usize) -> Result<Added> {
        let note = note.clone();
        self.0.change_durably("store a note", move |tables, changes| add(tables, changes, &note, limit)).await
    }

    /// Restores a removed note, durably, whatever has been added since.
    pub async fn restore(&self, note: &Note) -> Result<()> {
        let note = note.clone();
        self.0.change_durably("put a note back", move |tables, changes| put(tables, changes, &note)).await
    }

    /// Returns all notes of a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Note>> {
        self.0.read("read the notes", move |tables| oldest_first(tables, chat))
    }

    /// Removes a note, durably, and returns it; `None` if the chat has none with this id.
    pub async fn remove(&self, chat: ChatId, note: NoteId) -> Result<Option<Note>> {
        self.0
            .change_durably("remove a note", move |tables, changes| {
                let key = key::note(chat, note);
                let note = tables.notes.get(&key)?;
                changes.remove(&tables.notes, key);
                Ok(note)
            })
            .await
    }

    /// Removes all notes of a chat, or all with a key, durably, and returns them.
    pub async fn clear(&self, chat: ChatId, key: Option<&str>) -> Result<Vec<Note>> {
        let list = key.map(str::to_owned);
        self.0
            .change_durably("remove notes", move |tables, changes| {
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

fn add(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    note: &Note,
    limit: usize,
) -> Result<Added, StoreFault> {
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

fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, note: &Note) -> Result<(), StoreFault> {
    changes.put(&tables.notes, key::note(note.chat, note.id), note)
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Note>, StoreFault> {
    let mut notes = tables.notes.list(&key::chat(chat))?;
    notes.sort_by_key(|note| (note.created_at, note.id));
    Ok(notes)
}
