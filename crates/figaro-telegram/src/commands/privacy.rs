//! `/privacy`: tells which data is stored, for how long, and who sees it, with buttons to export and erase it.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::model::ChatModels;
use crate::callback::{self, ButtonFamily, ExportButton, ForgetButton, ParentCard};
use crate::send::Button;
use figaro_domain::catch_up::KEPT_BACKGROUND;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Shows how data is stored and used.
#[derive(Debug)]
pub(super) struct PrivacyCommand {
    cards: Cards,
    settings: SettingsStore,
    models: ChatModels,
}

#[async_trait]
impl Command for PrivacyCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("privacy", Texts::command_privacy)
            .group(Group::Remember)
            .families(&[callback::PrivacyButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.card(request.asker).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let callback::PrivacyButton = press.data.parse()?;
        Ok(Pressed::card(self.card(press.asker)?))
    }
}

impl PrivacyCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            models: ChatModels::new(handles),
        }
    }

    fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat)?;
        let (model, count) = (self.models.of(&config), KEPT_BACKGROUND.to_string());
        let mut parts = vec![texts.privacy_kept().to_owned()];
        parts.extend(asker.place.is_group().then(|| fill(texts.privacy_group(), &[("count", &count)])));
        parts.push(fill(texts.privacy_seen(), &[("provider", &model.provider), ("model", &model.model)]));
        parts.push(texts.privacy_erase().to_owned());
        Ok(Card::titled(texts.privacy_title(), parts.join("\n\n")).row(vec![
            Button::new(texts.button_export(), ExportButton::Menu).through(ParentCard::Privacy),
            Button::new(texts.button_forget(), ForgetButton::Menu).through(ParentCard::Privacy),
        ]))
    }
}
