//! `/audit`: shows the audit log to owners: decisions, changes, undos and sign-ins, newest first, in pages, all entries or only
//! refusals. In a group it shows the entries about the group; the whole log is sent as a file in private only.

mod words;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use async_trait::async_trait;
use figaro_base::tz::Tz;

use self::words::{AuditNames, AuditView, ids_of};
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::{ListPage, ROWS, page_at};
use crate::callback::{AuditButton, ButtonFamily, Page};
use crate::send;
use figaro_base::ids::ChatId;
use figaro_base::text::one_line;
use figaro_domain::audit::{AuditEntry, AuditVerdict};
use figaro_markup::CodeFile;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{AuditStore, SettingsStore, StoreError, whole_log};

/// Number of entries in one read of the store.
const AT_ONCE: usize = 500;
/// Maximum number of entries that are searched for a page.
const LOOKED_THROUGH: usize = 20_000;
/// Maximum length of a name, in characters.
const NAME_CHARS: usize = 24;
const FILE_NAME: &str = "audit.jsonl";

#[derive(Debug)]
pub(super) struct AuditCommand {
    cards: Cards,
    audit: AuditStore,
    settings: SettingsStore,
    default_zone: Tz,
}

#[async_trait]
impl Command for AuditCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("audit", Texts::command_audit)
            .group(Group::Owner)
            .owners()
            .families(&[AuditButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.page(request.asker, false, 0).await?.into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            AuditButton::All(page) => Pressed::card(self.page(asker, false, page).await?),
            AuditButton::Refused(page) => Pressed::card(self.page(asker, true, page).await?),
            // Presses can be forged, and in a group everybody would get the file.
            AuditButton::Export if asker.place.is_group() => return Err(PressError::Gone),
            AuditButton::Export => self.export(asker).await?,
        })
    }
}

impl AuditCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            audit: handles.store.audit(),
            settings: handles.store.settings(),
            default_zone: handles.default_zone,
        }
    }

    async fn page(&self, asker: &Asker, is_refused: bool, page: Page) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let page = page.min(page_at(LOOKED_THROUGH));
        let count = (usize::try_from(page).unwrap_or_default() + 1) * ROWS + 1;
        let page = ListPage::of(self.entries(asker, is_refused, count)?, page);
        let config = self.settings.chat_config(asker.place.chat)?;
        let view = AuditView {
            texts,
            zone: config.timezone.unwrap_or(self.default_zone),
            now: self.cards.now(),
            here: asker.place.chat,
            names: self.names(&page.items).await,
        };
        let lines: Vec<String> = page.items.iter().map(|entry| view.line(entry)).collect();
        let turn = |page| if is_refused { AuditButton::Refused(page) } else { AuditButton::All(page) };
        let filter = match is_refused {
            true => send::Button::new(texts.button_audit_all(), AuditButton::All(0)),
            false => send::Button::new(texts.button_audit_refused(), AuditButton::Refused(0)),
        };
        let export = (!asker.place.is_group() && page.total > 0)
            .then(|| send::Button::new(texts.button_export(), AuditButton::Export));
        let title = if is_refused { texts.audit_title_refused() } else { texts.audit_title() };
        let body = match lines.is_empty() {
            true if is_refused => texts.audit_none_refused().to_owned(),
            true => texts.audit_empty().to_owned(),
            false => lines.join("\n"),
        };
        let buttons = [filter].into_iter().chain(export).collect();
        Ok(Card::titled(title, body).pages(texts, &page, turn).row(buttons))
    }

    /// Returns up to `count` of the newest entries that may be shown here.
    fn entries(&self, asker: &Asker, is_refused: bool, count: usize) -> Result<Vec<AuditEntry>, StoreError> {
        let here = asker.place.is_group().then_some(asker.place.chat);
        let is_shown = |entry: &AuditEntry| {
            let event = &entry.event;
            let is_here = here.is_none_or(|here| event.chat == Some(here) || event.target_chat == Some(here));
            is_here && (!is_refused || event.what.is_refusal())
        };
        let (mut found, mut before, mut looked) = (Vec::new(), None, 0);
        while found.len() < count && looked < LOOKED_THROUGH {
            let more = self.audit.newest(before, AT_ONCE)?;
            let Some(last) = more.last() else { break };
            (before, looked) = (Some(last.seq), looked + more.len());
            found.extend(more.into_iter().filter(is_shown));
        }
        found.truncate(count);
        Ok(found)
    }

    /// Returns the Telegram names of the people and chats in these entries.
    async fn names(&self, entries: &[AuditEntry]) -> AuditNames {
        let mut names = BTreeMap::new();
        for id in entries.iter().flat_map(|entry| ids_of(&entry.event)) {
            if let Entry::Vacant(unknown) = names.entry(id) {
                let (name, _) = self.cards.names_of(ChatId(id)).await;
                unknown.insert(one_line(&name, NAME_CHARS));
            }
        }
        names
    }

    /// Sends the whole log as a file, with the result of its verification.
    async fn export(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let entries = whole_log(&self.audit)?;
        let AuditVerdict { entries: count, broken } = self.audit.verify()?;
        let lines: Vec<String> = entries.iter().filter_map(|entry| entry.as_json().ok()).collect();
        let file = CodeFile { name: FILE_NAME.to_owned(), language: None, content: lines.join("\n") + "\n" };
        if !self.cards.send_file(asker, file).await {
            return Ok(Pressed::toast(texts.session_not_exported()));
        }
        let (count, place) = (count.to_string(), broken.unwrap_or_default().to_string());
        let words = match broken {
            None => fill(texts.audit_whole(), &[("count", &count)]),
            Some(_) => fill(texts.audit_broken(), &[("count", &count), ("place", &place)]),
        };
        self.cards.show(asker, Card::text(words)).await;
        Ok(Pressed::toast(texts.session_exported()))
    }
}
