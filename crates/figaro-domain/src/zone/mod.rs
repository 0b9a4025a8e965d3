//! Parsing of time zones as people write them: a zone name, a city or country in their language, an abbreviation, an offset
//! from UTC, or their current time. Used by commands, tools and the time zone question. The data is in `zones.yaml`.

mod clock;
mod found;
mod names;
mod places;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use found::{MAX_ZONES, ZoneMatches};
use names::NAMES;
pub use names::city;

/// Maximum length of a text for a place, in characters.
const MAX_PLACE_CHARS: usize = 100;
/// Maximum length of an answer to the time zone question, in characters.
const MAX_ANSWER_CHARS: usize = 40;

/// Result of parsing a time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneMatch {
    /// The text stands for exactly this zone.
    Zone(Tz),
    /// The text stands for one of 2 to 6 zones, likeliest first.
    Several(Vec<Tz>),
    /// The text is not known as a zone.
    Unknown,
}

impl ZoneMatch {
    fn of(mut zones: Vec<Tz>) -> Self {
        zones.truncate(MAX_ZONES);
        match zones.as_slice() {
            [] => Self::Unknown,
            [zone] => Self::Zone(*zone),
            _ => Self::Several(zones),
        }
    }
}

/// Parses a person's text for a time zone. `language` is the tag of their client; it only affects the order of several
/// zones.
///
/// Accepted forms:
/// - an IANA zone, in any case and with spaces: `europe/riga`; an older name gives the current one
/// - a city, region or country, also with words around it: `São Paulo`, `moro em Lisboa`, `Portland, Oregon`
/// - an abbreviation: `CET`, `MSK`, `EST`
/// - an offset from UTC: `UTC+3`, `+05:30`; gives zones that have it at `now`, then the fixed one
/// - a time of day: `it is 14:20 here`; gives zones whose clocks show it at `now`, to the nearest quarter of an hour
#[must_use]
pub fn read(text: &str, now: DateTime<Utc>, language: Option<&str>) -> ZoneMatch {
    find(text, now, language).map_or(ZoneMatch::Unknown, |found| ZoneMatch::of(found.zones))
}

/// Parses a text as [`read`] does, if it is likely meant as a zone. Returns `None` for a question, for more than 40
/// characters, and for names that are ordinary words ("nice", "reading").
#[must_use]
pub fn answer(text: &str, now: DateTime<Utc>, language: Option<&str>) -> Option<ZoneMatch> {
    let text = text.trim();
    if text.chars().count() > MAX_ANSWER_CHARS || text.contains(['?', '¿', '？', '؟', '\n']) {
        return None;
    }
    let found = find(text, now, language).filter(|found| found.sure)?;
    Some(ZoneMatch::of(found.zones))
}

/// Returns one to six zones to offer to a person whose client has this language, likeliest first. `language` is an IETF tag
/// as Telegram sends it (`pt-br`). If it is missing or unknown, returns well-known zones around the world.
#[must_use]
pub fn guesses(language: Option<&str>) -> Vec<Tz> {
    let mut zones = NAMES.likely(language);
    zones.truncate(MAX_ZONES);
    zones
}

fn find(text: &str, now: DateTime<Utc>, language: Option<&str>) -> Option<ZoneMatches> {
    let text = text.trim();
    if text.chars().count() > MAX_PLACE_CHARS {
        return None;
    }
    places::by_own_name(text)
        .or_else(|| clock::by_distance(text, now, language))
        .or_else(|| clock::by_time(text, now, language))
        .or_else(|| places::by_place(text))
}
