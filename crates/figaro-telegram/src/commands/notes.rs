//! `/notes`: lists by key; a key opens its items, each with a button for done and one to remove it.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::{Card, ROWS, page_of, pager};
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::removed::Removed;
use crate::callback::{self, Family, Page};
use crate::send::Button;
use figaro_base::ids::{NoteId, RunId};
use figaro_base::text::one_line;
use figaro_domain::note::{Note, by_key};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, NoteStore, StoreError};

/// What a card shows of a note.
const LINE_CHARS: usize = 300;
/// The notes that a turn has added are looked for in so many of the newest messages.
const RECENT: usize = 500;
/// What a button shows of a note.
const BUTTON_CHARS: usize = 40;

/// Shows and removes the notes of a chat.
#[derive(Debug)]
pub(super) struct Notes {
    cards: Cards,
    store: NoteStore,
    /// Finds the notes that a turn has added, by its calls.
    conversations: ConversationStore,
    /// Those that were removed by a button just now.
    removed: Removed<NoteId, Note>,
}

#[async_trait]
impl Command for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_notes()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Remember)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        match request.argument() {
            "" => self.lists(request.asker, 0).await.map(Outcome::Card),
            words => self.meant(request.asker, words).await.map(Outcome::Card),
        }
    }

    fn families(&self) -> &'static [&'static str] {
        &[callback::Notes::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            callback::Notes::Lists(page) => Pressed::card(self.lists(asker, page).await?),
            callback::Notes::Open(note, page) => self.open_key(asker, note, page).await?,
            callback::Notes::Show(note) => {
                if let Pressed::Shown { card: Some(card), .. } = self.open_key(asker, note, 0).await? {
                    self.cards.show(asker, card).await;
                }
                Pressed::Shown { toast: None, card: None }
            }
            callback::Notes::Drop(note) => self.drop_added(asker, note).await?,
            callback::Notes::DropAll(turn) => self.drop_all(asker, turn).await?,
            callback::Notes::Done(note) => self.remove(asker, note, true).await?,
            callback::Notes::Remove(note) => self.remove(asker, note, false).await?,
            callback::Notes::Undo(note) => self.undo(asker, note).await?,
        })
    }
}

impl Notes {
    pub(super) fn new(handles: &Handles) -> Self {
        let removed = Removed::after(handles.eraser.erasures.clone());
        let (store, conversations) = (handles.store.notes(), handles.store.conversations());
        Self { cards: handles.cards.clone(), store, conversations, removed }
    }

    async fn lists(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let notes = self.store.of_chat(asker.place.chat).await?;
        if notes.is_empty() {
            return Ok(Card::text(texts.notes_empty()));
        }
        let keys = by_key(&notes);
        let page = page_of(page, keys.len());
        let rows = keys.iter().skip(page * ROWS).take(ROWS).map(|(key, notes)| {
            // A key may be longer than callback data: its first note stands for it.
            vec![Button::new(
                format!("{} ({})", one_line(key, BUTTON_CHARS), notes.len()),
                callback::Notes::Open(notes[0].id, 0),
            )]
        });
        Ok(Card::titled(texts.notes_title(), "").rows(rows).row(pager(
            texts,
            page,
            keys.len(),
            callback::Notes::Lists,
        )))
    }

    /// The list that these words name, or else the one with an item that has them; all lists where there is none.
    async fn meant(&self, asker: &Asker, words: &str) -> Result<Card, StoreError> {
        let notes = self.store.of_chat(asker.place.chat).await?;
        let wanted = words.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let named = notes.iter().find(|note| note.key.to_lowercase() == wanted);
        let found = named.or_else(|| notes.iter().find(|note| has(&note.key)));
        match found.or_else(|| notes.iter().find(|note| has(&note.content))) {
            Some(note) => Ok(self.key_card(asker, &notes, &note.key, 0)),
            None => {
                let told = [("words", &*one_line(words, BUTTON_CHARS))];
                let told = fill(self.cards.texts(asker).notes_not_found(), &told);
                let lists = self.lists(asker, 0).await?;
                Ok(if notes.is_empty() { lists } else { Card { body: told, ..lists } })
            }
        }
    }

    async fn open_key(&self, asker: &Asker, id: NoteId, page: Page) -> Result<Pressed, StoreError> {
        let notes = self.store.of_chat(asker.place.chat).await?;
        match notes.iter().find(|note| note.id == id) {
            Some(note) => Ok(Pressed::card(self.key_card(asker, &notes, &note.key, page))),
            None => Ok(Pressed::both(self.cards.texts(asker).gone(), self.lists(asker, 0).await?)),
        }
    }

