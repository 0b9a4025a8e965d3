//! User-visible texts by language: one YAML file per language in `prompts/locales/`. Used by all code that writes to a
//! chat. A new text is a line in each of these files.

use std::fmt;

use chrono::{DateTime, Datelike, TimeZone, Timelike};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use figaro_domain::approval::method_words;
use figaro_domain::language::{ByLanguage, primary};
use figaro_domain::task::Reason;

// `KEYS` and a method of `Texts` for each: `build.rs` generates them from the keys of `prompts/locales/en.yaml`.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// All texts of one language, with a method for each key. `{name}` marks a place that [`fill`] fills. The docs show the
/// lines of the English file.
///
/// A table instead of a struct with a field for each key: a derived `Deserialize` for hundreds of fields is one function
/// that takes the compiler many minutes.
#[derive(Debug, Clone)]
pub struct Texts([Box<str>; KEYS.len()]);

/// Available languages by IETF tag; the first one is the fallback.
const FILES: [(&str, &str); 2] = [
    ("en", include_str!("../../../prompts/locales/en.yaml")),
    ("pt", include_str!("../../../prompts/locales/pt.yaml")),
];

/// Texts of every available language.
#[derive(Debug, Clone)]
pub struct Locales(ByLanguage<Texts>);

impl Locales {
    /// Returns the IETF tags of the available languages: the fallback, and the others.
    #[must_use]
    pub(crate) fn tags() -> (&'static str, Vec<&'static str>) {
        let [(first, _), others @ ..] = FILES;
        (first, others.into_iter().map(|(tag, _)| tag).collect())
    }

    /// Reads the embedded files.
    ///
    /// # Errors
    /// Names the language whose file is invalid.
    pub fn load() -> Result<Self, String> {
        let read = |(tag, file): (&'static str, &str)| match serde_saphyr::from_str::<Texts>(file) {
            Ok(texts) => Ok((tag, texts)),
            Err(error) => Err(format!("prompts/locales/{tag}.yaml: {error}")),
        };
        let [first, others @ ..] = FILES;
        Ok(Self(ByLanguage::new(read(first)?, others.into_iter().map(read).collect::<Result<_, _>>()?)))
    }

    /// Returns the texts for an IETF tag such as `pt-BR`; those of the first language for an unknown one.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &Texts {
        self.0.of(tag)
    }

    /// Iterates over the languages with their texts, the first language first.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Texts)> {
        self.0.all()
    }

    /// Applies `make` to the texts of each language.
    #[must_use]
    pub fn map<U>(&self, make: impl Fn(&Texts) -> U) -> ByLanguage<U> {
        self.0.map(make)
    }

    /// Returns `true` if a word in place of a value clears the value, such as `clear`, in any language.
    #[must_use]
    pub fn clears(&self, word: &str) -> bool {
        let word = word.trim().to_lowercase();
        self.all().any(|(_, texts)| texts.words_that_clear().split_whitespace().any(|one| one == word))
    }

    /// Returns the tag of the language that these words name: `pt` for `Brazilian Portuguese`, `português` or `pt-BR`.
    /// `None` if they name no available language, or several.
    #[must_use]
    pub fn named(&self, words: &str) -> Option<&'static str> {
        let text = words.trim().to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        let is_named = |texts: &Texts| {
            let names = texts.language_names().to_lowercase();
            names.split_whitespace().any(|name| words.contains(&name))
        };
        let mut named = self.all().filter(|(tag, texts)| primary(&text) == *tag || is_named(texts));
        let (tag, _) = named.next()?;
        named.next().is_none().then_some(tag)
    }
}

impl Texts {
    /// Returns the text of the key with this index in [`KEYS`].
    const fn at(&self, index: usize) -> &str {
        &self.0[index]
    }

