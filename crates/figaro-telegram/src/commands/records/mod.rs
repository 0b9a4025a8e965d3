//! `/records`: the context packs of a chat, and the records that it keeps with them: lists, cards, charts, reminders,
//! removal. In groups only admins and owners choose packs.

mod card;
mod draw;

use async_trait::async_trait;

use self::card::RecordsView;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::removed::RecentlyRemoved;
use super::replies;
use crate::callback::{self, ButtonFamily, KindKey, Page, RecordsButton};
use crate::chart;
use crate::send;
use figaro_agent::tools::records::{NotReminded, RemindedBy, Reminding, Remover};
use figaro_base::ids::RecordId;
use figaro_domain::chat::{ConfigPatch, MAX_PACKS, PackChange};
use figaro_domain::delivery::Author;
use figaro_domain::record::{Book, BookEntry, Kind, Pack, Record, Removal, Removed, Restored};
use figaro_domain::task::Task;
use figaro_memory::RecordBooks;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{Store, StoreError};

/// Shows, draws and removes the records of a chat.
#[derive(Debug)]
pub(super) struct RecordsCommand {
    cards: Cards,
    store: Store,
    books: RecordBooks,
    reminding: Reminding,
    /// Records that were just removed by a button, by the id of the record whose button was pressed.
    removed: RecentlyRemoved<RecordId, Removed>,
}

#[async_trait]
impl Command for RecordsCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("records", Texts::command_records)
            .group(Group::Remember)
            .families(&[RecordsButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let asker = request.asker;
        if is_closed(asker) {
            return Ok(CommandOutcome::Card(Card::text(self.cards.texts(asker).records_guest())));
        }
        self.kinds(asker).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let button: RecordsButton = press.data.parse()?;
        // In their private chat, guests may look at records from before they were guests.
        if is_guest(asker) && (asker.place.is_group() || button.changes()) {
            return Ok(Pressed::toast(self.cards.texts(asker).records_guest()));
        }
        Ok(match button {
            RecordsButton::Kinds => Pressed::card(self.kinds(asker).await?),
            RecordsButton::Packs(page) => Pressed::card(self.packs(asker, page).await?),
            RecordsButton::Take(pack, page) => {
                self.choose(asker, pack_change(pack.as_str(), true), page).await?
            }
            RecordsButton::Leave(pack, page) => {
                self.choose(asker, pack_change(pack.as_str(), false), page).await?
            }
            RecordsButton::Kind(key, page) => self.kind(asker, key, page).await?,
            RecordsButton::Open(id) => {
                self.with(asker, id, |shown, entry| Pressed::card(shown.entry(entry))).await?
            }
            RecordsButton::Add(kind) => self.ask_new(asker, kind).await?,
            RecordsButton::Ask(id) => self.ask(asker, id).await?,
            RecordsButton::Remind(id) => self.remind(asker, id).await?,
            RecordsButton::Chart(id, at) => self.draw(asker, id, at).await?,
            RecordsButton::Remove(id) => self.remove(asker, id).await?,
            RecordsButton::Undo(id) => self.undo(asker, id).await?,
        })
    }
}

