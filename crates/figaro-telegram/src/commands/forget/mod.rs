//! `/forget`: as a reply that message; with words the messages that have them, to choose from; alone a card for the current
//! session and for all about a person. Each asks back once. In a private chat its person may have all of it forgotten; in a
//! group everybody what they said and what was answered to it, admins and owners also the rest.

mod card;
mod searches;

use async_trait::async_trait;

use self::searches::{Found, Searches};
use super::asker::Asker;
use super::card::{Card, ROWS, number, page_of};
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::records;
use crate::callback::{Family, Forget as Button, Page, SaidKey, Search};
use figaro_agent::eraser::Eraser;
use figaro_base::ids::SessionId;
use figaro_domain::erasure::{Erasure, Forgotten, Said, SaidAt};
use figaro_domain::record::FieldValue;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ErasureStore, SaidSearch, SessionStore, Store, StoreError};

/// The most messages that a search finds.
const MAX_FOUND: usize = 200;

/// Has Figaro forget.
#[derive(Debug)]
pub(super) struct Forget {
    cards: Cards,
    erasures: ErasureStore,
    sessions: SessionStore,
    eraser: Eraser,
    searches: Searches,
    store: Store,
}

#[async_trait]
impl Command for Forget {
    fn name(&self) -> &'static str {
        "forget"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_forget()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Remember)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        let (asker, texts) = (request.asker, self.cards.texts(request.asker));
        let replied = request.message.quotes.as_ref().and_then(|quoted| quoted.message);
        let card = match replied {
            Some(message) => match self.erasures.said(asker.place.chat, message).await? {
                Some(said) => self.ask_said(asker, &said, None).await,
                None => Card::text(texts.forget_not_kept()),
            },
            None if request.words.is_empty() => card::menu(texts, self.cards.may_change(asker).await),
            None => self.search(asker, request.argument()).await?,
        };
        Ok(card.into())
    }

    fn families(&self) -> &'static [&'static str] {
        &[Button::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            Button::Menu => Pressed::card(card::menu(texts, self.cards.may_change(asker).await)),
            Button::Keep => Pressed::card(Card::text(texts.forget_kept())),
            Button::AskSession => self.ask_session(asker).await?,
            Button::Session(id) => self.session(asker, id).await?,
            Button::AskAll => {
                let is_group = asker.place.is_group();
                let words = if is_group { texts.forget_ask_all_group() } else { texts.forget_ask_all() };
                let user = asker.speaker.user.telegram_id().unwrap_or_default();
                Pressed::card(card::ask(texts, words, Button::All(user), Some(Button::Menu)))
            }
            Button::All(user) if asker.speaker.user.telegram_id() != Some(user) => {
                Pressed::toast(texts.forget_not_yours())
            }
            Button::All(_) => self.erase(asker, all_about(asker)).await?,
            Button::AskSaid(SaidKey(at), search) => {
                match self.erasures.said_at(asker.place.chat, at).await? {
                    Some(said) => Pressed::card(self.ask_said(asker, &said, search).await),
                    None => Pressed::toast(texts.gone()),
                }
            }
            Button::Said(SaidKey(at)) => self.said(asker, at).await?,
            Button::Found(search, page) => match self.found(asker, search, page).await? {
                Some(card) => Pressed::card(card),
                None => Pressed::Stale,
            },
            Button::AskFound(search) => self.ask_found(asker, search),
            Button::AllFound(search) => self.all_found(asker, search).await?,
        })
    }
}

/// All that is kept of whoever asks, in the chat they ask in.
fn all_about(asker: &Asker) -> Erasure {
    let (chat, user) = (asker.place.chat, asker.speaker.user.clone());
    if asker.place.is_group() { Erasure::Person(chat, user) } else { Erasure::Chat(chat, user) }
}

