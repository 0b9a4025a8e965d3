//! Answer to `/config` with a name that is no setting of the chat.

use super::fields::NAMED_CHARS;
use crate::callback::SettingField;
use figaro_base::text::{nearest, one_line};
use figaro_prompts::texts::{Texts, fill};

/// Returns the answer to a name that is none of `settings`: the setting that was meant, and the names of all.
pub(super) fn unknown(texts: &Texts, name: &str, settings: &[&str]) -> String {
    let groups = SettingField::Answers.name();
    let is_here = settings.contains(&groups);
    let known = settings.iter().copied().chain((!is_here).then_some(groups));
    let meant = nearest(&name.to_lowercase(), known, |known| known.chars().count().div_ceil(3));
    if !is_here && meant == Some(groups) {
        return fill(texts.config_of_groups(), &[("setting", groups)]);
    }
    let value = one_line(name, NAMED_CHARS);
    let first = match meant {
        Some(meant) => fill(texts.config_meant(), &[("value", &value), ("setting", meant)]),
        None => fill(texts.config_unknown(), &[("value", &value)]),
    };
    format!("{first}\n{}", fill(texts.config_usage(), &[("settings", &settings.join(", "))]))
}
