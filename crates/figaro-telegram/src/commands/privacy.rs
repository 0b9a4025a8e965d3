//! `/privacy`: what is kept, for how long, who sees it, and the buttons to get and to erase it.

use std::sync::Arc;

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Request};
use super::handles::Handles;
use super::model::ChatModels;
use crate::callback::{Export, Forget};
use crate::send::Button;
use figaro_domain::conversation::KEPT_BACKGROUND;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Says what is kept.
#[derive(Debug)]
pub(super) struct Privacy {
    cards: Cards,
    settings: Arc<dyn SettingsStore>,
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
        let (asker, texts) = (request.asker, self.cards.texts(request.asker));
        let config = self.settings.chat_config(asker.place.chat).await?;
        let (model, count) = (self.models.of(&config), KEPT_BACKGROUND.to_string());
        let mut parts = vec![texts.privacy_kept().to_owned()];
        parts.extend(asker.place.is_group().then(|| fill(texts.privacy_group(), &[("count", &count)])));
        parts.push(fill(texts.privacy_seen(), &[("provider", &model.provider), ("model", &model.model)]));
        parts.push(texts.privacy_erase().to_owned());
        let card = Card::titled(texts.privacy_title(), parts.join("\n\n")).row(vec![
            Button::new(texts.button_export(), Export::Menu),
            Button::new(texts.button_forget(), Forget::Menu),
        ]);
        Ok(card.into())
    }
}

impl Privacy {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.clone(),
            models: ChatModels::new(handles),
        }
    }
}