impl Forget {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            erasures: handles.store.erasures(),
            sessions: handles.store.sessions(),
            eraser: handles.eraser.clone(),
            searches: Searches::default(),
            store: handles.store.clone(),
        }
    }

    /// Whether somebody may have a message forgotten: their own, and everybody's where they may change the chat.
    async fn may_forget(&self, asker: &Asker, said: &Said) -> bool {
        said.of.as_ref() == Some(&asker.speaker.user) || self.cards.may_change(asker).await
    }

    async fn ask_said(&self, asker: &Asker, said: &Said, search: Option<Search>) -> Card {
        let texts = self.cards.texts(asker);
        let back = search.map(|search| Button::Found(search, self.page_in(asker, search, said.at)));
        match self.may_forget(asker, said).await {
            true => card::ask_said(texts, said, back),
            false => Card::text(texts.forget_not_yours()),
        }
    }

    /// The page of what a search has found that shows a message.
    fn page_in(&self, asker: &Asker, search: Search, at: SaidAt) -> Page {
        let found = self.searches.of(search, asker.place.chat, &asker.speaker.user);
        let at = found.and_then(|found| found.places.iter().position(|place| *place == at));
        number(at.unwrap_or_default() / ROWS)
    }

    async fn said(&self, asker: &Asker, at: SaidAt) -> Result<Pressed, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), asker.place.chat);
        let Some(said) = self.erasures.said_at(chat, at).await? else { return Ok(Pressed::Stale) };
        if !self.may_forget(asker, &said).await {
            return Ok(Pressed::toast(texts.forget_not_yours()));
        }
        self.erase(asker, Erasure::Said(chat, vec![at])).await
    }

    async fn ask_session(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(texts.admin_only()));
        }
        let Some(id) = self.sessions.current(asker.place.conversation()).await? else {
            return Ok(Pressed::toast(texts.forget_nothing()));
        };
        let count = self.sessions.outline(id).await?.messages.to_string();
        let words = fill(texts.forget_ask_session(), &[("count", &count)]);
        Ok(Pressed::card(card::ask(texts, &words, Button::Session(id), Some(Button::Menu))))
    }

    async fn session(&self, asker: &Asker, id: SessionId) -> Result<Pressed, StoreError> {
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(self.cards.texts(asker).admin_only()));
        }
        self.erase(asker, Erasure::Session(asker.place.conversation(), id)).await
    }

    async fn erase(&self, asker: &Asker, what: Erasure) -> Result<Pressed, StoreError> {
        let forgotten = self.eraser.erase(&what, Some(&asker.speaker.name)).await?;
        // The language of the chat may be gone with its settings.
        let asker = self.cards.again(asker).await;
        let texts = self.cards.texts(&asker);
        Ok(match forgotten {
            Forgotten::Busy => Pressed::toast(texts.forget_busy()),
            Forgotten::Done(erased) if erased.is_nothing() => {
                Pressed::card(Card::text(texts.forget_nothing()))
            }
            Forgotten::Done(erased) => {
                let is_all = matches!(what, Erasure::Person(..) | Erasure::Chat(..));
                Pressed::card(card::done(texts, &erased, is_all))
            }
        })
    }

    async fn search(&self, asker: &Asker, words: &str) -> Result<Card, StoreError> {
        let (texts, user, chat) = (self.cards.texts(asker), &asker.speaker.user, asker.place.chat);
        let of = if self.cards.may_change(asker).await { None } else { Some(user.clone()) };
        // Somebody else's messages with these words may be kept, and are not told of.
        let none = if of.is_none() { texts.forget_not_found() } else { texts.forget_not_found_group() };
        let search = SaidSearch { chat, words: words.to_owned(), of, limit: MAX_FOUND };
        let places: Vec<SaidAt> =
            self.erasures.said_with(&search).await?.iter().map(|said| said.at).collect();
        let number = self.searches.keep(Found { chat, by: user.clone(), places });
        if let Some(card) = self.found(asker, number, 0).await? {
            return Ok(card);
        }
        let places = self.elsewhere(asker, words).await?;
        let told = || format!("{none} {}", fill(texts.forget_elsewhere(), &[("places", &places.join(", "))]));
        Ok(Card::text(if places.is_empty() { none.to_owned() } else { told() }))
    }

    /// The commands that show whoever asks something else with these words.
    async fn elsewhere(&self, asker: &Asker, words: &str) -> Result<Vec<&str>, StoreError> {
        let texts = self.cards.texts(asker);
        let (chat, wanted) = (asker.place.chat, words.to_lowercase());
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let pins = self.store.pins().of_chat(chat).await?;
        let notes = self.store.notes().of_chat(chat).await?;
        let records = match records::is_closed(asker) {
            true => Vec::new(),
            false => self.store.records().of_chat(chat).await?,
        };
        let fields = records.iter().flat_map(|record| record.fields.values());
        let is_kept = |value: &FieldValue| match value {
            FieldValue::Text(text) => has(text),
            FieldValue::List(texts) => texts.iter().any(|text| has(text)),
            _ => false,
        };
        let places = [
            (texts.forget_in_pins(), pins.iter().any(|pin| pin.about.is_none() && has(&pin.content))),
            (texts.forget_in_notes(), notes.iter().any(|note| has(&note.key) || has(&note.content))),
            (texts.forget_in_records(), fields.map(|filled| &filled.value).any(is_kept)),
        ];
        Ok(places.into_iter().filter(|(_, has)| *has).map(|(place, _)| place).collect())
    }

    /// A page of what a search has found; `None` if nothing is left of it, or it is somebody else's or too old.
    async fn found(&self, asker: &Asker, search: Search, page: Page) -> Result<Option<Card>, StoreError> {
        let chat = asker.place.chat;
        let Some(found) = self.searches.of(search, chat, &asker.speaker.user) else { return Ok(None) };
        let (page, total) = (page_of(page, found.places.len()), found.places.len());
        let mut said = Vec::new();
        for at in found.places.iter().skip(page * ROWS).take(ROWS) {
            said.extend(self.erasures.said_at(chat, *at).await?);
        }
        let card = || card::found(self.cards.texts(asker), search, &said, page, total);
        Ok((!said.is_empty()).then(card))
    }

    fn ask_found(&self, asker: &Asker, search: Search) -> Pressed {
        let texts = self.cards.texts(asker);
        let Some(found) = self.searches.of(search, asker.place.chat, &asker.speaker.user) else {
            return Pressed::Stale;
        };
        let words = fill(texts.forget_ask_found(), &[("count", &found.places.len().to_string())]);
        Pressed::card(card::ask(texts, &words, Button::AllFound(search), Some(Button::Found(search, 0))))
    }

    /// Whoever has searched found only what was theirs to forget, and may not be an admin any more.
    async fn all_found(&self, asker: &Asker, search: Search) -> Result<Pressed, StoreError> {
        let chat = asker.place.chat;
        let Some(found) = self.searches.of(search, chat, &asker.speaker.user) else {
            return Ok(Pressed::Stale);
        };
        let mut places = found.places;
        if !self.cards.may_change(asker).await {
            let mut own = Vec::new();
            for at in places {
                let said = self.erasures.said_at(chat, at).await?;
                own.extend(
                    said.filter(|said| said.of.as_ref() == Some(&asker.speaker.user)).map(|said| said.at),
                );
            }
            places = own;
        }
        self.erase(asker, Erasure::Said(chat, places)).await
    }
}
