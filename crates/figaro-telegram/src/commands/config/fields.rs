//! Names and values of settings, as cards show them.

use crate::callback::Field;
use figaro_base::text::one_line;
use figaro_domain::chat::{AnswerWhen, ChatConfig};
use figaro_domain::config_change::Setting;
use figaro_prompts::texts::{Texts, language_code};

/// The most characters of a setting that a line shows.
const VALUE_CHARS: usize = 80;

/// Languages offered as buttons, by their ISO 639 codes and their own names; any other can be typed.
pub(super) const LANGUAGES: [(&str, &str); 6] = [
    ("en", "English"),
    ("pt", "Português"),
    ("es", "Español"),
    ("de", "Deutsch"),
    ("ru", "Русский"),
    ("fr", "Français"),
];

/// A language by its own name, where it is one of those offered; else as it was said.
pub(super) fn language_name(said: &str) -> String {
    let code = language_code(said);
    let offered = LANGUAGES.iter().find(|(one, _)| Some(*one) == code);
    offered.map_or_else(|| one_line(said, VALUE_CHARS), |(_, name)| (*name).to_owned())
}

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
        Field::Language => {
            config.language.as_deref().map_or_else(|| texts.config_auto().to_owned(), language_name)
        }
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
