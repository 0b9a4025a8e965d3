//! `/notes`: lists by key; a key opens its items, each with a button for done and one to remove it.

use chrono::TimeDelta;

use super::{Asker, Card, Commands, Pressed, ROWS, pager};
use crate::domain::note::{Note, by_key};
use crate::ids::NoteId;
use crate::prompts::texts::fill;
use crate::store::StoreError;
use crate::telegram::send::Button;
use crate::text::one_line;

/// How long a removed note can be put back.
const UNDO: TimeDelta = TimeDelta::minutes(1);
/// What a card shows of a note.
const LINE_CHARS: usize = 300;
/// What a button shows of a note.
const BUTTON_CHARS: usize = 40;

impl Commands {
    pub(super) async fn notes_card(&self, asker: &Asker, page: usize) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let notes = self.store.notes(asker.place.chat).await?;
        if notes.is_empty() {
            return Ok(Card::text(&texts.notes_empty));
        }
        let keys = by_key(&notes);
        let page = page.min((keys.len() - 1) / ROWS);
        let rows = keys.iter().skip(page * ROWS).take(ROWS).map(|(key, notes)| {
            // A key may be longer than callback data: its first note stands for it.
            vec![Button::new(
                format!("{} ({})", one_line(key, BUTTON_CHARS), notes.len()),
                format!("notes:open:{}:0", notes[0].id),
            )]
        });
        Ok(Card::titled(&texts.notes_title, "").rows(rows).row(pager("notes:list", page, keys.len())))
    }

    pub(super) async fn press_notes(&self, what: &str, asker: &Asker) -> Result<Pressed, StoreError> {
        let (verb, rest) = what.split_once(':').unwrap_or((what, ""));
        let (id, page) = rest.split_once(':').unwrap_or((rest, "0"));
        if verb == "list" {
            return Ok(Pressed::card(self.notes_card(asker, rest.parse().unwrap_or_default()).await?));
        }
        let Ok(id) = id.parse::<NoteId>() else {
            return Ok(Pressed::toast(&self.texts(asker).gone));
        };
        match verb {
            "open" => self.open_key(asker, id, page.parse().unwrap_or_default()).await,
            "done" | "drop" => self.remove(asker, id, verb == "done").await,
            "undo" => self.undo(asker, id).await,
            _ => Ok(Pressed::toast(&self.texts(asker).gone)),
        }
    }

    async fn open_key(&self, asker: &Asker, id: NoteId, page: usize) -> Result<Pressed, StoreError> {
        let notes = self.store.notes(asker.place.chat).await?;
        match notes.iter().find(|note| note.id == id) {
            Some(note) => Ok(Pressed::card(self.key_card(asker, &notes, &note.key, page))),
            None => Ok(Pressed::both(&self.texts(asker).gone, self.notes_card(asker, 0).await?)),
        }
    }

    fn key_card(&self, asker: &Asker, notes: &[Note], key: &str, page: usize) -> Card {
        let items: Vec<&Note> = notes.iter().filter(|note| note.key == key).collect();
        let page = page.min(items.len().saturating_sub(1) / ROWS);
        let shown: Vec<&&Note> = items.iter().skip(page * ROWS).take(ROWS).collect();
        let body: Vec<String> =
            shown.iter().map(|note| format!("• {}", one_line(&note.content, LINE_CHARS))).collect();
        let rows = shown.iter().map(|note| {
            vec![
                Button::new(
                    format!("✓ {}", one_line(&note.content, BUTTON_CHARS)),
                    format!("notes:done:{}", note.id),
                ),
                Button::new("✕", format!("notes:drop:{}", note.id)),
            ]
        });
        let first = items.first().map(|note| note.id.to_string()).unwrap_or_default();
        let back = vec![Button::new(&self.texts(asker).button_back, "notes:list:0")];
        Card::titled(key, body.join("\n"))
            .rows(rows)
            .row(pager(&format!("notes:open:{first}"), page, items.len()))
            .row(back)
    }

    async fn remove(&self, asker: &Asker, id: NoteId, is_done: bool) -> Result<Pressed, StoreError> {
        let texts = self.texts(asker);
        let Some(note) = self.store.remove_note(asker.place.chat, id).await? else {
            return Ok(Pressed::both(&texts.gone, self.notes_card(asker, 0).await?));
        };
        let words = if is_done { &texts.notes_done } else { &texts.notes_removed };
        let toast = fill(words, &[("text", &note.content)]);
        let card = self.after(asker, &note.key).await?;
        let undo = vec![Button::new(&texts.button_undo, format!("notes:undo:{id}"))];
        self.remember(note);
        Ok(Pressed::both(toast, card.row(undo)))
    }

    /// The list again, or all lists when it was its last item.
    async fn after(&self, asker: &Asker, key: &str) -> Result<Card, StoreError> {
        let notes = self.store.notes(asker.place.chat).await?;
        if notes.iter().any(|note| note.key == key) {
            return Ok(self.key_card(asker, &notes, key, 0));
        }
        self.notes_card(asker, 0).await
    }

    async fn undo(&self, asker: &Asker, id: NoteId) -> Result<Pressed, StoreError> {
        let texts = self.texts(asker);
        let now = self.now();
        let removed = self.removed.lock().ok().and_then(|mut removed| removed.remove(&id));
        let Some((_, note)) = removed.filter(|(at, note)| now - *at < UNDO && note.chat == asker.place.chat)
        else {
            return Ok(Pressed::toast(&texts.gone));
        };
        self.store.restore_note(&note).await?;
        let toast = fill(&texts.notes_restored, &[("text", &note.content)]);
        Ok(Pressed::both(toast, self.after(asker, &note.key).await?))
    }

    fn remember(&self, note: Note) {
        let now = self.now();
        if let Ok(mut removed) = self.removed.lock() {
            removed.retain(|_, (at, _)| now - *at < UNDO);
            removed.insert(note.id, (now, note));
        }
    }
}
