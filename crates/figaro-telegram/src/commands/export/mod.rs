//! `/export`: sends stored data as two files: of the current session, or everything about a person. In a group only
//! admins and owners get the session; members get their own messages there, in their private chat.

mod files;
mod kept;

use async_trait::async_trait;
use figaro_base::tz::Tz;

use self::kept::{ExportData, MAX_BYTES, NotGathered};
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::sessions::card::SessionView;
use crate::callback::{ButtonFamily, ExportButton};
use crate::send::Button as Key;
use figaro_base::ids::ChatId;
use figaro_domain::chat::{ChatKind, Place};
use figaro_prompts::texts::Texts;
use figaro_store::{Store, StoreError};

/// Sends the stored data as files.
#[derive(Debug)]
pub(super) struct ExportCommand {
    cards: Cards,
    store: Store,
    default_zone: Tz,
}

#[async_trait]
impl Command for ExportCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("export", Texts::command_export)
            .group(Group::Remember)
            .families(&[ExportButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.menu(request.asker).await.into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            ExportButton::Menu => Pressed::card(self.menu(asker).await),
            ExportButton::Session => self.session(asker).await?,
            ExportButton::All => self.all(asker).await?,
        })
    }
}

impl ExportCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            default_zone: handles.default_zone,
        }
    }

    /// Returns the card with the exports to choose from.
    async fn menu(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let session = self.cards.may_change(asker).await;
        let session = session.then(|| Key::new(texts.button_this_conversation(), ExportButton::Session));
        Card::titled(texts.export_title(), texts.export_about())
            .row(session.into_iter().collect())
            .row(vec![Key::new(texts.button_everything(), ExportButton::All)])
            .first()
    }

    async fn session(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(texts.admin_only()));
        }
        let kept = match self.store.sessions().current(asker.place.conversation())? {
            Some(id) => kept::of_session(&self.store, id).await,
            None => Ok(ExportData::default()),
        };
        self.send(asker, asker, kept).await
    }

    async fn all(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let (chat, user) = (asker.place.chat, &asker.speaker.user);
        if !asker.place.is_group() {
            let kept = kept::of_chat(&self.store, chat, user).await;
            return self.send(asker, asker, kept).await;
        }
        // An anonymous admin or a channel has no private chat with the bot.
        let Some(own) = user.telegram_id().filter(|id| *id > 0) else {
            return Ok(Pressed::toast(self.cards.texts(asker).export_not_private()));
        };
        let place = Place { chat: ChatId(own), kind: ChatKind::Private, title: None, topic: None };
        let there = Asker { place, message: None, ..asker.clone() };
        let kept = kept::of_person(&self.store, chat, user).await;
        self.send(asker, &there, kept).await
    }

    /// Sends both files to the chat of `to`, which may differ from the chat of the request.
    async fn send(
        &self,
        asker: &Asker,
        to: &Asker,
        kept: Result<ExportData, NotGathered>,
    ) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let kept = match kept {
            Ok(kept) => kept,
            Err(NotGathered::TooLong) => return Ok(Pressed::toast(texts.export_too_long())),
            Err(NotGathered::Store(error)) => return Err(error),
        };
        if kept.is_nothing() {
            return Ok(Pressed::toast(texts.export_nothing()));
        }
        let config = self.store.settings().chat_config(asker.place.chat)?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        let view = SessionView { texts, zone, now: self.cards.now(), current: None };
        let Ok(files) = files::of(&view, &kept) else { return Ok(Pressed::toast(texts.error_internal())) };
        if files.iter().any(|file| file.content.len() > MAX_BYTES) {
            return Ok(Pressed::toast(texts.export_too_long()));
        }
        let is_elsewhere = asker.place.chat != to.place.chat;
        for file in files {
            if !self.cards.send_file(to, file).await {
                let words =
                    if is_elsewhere { texts.export_not_private() } else { texts.session_not_exported() };
                return Ok(Pressed::toast(words));
            }
        }
        Ok(Pressed::toast(if is_elsewhere { texts.export_private() } else { texts.export_done() }))
    }
}