    /// Iterates over the keys with their texts, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        KEYS.into_iter().zip(self.0.iter().map(AsRef::as_ref))
    }

    /// Returns the text of a key; `None` for an unknown key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().find(|(name, _)| *name == key).map(|(_, text)| text)
    }

    /// Returns why a built-in rule asks or refuses; `None` for a rule that does neither, or is an owner's.
    #[must_use]
    pub fn rule(&self, rule: &str) -> Option<&str> {
        named(self.rules(), rule)
    }

    /// Returns the words for an error, by its label in the log; the label itself if there are none.
    #[must_use]
    pub fn error(&self, label: &str) -> String {
        named(self.errors(), label).map_or_else(|| label.replace('_', " "), str::to_owned)
    }

    /// Returns the words for a parameter of a model: its effect, and its name.
    #[must_use]
    pub fn writes(&self, setting: &str, value: &str) -> String {
        let words = named(self.writing(), setting).unwrap_or_default();
        format!("{words} {value}").trim().to_owned() + &format!(" ({setting})")
    }

    /// Returns the words for a method of the Bot API; its name in lower case if the language has none.
    #[must_use]
    pub fn method(&self, method: &str) -> String {
        self.known_method(method).map_or_else(|| method_words(method), str::to_owned)
    }

    /// Returns the words for a method of the Bot API; `None` if the language has none, as for a tool that is no method.
    #[must_use]
    pub fn known_method(&self, method: &str) -> Option<&str> {
        named(self.methods(), method)
    }

    /// Returns why a run of a task failed, as the rest of a sentence.
    #[must_use]
    pub fn reason(&self, reason: &Reason) -> String {
        let text = match reason {
            Reason::Budget { time, zone } => {
                return fill(self.reason_budget(), &[("time", time), ("zone", zone)]);
            }
            Reason::Agent { agent } => return fill(self.reason_agent(), &[("agent", agent)]),
            Reason::Model => self.reason_model(),
            Reason::Busy => self.reason_busy(),
            Reason::Refused => self.reason_refused(),
            Reason::Empty => self.reason_empty(),
            Reason::Spent => self.reason_spent(),
            Reason::Misfit => self.reason_misfit(),
            Reason::Internal => self.reason_internal(),
            Reason::Interrupted => self.reason_interrupted(),
            Reason::Undelivered => self.reason_undelivered(),
            Reason::Unclear => self.reason_unclear(),
        };
        text.to_owned()
    }

    /// Formats a day and time, such as `Mon 23 Nov 09:00`.
    #[must_use]
    pub fn moment<Z: TimeZone>(&self, at: &DateTime<Z>) -> String {
        self.dated(at, at.year())
    }

    /// Formats a day and time with the year, such as `Mon 4 Jan 2027 09:00`, unless it is this year.
    #[must_use]
    pub fn dated<Z: TimeZone>(&self, at: &DateTime<Z>, this_year: i32) -> String {
        let weekday = nth(self.weekdays(), at.weekday().num_days_from_monday());
        let month = nth(self.months(), at.month0());
        let year = if at.year() == this_year { String::new() } else { format!(" {}", at.year()) };
        format!("{weekday} {} {month}{year} {:02}:{:02}", at.day(), at.hour(), at.minute())
    }

    /// Formats a time relative to now in the same zone: `today 09:00`, `tomorrow 07:30`, `Tue 1 Dec 07:30`.
    #[must_use]
    pub fn spoken<Z: TimeZone>(&self, at: &DateTime<Z>, now: &DateTime<Z>) -> String {
        let day = match (at.naive_local().date() - now.naive_local().date()).num_days() {
            0 => self.day_today(),
            1 => self.day_tomorrow(),
            _ => return self.dated(at, now.year()),
        };
        format!("{day} {:02}:{:02}", at.hour(), at.minute())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a text for each key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
        let mut texts = [const { None }; KEYS.len()];
        while let Some((key, text)) = map.next_entry::<String, Box<str>>()? {
            let Some(index) = KEYS.iter().position(|known| *known == key) else {
                return Err(Error::custom(format_args!("unknown key `{key}`")));
            };
            if texts[index].replace(text).is_some() {
                return Err(Error::custom(format_args!("duplicate key `{key}`")));
            }
        }
        if let Some(missing) = texts.iter().position(Option::is_none) {
            return Err(Error::custom(format_args!("missing key `{}`", KEYS[missing])));
        }
        Ok(Texts(texts.map(Option::unwrap_or_default)))
    }
}