    fn key_card(&self, asker: &Asker, notes: &[Note], key: &str, page: Page) -> Card {
        let items: Vec<&Note> = notes.iter().filter(|note| note.key == key).collect();
        let page = page_of(page, items.len());
        let shown: Vec<&&Note> = items.iter().skip(page * ROWS).take(ROWS).collect();
        let body: Vec<String> =
            shown.iter().map(|note| format!("• {}", one_line(&note.content, LINE_CHARS))).collect();
        let rows = shown.iter().map(|note| {
            vec![
                Button::new(
                    format!("✓ {}", one_line(&note.content, BUTTON_CHARS)),
                    callback::Notes::Done(note.id),
                ),
                Button::new("✕", callback::Notes::Remove(note.id)),
            ]
        });
        let pages = items.first().map(|first| {
            let open = |page| callback::Notes::Open(first.id, page);
            pager(self.cards.texts(asker), page, items.len(), open)
        });
        let back = vec![Button::new(self.cards.texts(asker).button_back(), callback::Notes::Lists(0))];
        Card::titled(key, body.join("\n")).rows(rows).row(pages.unwrap_or_default()).row(back)
    }

    /// Takes back all that the turn of an answer has added; its words and its other buttons stay.
    async fn drop_all(&self, asker: &Asker, turn: RunId) -> Result<Pressed, StoreError> {
        let (texts, mut removed) = (self.cards.texts(asker), Vec::new());
        for id in self.added_by(asker, turn).await? {
            removed.extend(self.store.remove(asker.place.chat, id).await?.map(|note| note.content));
        }
        let words = fill(texts.notes_removed(), &[("text", &removed.join(", "))]);
        let toast = if removed.is_empty() { texts.gone().to_owned() } else { words };
        Ok(Pressed::Relabelled { toast, label: None })
    }

    /// The notes that a turn of the session that goes on here has added.
    async fn added_by(&self, asker: &Asker, turn: RunId) -> Result<Vec<NoteId>, StoreError> {
        let session = self.conversations.session(asker.place.conversation(), self.cards.now()).await?;
        let recent = self.conversations.recent(session.id, RECENT).await?;
        let of_turn = recent.iter().skip_while(|message| message.turn != Some(turn));
        let of_turn = of_turn.take_while(|message| message.turn.is_none_or(|of| of == turn));
        Ok(of_turn
            .filter_map(|message| message.tool.as_ref())
            .flat_map(|tool| tool.side_effects.added.clone())
            .collect())
    }

    /// Takes back what an answer has just added; its words and its other buttons stay.
    async fn drop_added(&self, asker: &Asker, id: NoteId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let removed = self.store.remove(asker.place.chat, id).await?;
        let words = |note: Note| fill(texts.notes_removed(), &[("text", &note.content)]);
        let toast = removed.map_or_else(|| texts.gone().to_owned(), words);
        Ok(Pressed::Relabelled { toast, label: None })
    }

    async fn remove(&self, asker: &Asker, id: NoteId, is_done: bool) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(note) = self.store.remove(asker.place.chat, id).await? else {
            return Ok(Pressed::both(texts.gone(), self.lists(asker, 0).await?));
        };
        let words = if is_done { texts.notes_done() } else { texts.notes_removed() };
        let toast = fill(words, &[("text", &note.content)]);
        let card = self.after(asker, &note.key).await?;
        let undo = vec![Button::new(texts.button_undo(), callback::Notes::Undo(id))];
        self.removed.keep(id, note, asker.place.chat, self.cards.now());
        Ok(Pressed::both(toast, card.row(undo)))
    }

    /// The list again, or all lists when it was its last item.
    async fn after(&self, asker: &Asker, key: &str) -> Result<Card, StoreError> {
        let notes = self.store.of_chat(asker.place.chat).await?;
        if notes.iter().any(|note| note.key == key) {
            return Ok(self.key_card(asker, &notes, key, 0));
        }
        self.lists(asker, 0).await
    }

    async fn undo(&self, asker: &Asker, id: NoteId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(note) = self.removed.take(&id, asker.place.chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        self.store.restore(&note).await?;
        let toast = fill(texts.notes_restored(), &[("text", &note.content)]);
        Ok(Pressed::both(toast, self.after(asker, &note.key).await?))
    }
}
