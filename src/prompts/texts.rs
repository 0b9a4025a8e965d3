//! What people read, in their language: one YAML file a language in `prompts/locales/`. Used by whoever writes to a chat.
//! A new text is a line in each of these files.

use std::collections::HashMap;

use chrono::{DateTime, Datelike, TimeZone, Timelike};
use serde::Deserialize;

use crate::domain::task::Reason;

// The struct `Texts`: `build.rs` makes it from the keys of `prompts/locales/en.yaml`.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// The languages there are, by IETF tag; the first one serves everybody else.
const FILES: [(&str, &str); 2] = [
    ("en", include_str!("../../prompts/locales/en.yaml")),
    ("pt", include_str!("../../prompts/locales/pt.yaml")),
];

/// The texts of every language.
#[derive(Debug)]
pub struct Locales {
    by_tag: HashMap<&'static str, Texts>,
    default: Texts,
}

impl Locales {
    /// Reads the embedded files.
    ///
    /// # Errors
    /// Names the language whose file does not fit.
    pub fn load() -> Result<Self, String> {
        let mut by_tag = HashMap::new();
        for (tag, file) in FILES {
            let texts: Texts = serde_saphyr::from_str(file)
                .map_err(|error| format!("prompts/locales/{tag}.yaml: {error}"))?;
            drop(by_tag.insert(tag, texts));
        }
        let default = by_tag.get(FILES[0].0).cloned().ok_or("no language at all")?;
        Ok(Self { by_tag, default })
    }

    /// The texts for an IETF tag such as `pt-BR`; English for an unknown one.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &Texts {
        let language = tag.and_then(|tag| tag.split(['-', '_']).next()).unwrap_or_default();
        self.by_tag.get(language.to_ascii_lowercase().as_str()).unwrap_or(&self.default)
    }

    /// Every language's tag with its texts.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Texts)> {
        FILES.iter().filter_map(|(tag, _)| Some((*tag, self.by_tag.get(tag)?)))
    }
}

impl Texts {
    /// The text of a key; `None` where there is no such key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().into_iter().find(|(name, _)| *name == key).map(|(_, text)| text)
    }

    /// Why a run of a task failed, as the rest of a sentence.
    #[must_use]
    pub fn reason(&self, reason: &Reason) -> String {
        let text = match reason {
            Reason::Budget { time, zone } => {
                return fill(&self.reason_budget, &[("time", time), ("zone", zone)]);
            }
            Reason::Model => &self.reason_model,
            Reason::Busy => &self.reason_busy,
            Reason::Refused => &self.reason_refused,
            Reason::Empty => &self.reason_empty,
            Reason::Internal => &self.reason_internal,
            Reason::Interrupted => &self.reason_interrupted,
            Reason::Undelivered => &self.reason_undelivered,
            Reason::Unclear => &self.reason_unclear,
        };
        text.clone()
    }

    /// A day and a time by the clock, such as `Mon 23 Nov 09:00`.
    #[must_use]
    pub fn moment<Z: TimeZone>(&self, at: &DateTime<Z>) -> String {
        self.dated(at, at.year())
    }

    /// The same with the year, such as `Mon 4 Jan 2027 09:00`, unless it is this one.
    #[must_use]
    pub fn dated<Z: TimeZone>(&self, at: &DateTime<Z>, this_year: i32) -> String {
        let weekday = nth(&self.weekdays, at.weekday().num_days_from_monday());
        let month = nth(&self.months, at.month0());
        let year = if at.year() == this_year { String::new() } else { format!(" {}", at.year()) };
        format!("{weekday} {} {month}{year} {:02}:{:02}", at.day(), at.hour(), at.minute())
    }
}

/// A word of a list such as [`Texts::months`], from 0 on; nothing if there are fewer.
#[must_use]
pub fn nth(list: &str, index: u32) -> &str {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    list.split_whitespace().nth(index).unwrap_or_default()
}

/// Puts values into the places of a text.
#[must_use]
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let place = &rest[start + 1..];
        let found = place.find('}').and_then(|end| {
            values.iter().find(|(name, _)| *name == &place[..end]).map(|(_, value)| (end, *value))
        });
        filled.push_str(&rest[..start]);
        match found {
            Some((end, value)) => {
                filled.push_str(value);
                rest = &place[end + 1..];
            }
            None => {
                filled.push('{');
                rest = place;
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split('}').next()).collect()
    }

    #[test]
    fn every_language_has_every_text_with_the_same_places() {
        let locales = Locales::load().unwrap();
        for (tag, texts) in locales.all() {
            for ((key, text), (_, english)) in
                texts.entries().into_iter().zip(locales.of(Some("en")).entries())
            {
                assert!(!text.trim().is_empty(), "{tag}: {key}");
                assert_eq!(places(text), places(english), "{tag}: {key}");
            }
        }
    }

    #[test]
    fn a_tag_finds_its_language_and_english_is_for_the_rest() {
        let locales = Locales::load().unwrap();
        assert_eq!(locales.of(Some("pt-BR")).language_name, "Português");
        assert_eq!(locales.of(Some("xx")).language_name, "English");
        assert_eq!(locales.of(None).language_name, "English");
    }

    #[test]
    fn values_are_never_filled_twice() {
        assert_eq!(fill("{a} and {b} {c}", &[("a", "{b}"), ("b", "2")]), "{b} and 2 {c}");
    }
}
