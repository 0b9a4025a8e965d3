//! `/docs`: lists the documents of a chat. Each opens as a card that sends the file back or removes it.

use async_trait::async_trait;
use figaro_base::tz::Tz;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use super::records::is_closed;
use super::removed::RecentlyRemoved;
use crate::callback::{ButtonFamily, DocsButton, Page};
use crate::send::Button;
use figaro_base::ids::DocumentId;
use figaro_base::text::one_line;
use figaro_domain::document::{Document, DocumentFormat, Passage};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{DocumentStore, SettingsStore, StoreError};

/// Maximum length of a name on a button, in characters.
const BUTTON_CHARS: usize = 50;

/// Shows, sends and removes the documents of a chat.
#[derive(Debug)]
pub(super) struct DocsCommand {
    cards: Cards,
    store: DocumentStore,
    settings: SettingsStore,
    default_zone: Tz,
    /// Documents that were just removed by a button and can be restored.
    removed: RecentlyRemoved<DocumentId, (Document, Vec<Passage>)>,
}

#[async_trait]
impl Command for DocsCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("docs", Texts::command_docs).group(Group::Remember).families(&[DocsButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        if is_closed(request.asker) {
            return Ok(Card::text(self.cards.texts(request.asker).docs_guest()).into());
        }
        self.list(request.asker, 0).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        if is_closed(asker) {
            return Ok(Pressed::toast(self.cards.texts(asker).docs_guest()));
        }
        Ok(match press.data.parse()? {
            DocsButton::List(page) => Pressed::card(self.list(asker, page)?),
            DocsButton::Open(id, page) => self.open(asker, id, page)?,
            DocsButton::Send(id) => self.send(asker, id).await?,
            DocsButton::Remove(id, page) => self.remove(asker, id, page).await?,
            DocsButton::Undo(id, page) => self.undo(asker, id, page).await?,
        })
    }
}

impl DocsCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.documents(),
            settings: handles.store.settings(),
            default_zone: handles.default_zone,
            removed: RecentlyRemoved::after(handles.eraser.erasures.clone()),
        }
    }

    fn list(&self, asker: &Asker, page: Page) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let documents = self.store.of_chat(asker.place.chat)?;
        if documents.is_empty() {
            return Ok(Card::text(texts.docs_empty()));
        }
        let page = ListPage::of(documents.into_iter().rev().collect(), page);
        let open = |one: &Document| {
            vec![Button::new(one_line(&one.name, BUTTON_CHARS), DocsButton::Open(one.id, page.number()))]
        };
        Ok(Card::titled(texts.docs_title(), texts.docs_about()).list(texts, &page, open, DocsButton::List))
    }

    fn find(&self, asker: &Asker, id: DocumentId) -> Result<Option<Document>, StoreError> {
        Ok(self.store.of_chat(asker.place.chat)?.into_iter().find(|one| one.id == id))
    }

    /// Tells that a document no longer exists, and shows the list.
    fn gone(&self, asker: &Asker, page: Page) -> Result<Pressed, StoreError> {
        Ok(Pressed::both(self.cards.texts(asker).gone(), self.list(asker, page)?))
    }

    fn open(&self, asker: &Asker, id: DocumentId, page: Page) -> Result<Pressed, StoreError> {
        let Some(document) = self.find(asker, id)? else { return self.gone(asker, page) };
        let texts = self.cards.texts(asker);
        let zone = self.settings.chat_config(asker.place.chat)?.timezone.unwrap_or(self.default_zone);
        let (at, now) = (document.added_at.with_timezone(&zone), self.cards.now().with_timezone(&zone));
        let read = fill(texts.docs_read(), &[("time", &texts.spoken(&at, &now))]);
        let cut = document.is_cut.then(|| texts.docs_cut().to_owned());
        let lines = [document.title.clone(), size(texts, &document), Some(read), cut];
        let send = document.file_id.iter().map(|_| Button::new(texts.button_send(), DocsButton::Send(id)));
        let remove = Button::new(texts.button_remove(), DocsButton::Remove(id, page));
        let card = Card::titled(&document.name, lines.into_iter().flatten().collect::<Vec<_>>().join("\n"));
        let card = card.row(send.chain([remove]).collect());
        Ok(Pressed::card(card.row(vec![Button::new(texts.button_back(), DocsButton::List(page))])))
    }

    async fn send(&self, asker: &Asker, id: DocumentId) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let found = self.find(asker, id)?;
        let Some(file_id) = found.and_then(|one| one.file_id) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        Ok(match self.cards.sender.send_again(&asker.place, &file_id).await {
            true => Pressed::Shown { toast: None, card: None },
            false => Pressed::toast(texts.docs_unsent()),
        })
    }

    async fn remove(&self, asker: &Asker, id: DocumentId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(removed) = self.store.remove(asker.place.chat, id).await? else {
            return self.gone(asker, page);
        };
        let toast = fill(texts.docs_removed(), &[("name", &removed.0.name)]);
        let undo = vec![Button::new(texts.button_undo(), DocsButton::Undo(id, page))];
        self.removed.keep(id, removed, asker.place.chat, self.cards.now());
        Ok(Pressed::both(toast, self.list(asker, page)?.row(undo)))
    }

    async fn undo(&self, asker: &Asker, id: DocumentId, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let removed = self.removed.take(&id, asker.place.chat, self.cards.now());
        let Some((document, passages)) = removed else { return Ok(Pressed::toast(texts.gone())) };
        let document = self.store.add(document, &passages).await?;
        let toast = fill(texts.docs_restored(), &[("name", &document.name)]);
        Ok(Pressed::both(toast, self.list(asker, page)?))
    }
}

/// Returns the number of parts in words; `None` for a text without parts.
fn size(texts: &Texts, document: &Document) -> Option<String> {
    let words = match document.format {
        DocumentFormat::Pdf => texts.docs_pages(),
        DocumentFormat::Slides => texts.docs_slides(),
        DocumentFormat::Sheet => texts.docs_sheets(),
        DocumentFormat::Book => texts.docs_chapters(),
        DocumentFormat::Archive => texts.docs_files(),
        DocumentFormat::Text | DocumentFormat::Page | DocumentFormat::Mail => return None,
    };
    Some(fill(words, &[("count", &document.parts.to_string())]))
}
