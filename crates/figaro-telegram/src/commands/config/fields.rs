//! Names and values of settings, as cards show them.

use crate::callback::Field;
use figaro_base::text::one_line;
use figaro_domain::chat::{AnswerWhen, ChatConfig};
use figaro_domain::config_change::Setting;
use figaro_prompts::texts::Texts;

/// The most characters of a setting that a line shows.
const VALUE_CHARS: usize = 80;

/// What a setting is called on cards.
pub(super) fn label(texts: &Texts, field: Field) -> &str {
    match field {
        Field::Language => texts.config_language(),
        Field::Tone => texts.config_personality(),
        Field::Instructions => texts.config_instructions(),
        Field::Agent => texts.config_agent(),
        Field::Answers => texts.config_answers(),
    }
}

/// The value of a setting, shortened to one line.
pub(super) fn value(texts: &Texts, config: &ChatConfig, field: Field) -> String {
    let none = |value: &Option<String>, or: &str| {
        value.as_deref().map_or(or.to_owned(), |text| one_line(text, VALUE_CHARS))
    };
    match field {
        Field::Language => none(&config.language, texts.config_auto()),
        Field::Tone => none(&config.personality, texts.tone_none()),
        Field::Instructions => none(&config.custom_prompt, texts.config_none()),
        Field::Agent => none(&config.agent, texts.config_agent_none()),
        Field::Answers => when_words(texts, config.answer_when).to_owned(),
    }
}

/// Whether a line shows a setting not as it is.
pub(super) fn is_cut(config: &ChatConfig, setting: Setting) -> bool {
    let text = match setting {
        Setting::Language => &config.language,
        Setting::Tone => &config.personality,
        Setting::Instructions => &config.custom_prompt,
        Setting::Persona | Setting::Answers | Setting::Zone | Setting::Model | Setting::Writing => &None,
    };
    text.as_deref().is_some_and(|text| one_line(text, VALUE_CHARS) != text)
}

/// In words, when the bot answers in a group.
pub(super) fn when_words(texts: &Texts, when: AnswerWhen) -> &str {
    match when {
        AnswerWhen::Mention => texts.config_mention(),
        AnswerWhen::Always => texts.config_always(),
        AnswerWhen::Off => texts.config_off(),
    }
}
