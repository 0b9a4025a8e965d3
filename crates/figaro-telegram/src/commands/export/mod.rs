//! `/export`: what is kept, as two files: of the current session, or of all about a person. In a group only admins and owners
//! get the session; a member gets what they said there, in their own chat.

mod files;
mod kept;

use async_trait::async_trait;
use chrono_tz::Tz;

use self::kept::{Kept, MAX_BYTES, NotGathered};
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::sessions::card::View;
use crate::callback::{Export as Button, Family};
use crate::send::Button as Key;
use figaro_base::ids::ChatId;
use figaro_domain::chat::{ChatKind, Place};
use figaro_prompts::texts::Texts;
use figaro_store::{Store, StoreError};

/// Sends what is kept.
#[derive(Debug)]
pub(super) struct Export {
    cards: Cards,
    store: Store,
    default_zone: Tz,
}

#[async_trait]
impl Command for Export {
    fn name(&self) -> &'static str {
        "export"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_export()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Remember)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        Ok(self.menu(request.asker).await.into())
    }

    fn families(&self) -> &'static [&'static str] {
        &[Button::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        Ok(match press.data.parse()? {
            Button::Menu => Pressed::card(self.menu(asker).await),
            Button::Session => self.session(asker).await?,
            Button::All => self.all(asker).await?,
        })
    }
}

impl Export {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            default_zone: handles.default_zone,
        }
    }

    /// What can be had.
    async fn menu(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let session = self.cards.may_change(asker).await;
        let session = session.then(|| Key::new(texts.button_this_conversation(), Button::Session));
        Card::titled(texts.export_title(), texts.export_about())
            .row(session.into_iter().collect())
            .row(vec![Key::new(texts.button_everything(), Button::All)])
            .first()
    }

    async fn session(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Pressed::toast(texts.admin_only()));
        }
        let kept = match self.store.sessions().current(asker.place.conversation()).await? {
            Some(id) => kept::of_session(&self.store, id).await,
            None => Ok(Kept::default()),
        };
        self.send(asker, asker, kept).await
    }

    async fn all(&self, asker: &Asker) -> Result<Pressed, StoreError> {
        let (chat, user) = (asker.place.chat, &asker.speaker.user);
        if !asker.place.is_group() {
            let kept = kept::of_chat(&self.store, chat, user).await;
            return self.send(asker, asker, kept).await;
        }
        // An anonymous admin or a channel has no chat of its own.
        let Some(own) = user.telegram_id().filter(|id| *id > 0) else {
            return Ok(Pressed::toast(self.cards.texts(asker).export_not_private()));
        };
        let place = Place { chat: ChatId(own), kind: ChatKind::Private, title: None, topic: None };
        let there = Asker { place, message: None, ..asker.clone() };
        let kept = kept::of_person(&self.store, chat, user).await;
        self.send(asker, &there, kept).await
    }

    /// Sends both files to somebody, who has asked for them here or elsewhere.
    async fn send(
        &self,
        asker: &Asker,
        to: &Asker,
        kept: Result<Kept, NotGathered>,
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
        let config = self.store.settings().chat_config(asker.place.chat).await?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        let view = View { texts, zone, now: self.cards.now(), current: None };
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
