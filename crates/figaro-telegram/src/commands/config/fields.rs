//! Names and values of settings, as cards show them.

use crate::callback::SettingField;
use figaro_base::text::one_line;
use figaro_domain::chat::{AnswerFormat, AnswerWhen, ChatConfig};
use figaro_domain::config_change::Setting;
use figaro_prompts::texts::{Locales, Texts, fill};

/// Maximum length of a value in a line, in characters.
const VALUE_CHARS: usize = 80;
/// Values of a setting that is on or off.
const ON: &str = "on";
const OFF: &str = "off";
/// Quiet hours to choose from.
const QUIET: [&str; 3] = ["22:00–07:00", "23:00–08:00", "00:00–06:00"];
/// Maximum length of the typed text that an error message repeats, in characters.
pub(super) const NAMED_CHARS: usize = 40;

/// Returns a language by its own name if it has texts, or the typed text otherwise.
pub(super) fn language_name(said: &str) -> String {
    Locales::own_name(said).map_or_else(|| one_line(said, VALUE_CHARS), str::to_owned)
}

/// Returns the name of a setting on cards.
pub(super) fn label(texts: &Texts, field: SettingField) -> &str {
    match field {
        SettingField::Language => texts.config_language(),
        SettingField::Tone => texts.config_personality(),
        SettingField::Instructions => texts.config_instructions(),
        SettingField::Agent => texts.config_agent(),
        SettingField::Answers => texts.config_answers(),
        SettingField::Eyes => texts.config_eyes(),
        SettingField::Cost => texts.config_cost(),
        SettingField::Quiet => texts.config_quiet(),
        SettingField::Welcome => texts.config_welcome(),
        SettingField::Format => texts.config_format(),
    }
}

/// Returns the value of a setting, shortened to one line.
pub(super) fn value(texts: &Texts, config: &ChatConfig, field: SettingField) -> String {
    let none = |value: &Option<String>, or: &str| {
        value.as_deref().map_or(or.to_owned(), |text| one_line(text, VALUE_CHARS))
    };
    match field {
        SettingField::Language => {
            config.language.as_deref().map_or_else(|| texts.config_auto().to_owned(), language_name)
        }
        SettingField::Tone => none(&config.personality, texts.tone_none()),
        SettingField::Instructions => none(&config.custom_prompt, texts.config_none()),
        SettingField::Agent => none(&config.agent, texts.config_agent_none()),
        SettingField::Answers => when_words(texts, config.answer_when).to_owned(),
        SettingField::Eyes => yes_words(texts, config.eyes).to_owned(),
        SettingField::Cost => yes_words(texts, config.cost).to_owned(),
        SettingField::Quiet => {
            config.quiet_hours.map_or_else(|| texts.config_none().to_owned(), |hours| hours.to_string())
        }
        SettingField::Welcome => none(&config.welcome, texts.config_none()),
        SettingField::Format => format_words(texts, config.format).to_owned(),
    }
}

/// Returns `true` if `value` shortens this setting.
pub(super) fn is_cut(config: &ChatConfig, setting: Setting) -> bool {
    let text = match setting {
        Setting::Language => &config.language,
        Setting::Tone => &config.personality,
        Setting::Instructions => &config.custom_prompt,
        Setting::Persona
        | Setting::Answers
        | Setting::Zone
        | Setting::Quiet
        | Setting::Format
        | Setting::Model
        | Setting::Writing => &None,
    };
    text.as_deref().is_some_and(|text| one_line(text, VALUE_CHARS) != text)
}

/// Reads `on` or `off`, in any case.
pub(super) fn on_or_off(value: &str) -> Option<bool> {
    [(ON, true), (OFF, false)]
        .into_iter()
        .find_map(|(name, is_on)| name.eq_ignore_ascii_case(value.trim()).then_some(is_on))
}

fn yes_words(texts: &Texts, is_on: bool) -> &str {
    if is_on { texts.config_yes() } else { texts.config_no() }
}

/// Returns the text for the condition of answers in a group.
fn when_words(texts: &Texts, when: AnswerWhen) -> &str {
    match when {
        AnswerWhen::Mention => texts.config_mention(),
        AnswerWhen::Always => texts.config_always(),
        AnswerWhen::Off => texts.config_off(),
    }
}

/// Returns the text for the form of answers.
pub(super) fn format_words(texts: &Texts, format: AnswerFormat) -> &str {
    match format {
        AnswerFormat::Auto => texts.config_format_auto(),
        AnswerFormat::Plain => texts.config_format_plain(),
    }
}

/// Returns the names of the values that a setting offers, with their texts; none for a setting of free text.
pub(super) fn values(texts: &Texts, field: SettingField) -> Vec<(&'static str, &str)> {
    match field {
        SettingField::Answers => AnswerWhen::ALL.map(|when| (when.name(), when_words(texts, when))).to_vec(),
        SettingField::Format => AnswerFormat::ALL.map(|one| (one.name(), format_words(texts, one))).to_vec(),
        SettingField::Eyes | SettingField::Cost => {
            vec![(ON, yes_words(texts, true)), (OFF, yes_words(texts, false))]
        }
        SettingField::Quiet => QUIET.map(|hours| (hours, hours)).to_vec(),
        SettingField::Language
        | SettingField::Tone
        | SettingField::Instructions
        | SettingField::Agent
        | SettingField::Welcome => Vec::new(),
    }
}

/// Returns the list of the values of a setting, as they can be typed.
pub(super) fn values_usage(texts: &Texts, field: SettingField) -> String {
    let first = fill(texts.config_values_usage(), &[("setting", field.name())]);
    let all = values(texts, field).into_iter().map(|(name, words)| match name == words {
        true => format!("• {name}"),
        false => format!("• {name} – {words}"),
    });
    [first].into_iter().chain(all).collect::<Vec<_>>().join("\n")
}