impl RecordsCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            books: handles.records.clone(),
            reminding: handles.reminding.clone(),
            removed: RecentlyRemoved::after(handles.eraser.erasures.clone()),
        }
    }

    fn book(&self, asker: &Asker) -> Result<Book, StoreError> {
        self.books.in_chat(asker.place.chat)
    }

    async fn shown<'a>(&'a self, asker: &'a Asker, book: &'a Book) -> RecordsView<'a> {
        RecordsView {
            may_change: self.cards.may_change(asker).await,
            texts: self.cards.texts(asker),
            tag: asker.language.as_deref(),
            book,
            now: self.cards.now(),
            is_reminded: false,
        }
    }

    /// Returns the card of the kinds, or of the packs if the chat has chosen none.
    async fn kinds(&self, asker: &Asker) -> Result<Card, StoreError> {
        let book = self.book(asker)?;
        match book.packs() {
            [] => self.packs(asker, 0).await,
            _ => Ok(self.shown(asker, &book).await.kinds()),
        }
    }

    async fn packs(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let config = self.store.settings().chat_config(asker.place.chat)?;
        let book = self.book(asker)?;
        let packs = self.books.prompts.packs();
        Ok(self.shown(asker, &book).await.packs(&packs, &config.packs, page))
    }

    /// Enables or disables a pack in the chat.
    async fn choose(&self, asker: &Asker, choice: PackChange, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(texts.admin_only()));
        }
        let (name, wanted) = (choice.name.clone(), choice.is_chosen);
        if wanted && self.books.prompts.packs().get(&name).is_none() {
            return Ok(Pressed::both(texts.gone(), self.packs(asker, page).await?));
        }
        let patch = ConfigPatch { pack: Some(choice), ..ConfigPatch::default() };
        let config = self.store.settings().change_chat_config(asker.place.chat, patch).await?;
        if wanted && !config.packs.contains(&name) {
            return Ok(Pressed::toast(fill(texts.packs_full(), &[("limit", &MAX_PACKS.to_string())])));
        }
        Ok(Pressed::both(texts.config_saved(), self.packs(asker, page).await?))
    }

    async fn kind(&self, asker: &Asker, key: callback::KindKey, page: Page) -> Result<Pressed, StoreError> {
        let book = self.book(asker)?;
        let shown = self.shown(asker, &book).await;
        match shown.kind(key, page) {
            Some(card) => Ok(Pressed::card(card)),
            None => Ok(Pressed::both(shown.texts.gone(), self.kinds(asker).await?)),
        }
    }

    /// Handles a press on a record; tells if the record is gone.
    async fn with(
        &self,
        asker: &Asker,
        id: RecordId,
        then: impl FnOnce(&RecordsView<'_>, &BookEntry<'_>) -> Pressed + Send,
    ) -> Result<Pressed, StoreError> {
        let book = self.book(asker)?;
        let shown = self.shown(asker, &book).await;
        if let Some(entry) = book.entry(id) {
            let reminding = self.reminding.of(&book, &entry, asker.language.as_deref())?;
            return Ok(then(&RecordsView { is_reminded: !reminding.is_empty(), ..shown }, &entry));
        }
        Ok(Pressed::both(shown.texts.gone(), self.kinds(asker).await?))
    }

    /// Creates reminders for a record. Leaves the text above the button unchanged, which may be an answer.
    async fn remind(&self, asker: &Asker, id: RecordId) -> Result<Pressed, StoreError> {
        let (texts, book) = (self.cards.texts(asker), self.book(asker)?);
        let Some(entry) = book.entry(id) else { return Ok(Pressed::toast(texts.gone())) };
        let by =
            RemindedBy { place: &asker.place, creator: &asker.speaker, language: asker.language.as_deref() };
        let made = self.reminding.remind(&book, &entry, by, self.cards.now()).await;
        let words = match made {
            Ok(tasks) => fill(texts.records_reminds(), &[("count", &tasks.len().to_string())]),
            Err(NotReminded::NoTime) => texts.records_no_time().to_owned(),
            Err(NotReminded::Full) => texts.records_full().to_owned(),
            Err(NotReminded::TooOften(why)) => {
                tracing::debug!(why, "a record's reminder would come too often");
                texts.records_too_often().to_owned()
            }
            Err(NotReminded::Store(error)) => return Err(error),
        };
        Ok(Pressed::Relabelled { toast: words, label: None })
    }

    async fn draw(&self, asker: &Asker, id: RecordId, at: u8) -> Result<Pressed, StoreError> {
        let (texts, book) = (self.cards.texts(asker), self.book(asker)?);
        let Some(entry) = book.entry(id) else { return Ok(Pressed::toast(texts.gone())) };
        let Some(chart) = draw::chart(&book, &entry, asker.language.as_deref(), at) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        let caption = draw::caption(&chart);
        let drawing = tokio::task::spawn_blocking(move || chart::png(&chart)).await;
        let png = match drawing.map_err(|error| error.to_string()).and_then(|drawn| drawn) {
            Ok(Some(png)) => png,
            Ok(None) => return Ok(Pressed::toast(texts.records_one_reading())),
            Err(error) => {
                tracing::error!(error, "a chart could not be drawn");
                return Ok(Pressed::toast(texts.error_internal()));
            }
        };
        let is_sent = self.cards.send_picture(asker, png, caption).await;
        Ok(if is_sent {
            Pressed::Shown { toast: None, card: None }
        } else {
            Pressed::toast(texts.error_internal())
        })
    }

    /// Returns `true` if the asker may remove these records now.
    async fn may_remove<'r>(&self, asker: &Asker, records: impl Iterator<Item = &'r Record>) -> bool {
        let Asker { place, speaker, standing, .. } = asker;
        let remover = Remover { place, user: &speaker.user, standing: *standing };
        remover.may_remove(&*self.cards.admins, records).await
    }

    /// Asks for the record to save. The reply is a normal message: the model reads it and saves the record.
    async fn ask_new(&self, asker: &Asker, kind: Option<KindKey>) -> Result<Pressed, StoreError> {
        let (texts, book) = (self.cards.texts(asker), self.book(asker)?);
        let is_it = |(pack, of): &(&Pack, &Kind)| kind == Some(KindKey::of(&pack.name, &of.name));
        let words = match book.kinds().find(is_it) {
            Some((_, kind)) => {
                fill(texts.records_ask_kind(), &[("kind", kind.title.of(asker.language.as_deref()))])
            }
            None => texts.records_ask_new().to_owned(),
        };
        Ok(replies::ask(&self.cards, asker, words, texts.records_new_hint(), Author::Figaro).await)
    }

    async fn ask(&self, asker: &Asker, id: RecordId) -> Result<Pressed, StoreError> {
        let book = self.book(asker)?;
        let all = book.entry(id).map(|entry| card::with_belonging(&book, &entry)).unwrap_or_default();
        if !self.may_remove(asker, all.into_iter()).await {
            return Ok(Pressed::toast(self.cards.texts(asker).records_not_yours()));
        }
        self.with(asker, id, |shown, entry| Pressed::card(shown.asks(entry))).await
    }

    /// Removes a record with its history and the records that belong to it.
    async fn remove(&self, asker: &Asker, id: RecordId) -> Result<Pressed, StoreError> {
        let (texts, book) = (self.cards.texts(asker), self.book(asker)?);
        let Some(entry) = book.entry(id) else {
            return Ok(Pressed::both(texts.gone(), self.kinds(asker).await?));
        };
        let all = card::with_belonging(&book, &entry);
        // The person who presses may not be the person who was asked, and rights may have changed since.
        if !self.may_remove(asker, all.iter().copied()).await {
            return Ok(Pressed::toast(texts.records_not_yours()));
        }
        let tasks = self.tasks_of(asker, &book, &entry)?.iter().map(|task| task.id).collect();
        let name = book.name(entry.record);
        let all: Vec<RecordId> = all.iter().map(|record| record.id).collect();
        let (chat, now) = (asker.place.chat, self.cards.now());
        let removal = Removal::of(&book, chat, all, tasks);
        let removed = self.store.records().remove(&removal, None, now).await?;
        let values = [("name", name.as_str()), ("count", &removed.records.len().to_string())];
        let mut lines = vec![fill(texts.records_removed(), &values)];
        if !removed.tasks.is_empty() {
            let count = removed.tasks.len().to_string();
            lines.push(fill(texts.records_reminders_ended(), &[("count", &count)]));
        }
        self.removed.keep(id, removed, chat, now);
        let undo = send::Button::new(texts.button_undo(), RecordsButton::Undo(id));
        let back = send::Button::new(texts.button_back(), RecordsButton::Kinds);
        Ok(Pressed::card(Card::text(lines.join("\n")).row(vec![undo, back])))
    }

    /// Returns the tasks that remind of an entry or of records that belong to it.
    fn tasks_of(&self, asker: &Asker, book: &Book, entry: &BookEntry<'_>) -> Result<Vec<Task>, StoreError> {
        let mut tasks: Vec<Task> = Vec::new();
        // Most records are readings, which have no reminders.
        let may_remind = |record: &&Record| {
            let offers = book.kind_of(record).is_some_and(|(_, kind)| kind.remind.is_some());
            offers || !record.reminders.is_empty()
        };
        for record in card::with_belonging(book, entry).into_iter().filter(may_remind) {
            let Some(entry) = book.entry(record.id) else { continue };
            for task in self.reminding.of(book, &entry, asker.language.as_deref())? {
                if !tasks.iter().any(|known| known.id == task.id) {
                    tasks.push(task);
                }
            }
        }
        Ok(tasks)
    }

    async fn undo(&self, asker: &Asker, id: RecordId) -> Result<Pressed, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), asker.place.chat);
        let Some((removed, at)) = self.removed.look(&id, chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        if !self.may_remove(asker, removed.records.iter()).await {
            return Ok(Pressed::toast(texts.records_not_yours()));
        }
        // The check of rights takes time. The record may have been erased or restored meanwhile.
        let Some(removed) = self.removed.take(&id, chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        let restored = self.store.records().restore(chat, &removed, self.cards.now()).await;
        if !matches!(restored, Ok(Restored::Done)) {
            self.removed.keep(id, removed, chat, at);
        }
        match restored? {
            Restored::Done => {
                let then = |shown: &RecordsView<'_>, entry: &BookEntry<'_>| {
                    Pressed::both(shown.texts.records_restored(), shown.entry(entry))
                };
                self.with(asker, id, then).await
            }
            Restored::Taken | Restored::Orphan | Restored::Full => Ok(Pressed::toast(texts.records_stale())),
        }
    }
}

/// Returns `true` if the asker cannot see the records here: guests cannot see those of a group.
pub(super) fn is_closed(asker: &Asker) -> bool {
    is_guest(asker) && asker.place.is_group()
}

fn is_guest(asker: &Asker) -> bool {
    matches!(asker.standing, Standing::Guest | Standing::Borrowed)
}

fn pack_change(name: &str, is_chosen: bool) -> PackChange {
    PackChange { name: name.to_owned(), is_chosen }
}
