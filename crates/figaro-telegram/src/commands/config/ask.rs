//! Card of one setting: its value, the values to choose from, and how to set another.

use super::ConfigCommand;
use super::fields::{format_words, label, language_name, values};
use crate::callback::{ConfigButton, SettingChoice, SettingField};
use crate::commands::asker::Asker;
use crate::commands::card::Card;
use crate::send::Button;
use figaro_domain::chat::ChatConfig;
use figaro_prompts::texts::{Texts, fill};

/// Maximum number of agents offered as buttons; any other agent can be typed.
const MAX_CHOICES: usize = 12;

impl ConfigCommand {
    /// Returns the card of one setting: question, choices, Clear and Back.
    pub(super) fn ask(&self, asker: &Asker, config: &ChatConfig, field: SettingField) -> Card {
        let texts = self.cards.texts(asker);
        // Values that are too long for a button can be typed.
        let choice = |label: &str, value: &str| {
            Some(Button::new(label, ConfigButton::Set(SettingChoice::new(field, value)?)))
        };
        let (question, choices): (String, Vec<Button>) = match field {
            SettingField::Language => {
                let stay = self.cards_stay(texts, texts.config_languages());
                let question = format!("{}\n{stay}", texts.config_ask_language());
                let now = config.language.as_deref().map(language_name);
                let question = with_value(texts, &question, now.as_deref());
                let names = self.cards.languages.locales.all().map(|(_, one)| one.language_name());
                (question, names.filter_map(|name| choice(name, name)).collect())
            }
            SettingField::Tone => {
                let tones =
                    [texts.tone_friendly(), texts.tone_formal(), texts.tone_playful(), texts.tone_terse()];
                let question =
                    with_value(texts, texts.config_ask_personality(), config.personality.as_deref());
                (question, tones.iter().filter_map(|tone| choice(tone, tone)).collect())
            }
            SettingField::Instructions => {
                let now = config.custom_prompt.as_deref().or(Some(texts.config_none()));
                let edit = Button::new(texts.button_edit(), ConfigButton::Type);
                (with_value(texts, texts.config_ask_instructions(), now), vec![edit])
            }
            SettingField::Agent => {
                let agents = self.agents.now();
                let names = agents.choosable().map(|agent| agent.name.as_str());
                let question = with_value(texts, texts.config_ask_agent(), config.agent.as_deref());
                (question, names.take(MAX_CHOICES).filter_map(|name| choice(name, name)).collect())
            }
            SettingField::Answers => (texts.config_ask_answers().to_owned(), Vec::new()),
            SettingField::Eyes => (texts.config_ask_eyes().to_owned(), Vec::new()),
            SettingField::Cost => (texts.config_ask_cost().to_owned(), Vec::new()),
            SettingField::Format => {
                let now = format_words(texts, config.format);
                (with_value(texts, texts.config_ask_format(), Some(now)), Vec::new())
            }
            SettingField::Quiet => {
                let now = config.quiet_hours.map(|hours| hours.to_string());
                (with_value(texts, texts.config_ask_quiet(), now.as_deref()), Vec::new())
            }
            SettingField::Welcome => {
                (with_value(texts, texts.config_ask_welcome(), config.welcome.as_deref()), Vec::new())
            }
        };
        let named = values(texts, field).into_iter().filter_map(|(name, words)| choice(words, name));
        let choices: Vec<Button> = choices.into_iter().chain(named).collect();
        let clear = Button::new(texts.button_clear(), ConfigButton::Clear(field));
        let back = Button::new(texts.button_back(), ConfigButton::Show);
        Card::titled(label(texts, field), question)
            .rows(choices.chunks(2).map(<[Button]>::to_vec))
            .row(vec![clear, back])
    }
}

/// Appends the full current value, if any, to a question.
fn with_value(texts: &Texts, question: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{question}\n{}", fill(texts.config_now(), &[("value", value)])),
        None => question.to_owned(),
    }
}
