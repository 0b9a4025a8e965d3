//! `/forget`: as a reply, forgets that message; with an argument, lists the messages that contain it; alone, shows a
//! card to forget the current session or everything about a person. Each asks for confirmation once. In a private
//! chat its person can forget everything; in a group people can forget their own messages and the answers to them,
//! admins and owners also the rest.

mod card;
mod searches;

use async_trait::async_trait;

use self::searches::{SearchResults, Searches};
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::{ListPage, page_at};
use super::records;
use crate::callback::{ButtonFamily, ForgetButton, Page, SaidKey, SearchNumber};
use figaro_agent::eraser::Eraser;
use figaro_base::ids::SessionId;
use figaro_domain::erasure::{Erasure, Forgotten, FoundMessage, SaidAt};
use figaro_domain::record::FieldValue;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ErasureStore, SaidSearch, SessionStore, Store, StoreError};

/// Maximum number of messages that a search finds.
const MAX_FOUND: usize = 200;

/// The command `/forget` and its buttons.
#[derive(Debug)]
pub(super) struct ForgetCommand {
    cards: Cards,
    erasures: ErasureStore,
    sessions: SessionStore,
    eraser: Eraser,
    searches: Searches,
    store: Store,
}

#[async_trait]
impl Command for ForgetCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("forget", Texts::command_forget)
            .group(Group::Remember)
            .families(&[ForgetButton::NAME])
            .arguments(&[("WORDS", "find messages with these words, to erase them")])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
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

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            ForgetButton::Menu => Pressed::card(card::menu(texts, self.cards.may_change(asker).await)),
            ForgetButton::Keep => Pressed::card(Card::text(texts.forget_kept())),
            ForgetButton::AskSession => self.ask_session(asker).await?,
            ForgetButton::Session(id) => self.session(asker, id).await?,
            ForgetButton::AskAll => {
                let is_group = asker.place.is_group();
                let words = if is_group { texts.forget_ask_all_group() } else { texts.forget_ask_all() };
                let user = asker.speaker.user.telegram_id().unwrap_or_default();
                Pressed::card(card::ask(texts, words, ForgetButton::All(user), Some(ForgetButton::Menu)))
            }
            ForgetButton::All(user) if asker.speaker.user.telegram_id() != Some(user) => {
                Pressed::toast(texts.forget_not_yours())
            }
            ForgetButton::All(_) => self.erase(asker, all_about(asker)).await?,
            ForgetButton::AskSaid(SaidKey(at), search) => {
                match self.erasures.said_at(asker.place.chat, at)? {
                    Some(said) => Pressed::card(self.ask_said(asker, &said, search).await),
                    None => Pressed::toast(texts.gone()),
                }
            }
            ForgetButton::Said(SaidKey(at)) => self.said(asker, at).await?,
            ForgetButton::Found(search, page) => match self.found(asker, search, page)? {
                Some(card) => Pressed::card(card),
                None => Pressed::Stale,
            },
            ForgetButton::AskFound(search) => self.ask_found(asker, search),
            ForgetButton::AllFound(search) => self.all_found(asker, search).await?,
        })
    }
}

/// Returns the erasure of all data about the asker in this chat.
fn all_about(asker: &Asker) -> Erasure {
    let (chat, user) = (asker.place.chat, asker.speaker.user.clone());
    if asker.place.is_group() { Erasure::Person(chat, user) } else { Erasure::Chat(chat, user) }
}

impl ForgetCommand {
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

    /// Returns `true` if the asker may forget a message: their own, or any if they may change the chat's settings.
    async fn may_forget(&self, asker: &Asker, said: &FoundMessage) -> bool {
        said.of.as_ref() == Some(&asker.speaker.user) || self.cards.may_change(asker).await
    }

    async fn ask_said(&self, asker: &Asker, said: &FoundMessage, search: Option<SearchNumber>) -> Card {
        let texts = self.cards.texts(asker);
        let back = search.map(|search| ForgetButton::Found(search, self.page_in(asker, search, said.at)));
        match self.may_forget(asker, said).await {
            true => card::ask_said(texts, said, back),
            false => Card::text(texts.forget_not_yours()),
        }
    }

    /// Returns the page of a search's results that shows a message.
    fn page_in(&self, asker: &Asker, search: SearchNumber, at: SaidAt) -> Page {
        let found = self.searches.of(search, asker.place.chat, &asker.speaker.user);
        let at = found.and_then(|found| found.places.iter().position(|place| *place == at));
        page_at(at.unwrap_or_default())
    }

