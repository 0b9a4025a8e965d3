//! How people tell a time zone: by its name, a city or a country in their language, letters, a distance from UTC, or the
//! time on their clock. Commands, tools and the question for it read with this. What is known stands in `zones.yaml`.

mod clock;
mod found;
mod names;
mod places;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use found::{Found, MAX_ZONES};
use names::NAMES;
pub use names::city;

/// Words for a place are not longer than this.
const MAX_PLACE_CHARS: usize = 100;
/// A longer message is no answer to the question where somebody is.
const MAX_ANSWER_CHARS: usize = 40;

/// What somebody's words for a time zone mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneMatch {
    /// The name stands for exactly this zone.
    Zone(Tz),
    /// One of these, 2 to 6, the likeliest first.
    Several(Vec<Tz>),
    /// The name is not known.
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

/// Reads what somebody says when asked for a time zone. `language` is the tag of their client and decides only which of
/// several zones come first.
///
/// - a zone of IANA, in any case and with spaces: `europe/riga`; an older name gives today's
/// - a city, region or country, also with words around it: `São Paulo`, `moro em Lisboa`, `Portland, Oregon`
/// - letters: `CET`, `MSK`, `EST`
/// - a distance from UTC: `UTC+3`, `+05:30`; zones that have it at `now`, then the fixed one
/// - a time of day: `it is 14:20 here`; zones whose clocks show it at `now`, to the nearest quarter of an hour
#[must_use]
pub fn read(text: &str, now: DateTime<Utc>, language: Option<&str>) -> ZoneMatch {
    find(text, now, language).map_or(ZoneMatch::Unknown, |found| ZoneMatch::of(found.zones))
}

/// As [`read`], but only if the text is likely meant as a zone at all; `None` for a question, for more than 40
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

/// Zones to offer somebody whose client speaks this language, an IETF tag as Telegram sends it (`pt-br`): one to six, the
/// likeliest first. For none or an unknown one, well-known zones around the world.
#[must_use]
pub fn guesses(language: Option<&str>) -> Vec<Tz> {
    let mut zones = NAMES.likely(language);
    zones.truncate(MAX_ZONES);
    zones
}

fn find(text: &str, now: DateTime<Utc>, language: Option<&str>) -> Option<Found> {
    let text = text.trim();
    if text.chars().count() > MAX_PLACE_CHARS {
        return None;
    }
    places::by_own_name(text)
        .or_else(|| clock::by_distance(text, now, language))
        .or_else(|| clock::by_time(text, now, language))
        .or_else(|| places::by_place(text))
}