/// Returns the text of a name in a list with one `name: text` per line.
fn named<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = list.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(one, _)| *one == name).map(|(_, words)| words)
}

/// Returns a word of a list such as [`Texts::months`] by its index from 0; empty beyond the end.
#[must_use]
pub fn nth(list: &str, index: u32) -> &str {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    list.split_whitespace().nth(index).unwrap_or_default()
}

/// Fills the places of a text with values.
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

/// Known languages, one per line: an ISO 639 code, a colon, and its names in the most spoken languages and its own.
const LANGUAGES: &str = include_str!("languages.txt");

/// Returns `true` if the words name an existing language: `Latvian`, `latviešu`, `Brazilian Portuguese`, `lv-LV`.
#[must_use]
pub fn name_a_language(words: &str) -> bool {
    let (tag, said) = (primary(words.trim()).to_lowercase(), plain(words));
    let mut all = LANGUAGES.lines().filter_map(|line| line.split_once(": "));
    all.any(|(code, names)| code == tag || names.split(", ").any(|name| said.contains(&plain(name))))
}

/// Returns the ISO 639 code of a language if the words are exactly its name or code.
#[must_use]
pub fn language_code(words: &str) -> Option<&'static str> {
    let said = words.trim().to_lowercase();
    let mut all = LANGUAGES.lines().filter_map(|line| line.split_once(": "));
    all.find(|(code, names)| *code == said || names.split(", ").any(|name| name == said))
        .map(|(code, _)| code)
}

/// Returns the words in lower case, with a space around each.
fn plain(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
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
            for ((key, text), (_, english)) in texts.entries().zip(locales.of(Some("en")).entries()) {
                assert!(!text.trim().is_empty(), "{tag}: {key}");
                assert_eq!(places(text), places(english), "{tag}: {key}");
            }
        }
    }

    #[test]
    fn a_tag_finds_its_language_and_english_is_for_the_rest() {
        let locales = Locales::load().unwrap();
        assert_eq!(locales.of(Some("pt-BR")).language_name(), "Português");
        assert_eq!(locales.of(Some("xx")).language_name(), "English");
        assert_eq!(locales.of(None).language_name(), "English");
    }

    #[test]
    fn words_name_a_language() {
        let locales = Locales::load().unwrap();
        let cases = [
            ("English", Some("en")),
            ("british english, please", Some("en")),
            ("inglês", Some("en")),
            ("Português", Some("pt")),
            ("Brazilian Portuguese", Some("pt")),
            ("PT-br", Some("pt")),
            ("португальский", Some("pt")),
            ("Latvian", None),
            ("English and Portuguese", None),
            ("en español", None),
            ("", None),
        ];
        for (words, wanted) in cases {
            assert_eq!(locales.named(words), wanted, "{words}");
        }
    }

    #[test]
    fn only_words_that_name_a_language_do() {
        for words in [
            "Latvian",
            "latviešu",
            "letão",
            "lv",
            "PT-br",
            "brazilian portuguese, please",
            "中文",
            "हिन्दी",
            "Gàidhlig",
        ] {
            assert!(name_a_language(words), "{words}");
        }
        for words in ["", "none", "asdf", "xx", "like a pirate", "-", "latv"] {
            assert!(!name_a_language(words), "{words}");
        }
        for (words, code) in
            [("Spanish", Some("es")), ("es", Some("es")), ("español", Some("es")), ("in Spanish", None)]
        {
            assert_eq!(language_code(words), code, "{words}");
        }
        assert!(
            LANGUAGES.lines().all(|line| line.split_once(": ").is_some_and(|(_, names)| !names.is_empty()))
        );
    }

    #[test]
    fn values_are_never_filled_twice() {
        assert_eq!(fill("{a} and {b} {c}", &[("a", "{b}"), ("b", "2")]), "{b} and 2 {c}");
    }
}
