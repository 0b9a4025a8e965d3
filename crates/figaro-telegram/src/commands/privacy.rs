//! `/privacy`: what is kept, for how long, who sees it, and the buttons to get and to erase it.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::model::ChatModels;
use crate::callback::{self, Export, Family, Forget, ParentCard};
use crate::send::Button;
use figaro_domain::conversation::KEPT_BACKGROUND;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Says what is kept.
#[derive(Debug)]
pub(super) struct Privacy {
    cards: Cards,
    settings: SettingsStore,
    models: ChatModels,
}

#[async_trait]
impl Command for Privacy {
    fn name(&self) -> &'static str {
        "privacy"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_privacy()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Remember)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.card(request.asker).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[callback::Privacy::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let callback::Privacy = press.data.parse()?;
        Ok(Pressed::card(self.card(press.asker).await?))
    }
}

impl Privacy {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            models: ChatModels::new(handles),
        }
    }

    async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat).await?;
        let (model, count) = (self.models.of(&config), KEPT_BACKGROUND.to_string());
        let mut parts = vec![texts.privacy_kept().to_owned()];
        parts.extend(asker.place.is_group().then(|| fill(texts.privacy_group(), &[("count", &count)])));
        parts.push(fill(texts.privacy_seen(), &[("provider", &model.provider), ("model", &model.model)]));
        parts.push(texts.privacy_erase().to_owned());
        Ok(Card::titled(texts.privacy_title(), parts.join("\n\n")).row(vec![
            Button::new(texts.button_export(), Export::Menu).through(ParentCard::Privacy),
            Button::new(texts.button_forget(), Forget::Menu).through(ParentCard::Privacy),
        ]))
    }
}
