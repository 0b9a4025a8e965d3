//! `/voice`: whether answers in a chat are spoken, too.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{ButtonFamily, VoiceButton};
use crate::send::Button;
use figaro_base::text::one_line;
use figaro_domain::chat::{ConfigPatch, VoiceMode};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Maximum length of the typed text that an error message repeats, in characters.
const NAMED_CHARS: usize = 40;

#[derive(Debug)]
pub(super) struct VoiceCommand {
    cards: Cards,
    settings: SettingsStore,
    /// `true` if there is a model that speaks.
    speaks: bool,
}

#[async_trait]
impl Command for VoiceCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("voice", Texts::command_voice)
            .group(Group::Settings)
            .changes_chat()
            .offered_if(self.speaks)
            .families(&[VoiceButton::NAME])
            .arguments(&[
                ("off", "answer in text only"),
                ("reply", "speak answers to voice messages, too"),
                ("always", "speak every answer, too"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let (asker, word) = (request.asker, request.argument());
        let texts = self.cards.texts(asker);
        if !self.speaks {
            return Ok(Card::text(texts.voice_unset()).into());
        }
        if word.is_empty() {
            return self.card(asker).map(CommandOutcome::Card);
        }
        let mode = VoiceMode::ALL.into_iter().find(|mode| {
            mode.name().eq_ignore_ascii_case(word)
                || label(texts, *mode).to_lowercase() == word.to_lowercase()
        });
        let Some(mode) = mode else {
            let words = one_line(word, NAMED_CHARS);
            return Ok(Card::text(fill(texts.voice_unknown(), &[("words", &words)])).into());
        };
        if !self.cards.may_change(asker).await {
            return Ok(Card::text(texts.admin_only()).into());
        }
        self.set(asker, mode).await?;
        self.card(asker).map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let button: VoiceButton = press.data.parse()?;
        if !self.speaks {
            return Err(PressError::Gone);
        }
        self.set(press.asker, button.mode()).await?;
        let saved = self.cards.texts(press.asker).config_saved();
        Ok(Pressed::both(saved, self.card(press.asker)?))
    }
}

impl VoiceCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), settings: handles.store.settings(), speaks: handles.speaks }
    }

    async fn set(&self, asker: &Asker, mode: VoiceMode) -> Result<(), StoreError> {
        let change = ConfigPatch { voice: Some(mode), ..ConfigPatch::default() };
        self.settings.change_chat_config(asker.place.chat, change).await.map(drop)
    }

    fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let now = self.settings.chat_config(asker.place.chat)?.voice;
        let others = VoiceMode::ALL.into_iter().filter(|mode| *mode != now);
        let buttons = others.map(|mode| Button::new(label(texts, mode), VoiceButton::of(mode)));
        let body = fill(texts.voice_now(), &[("mode", label(texts, now))]);
        Ok(Card::titled(texts.voice_title(), body).row(buttons.collect()))
    }
}

fn label(texts: &Texts, mode: VoiceMode) -> &str {
    match mode {
        VoiceMode::Off => texts.voice_off(),
        VoiceMode::Reply => texts.voice_reply(),
        VoiceMode::Always => texts.voice_always(),
    }
}
