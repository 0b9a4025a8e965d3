//! `/notes`: shows the lists by key. A list opens its items, each with a button for done and a button to remove it.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use super::removed::RecentlyRemoved;
use crate::callback::{self, ButtonFamily, Page};
use crate::send::Button;
use figaro_base::ids::{NoteId, RunId};
use figaro_base::text::one_line;
use figaro_domain::note::{Note, by_key};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, NoteStore, StoreError};

/// Maximum length of a note on a card, in characters.
const LINE_CHARS: usize = 300;
/// Number of newest messages that are searched for the notes that a turn added.
const RECENT: usize = 500;
/// Maximum length of a note on a button, in characters.
const BUTTON_CHARS: usize = 40;

/// Shows and removes the notes of a chat.
#[derive(Debug)]
pub(super) struct NotesCommand {
    cards: Cards,
    store: NoteStore,
    /// Finds the notes that a turn added, by its tool calls.
    conversations: ConversationStore,
    /// Notes that were just removed by a button and can be restored.
    removed: RecentlyRemoved<NoteId, Note>,
}

#[async_trait]
impl Command for NotesCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("notes", Texts::command_notes)
            .group(Group::Remember)
            .families(&[callback::NotesButton::NAME])
            .arguments(&[("WORDS", "show the list with this name, or the one that has these words")])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        match request.argument() {
            "" => self.lists(request.asker, 0).map(CommandOutcome::Card),
            words => self.meant(request.asker, words).map(CommandOutcome::Card),
        }
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            callback::NotesButton::Lists(page) => Pressed::card(self.lists(asker, page)?),
            callback::NotesButton::Open(note, page) => self.open_key(asker, note, page)?,
            callback::NotesButton::Show(note) => {
                if let Pressed::Shown { card: Some(card), .. } = self.open_key(asker, note, 0)? {
                    self.cards.show(asker, card).await;
                }
                Pressed::Shown { toast: None, card: None }
            }
            callback::NotesButton::Drop(note) => self.drop_added(asker, note).await?,
            callback::NotesButton::DropAll(turn) => self.drop_all(asker, turn).await?,
            callback::NotesButton::Done(note) => self.remove(asker, note, true).await?,
            callback::NotesButton::Remove(note) => self.remove(asker, note, false).await?,
            callback::NotesButton::Undo(note) => self.undo(asker, note).await?,
        })
    }
}