    async fn said(&self, asker: &Asker, at: SaidAt) -> Result<Pressed, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), asker.place.chat);
        let Some(said) = self.erasures.said_at(chat, at)? else { return Ok(Pressed::Stale) };
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
        let Some(id) = self.sessions.current(asker.place.conversation())? else {
            return Ok(Pressed::toast(texts.forget_nothing()));
        };
        let count = self.sessions.outline(id)?.messages.to_string();
        let words = fill(texts.forget_ask_session(), &[("count", &count)]);
        Ok(Pressed::card(card::ask(texts, &words, ForgetButton::Session(id), Some(ForgetButton::Menu))))
    }

    async fn session(&self, asker: &Asker, id: SessionId) -> Result<Pressed, StoreError> {
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(self.cards.texts(asker).admin_only()));
        }
        self.erase(asker, Erasure::Session(asker.place.conversation(), id)).await
    }

    async fn erase(&self, asker: &Asker, what: Erasure) -> Result<Pressed, StoreError> {
        let forgotten = self.eraser.erase(&what, Some(&asker.speaker.name)).await?;
        // The chat's language may have been erased with its settings.
        let asker = self.cards.again(asker);
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
        // Messages of others may contain the text too, but are not mentioned.
        let none = if of.is_none() { texts.forget_not_found() } else { texts.forget_not_found_group() };
        let search = SaidSearch { chat, words: words.to_owned(), of, limit: MAX_FOUND };
        let places: Vec<SaidAt> =
            self.erasures.said_with(&search).await?.iter().map(|said| said.at).collect();
        let number = self.searches.keep(SearchResults { chat, by: user.clone(), places });
        if let Some(card) = self.found(asker, number, 0)? {
            return Ok(card);
        }
        let places = self.elsewhere(asker, words)?;
        let told = || format!("{none} {}", fill(texts.forget_elsewhere(), &[("places", &places.join(", "))]));
        Ok(Card::text(if places.is_empty() { none.to_owned() } else { told() }))
    }

    /// Returns the names of other places, such as pins and notes, that contain the text.
    fn elsewhere(&self, asker: &Asker, words: &str) -> Result<Vec<&str>, StoreError> {
        let texts = self.cards.texts(asker);
        let (chat, wanted) = (asker.place.chat, words.to_lowercase());
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let pins = self.store.pins().of_chat(chat)?;
        let notes = self.store.notes().of_chat(chat)?;
        let records = match records::is_closed(asker) {
            true => Vec::new(),
            false => self.store.records().of_chat(chat)?,
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

    /// Returns a page of the results of a search; `None` if no result is left, or the search is by another person or
    /// too old.
    fn found(&self, asker: &Asker, search: SearchNumber, page: Page) -> Result<Option<Card>, StoreError> {
        let chat = asker.place.chat;
        let Some(found) = self.searches.of(search, chat, &asker.speaker.user) else { return Ok(None) };
        let page = ListPage::of(found.places, page);
        let mut said = Vec::new();
        for at in &page.items {
            said.extend(self.erasures.said_at(chat, *at)?);
        }
        let is_empty = said.is_empty();
        let card = || card::found(self.cards.texts(asker), search, &page.with(said));
        Ok((!is_empty).then(card))
    }

    fn ask_found(&self, asker: &Asker, search: SearchNumber) -> Pressed {
        let texts = self.cards.texts(asker);
        let Some(found) = self.searches.of(search, asker.place.chat, &asker.speaker.user) else {
            return Pressed::Stale;
        };
        let words = fill(texts.forget_ask_found(), &[("count", &found.places.len().to_string())]);
        Pressed::card(card::ask(
            texts,
            &words,
            ForgetButton::AllFound(search),
            Some(ForgetButton::Found(search, 0)),
        ))
    }

    /// Forgets all results of a search that the asker may forget; they may have lost admin rights since the search.
    async fn all_found(&self, asker: &Asker, search: SearchNumber) -> Result<Pressed, StoreError> {
        let chat = asker.place.chat;
        let Some(found) = self.searches.of(search, chat, &asker.speaker.user) else {
            return Ok(Pressed::Stale);
        };
        let mut places = found.places;
        if !self.cards.may_change(asker).await {
            let mut own = Vec::new();
            for at in places {
                let said = self.erasures.said_at(chat, at)?;
                own.extend(
                    said.filter(|said| said.of.as_ref() == Some(&asker.speaker.user)).map(|said| said.at),
                );
            }
            places = own;
        }
        self.erase(asker, Erasure::Said(chat, places)).await
    }
}