impl NotesCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let removed = RecentlyRemoved::after(handles.eraser.erasures.clone());
        let (store, conversations) = (handles.store.notes(), handles.store.conversations());
        Self { cards: handles.cards.clone(), store, conversations, removed }
    }

    fn lists(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let notes = self.store.of_chat(asker.place.chat)?;
        if notes.is_empty() {
            return Ok(Card::text(texts.notes_empty()));
        }
        let page = ListPage::of(by_key(&notes).into_iter().collect(), page);
        Ok(Card::titled(texts.notes_title(), "").list(
            texts,
            &page,
            |(key, notes)| {
                // A key may be too long for callback data, so its first note identifies it.
                let label = format!("{} ({})", one_line(key, BUTTON_CHARS), notes.len());
                vec![Button::new(label, callback::NotesButton::Open(notes[0].id, 0))]
            },
            callback::NotesButton::Lists,
        ))
    }

    /// Returns the list with this name, or else a list with a matching name or item; all lists if none matches.
    fn meant(&self, asker: &Asker, words: &str) -> Result<Card, StoreError> {
        let notes = self.store.of_chat(asker.place.chat)?;
        let wanted = words.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let named = notes.iter().find(|note| note.key.to_lowercase() == wanted);
        let found = named.or_else(|| notes.iter().find(|note| has(&note.key)));
        match found.or_else(|| notes.iter().find(|note| has(&note.content))) {
            Some(note) => Ok(self.key_card(asker, &notes, &note.key, 0)),
            None => {
                let told = [("words", &*one_line(words, BUTTON_CHARS))];
                let told = fill(self.cards.texts(asker).notes_not_found(), &told);
                let lists = self.lists(asker, 0)?;
                Ok(if notes.is_empty() { lists } else { Card { body: told, ..lists } })
            }
        }
    }

    fn open_key(&self, asker: &Asker, id: NoteId, page: Page) -> Result<Pressed, StoreError> {
        let notes = self.store.of_chat(asker.place.chat)?;
        match notes.iter().find(|note| note.id == id) {
            Some(note) => Ok(Pressed::card(self.key_card(asker, &notes, &note.key, page))),
            None => Ok(Pressed::both(self.cards.texts(asker).gone(), self.lists(asker, 0)?)),
        }
    }

    fn key_card(&self, asker: &Asker, notes: &[Note], key: &str, page: Page) -> Card {
        let texts = self.cards.texts(asker);
        let items: Vec<&Note> = notes.iter().filter(|note| note.key == key).collect();
        let first = items.first().map(|note| note.id);
        let page = ListPage::of(items, page);
        let line = |note: &&Note| format!("• {}", one_line(&note.content, LINE_CHARS));
        let body: Vec<String> = page.items.iter().map(line).collect();
        let row = |note: &&Note| {
            let done = format!("✓ {}", one_line(&note.content, BUTTON_CHARS));
            vec![
                Button::new(done, callback::NotesButton::Done(note.id)),
                Button::new("✕", callback::NotesButton::Remove(note.id)),
            ]
        };
        let open = |page| match first {
            Some(first) => callback::NotesButton::Open(first, page),
            None => callback::NotesButton::Lists(0),
        };
        let back = vec![Button::new(texts.button_back(), callback::NotesButton::Lists(0))];
        Card::titled(key, body.join("\n")).list(texts, &page, row, open).row(back)
    }

    /// Removes all notes that a turn added. The text and the other buttons of its answer stay.
    async fn drop_all(&self, asker: &Asker, turn: RunId) -> Result<Pressed, StoreError> {
        let (texts, mut removed) = (self.cards.texts(asker), Vec::new());
        for id in self.added_by(asker, turn)? {
            removed.extend(self.store.remove(asker.place.chat, id).await?.map(|note| note.content));
        }
        let words = fill(texts.notes_removed(), &[("text", &removed.join(", "))]);
        let toast = if removed.is_empty() { texts.gone().to_owned() } else { words };
        Ok(Pressed::Relabelled { toast, label: None })
    }

    /// Returns the notes that a turn of the current session added.
    fn added_by(&self, asker: &Asker, turn: RunId) -> Result<Vec<NoteId>, StoreError> {
        let session = self.conversations.session(asker.place.conversation(), self.cards.now())?;
        let recent = self.conversations.recent(session.id, RECENT)?;
        let of_turn = recent.iter().skip_while(|message| message.turn != Some(turn));
        let of_turn = of_turn.take_while(|message| message.turn.is_none_or(|of| of == turn));
        Ok(of_turn
            .filter_map(|message| message.tool.as_ref())
            .flat_map(|tool| tool.side_effects.added.clone())
            .collect())
    }

    /// Removes the note that a turn just added. The text and the other buttons of its answer stay.
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
            return Ok(Pressed::both(texts.gone(), self.lists(asker, 0)?));
        };
        let words = if is_done { texts.notes_done() } else { texts.notes_removed() };
        let toast = fill(words, &[("text", &note.content)]);
        let card = self.after(asker, &note.key)?;
        let undo = vec![Button::new(texts.button_undo(), callback::NotesButton::Undo(id))];
        self.removed.keep(id, note, asker.place.chat, self.cards.now());
        Ok(Pressed::both(toast, card.row(undo)))
    }

    /// Returns the card of the list, or of all lists if the list is now empty.
    fn after(&self, asker: &Asker, key: &str) -> Result<Card, StoreError> {
        let notes = self.store.of_chat(asker.place.chat)?;
        if notes.iter().any(|note| note.key == key) {
            return Ok(self.key_card(asker, &notes, key, 0));
        }
        self.lists(asker, 0)
    }

    async fn undo(&self, asker: &Asker, id: NoteId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(note) = self.removed.take(&id, asker.place.chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        self.store.restore(&note).await?;
        let toast = fill(texts.notes_restored(), &[("text", &note.content)]);
        Ok(Pressed::both(toast, self.after(asker, &note.key)?))
    }
}
