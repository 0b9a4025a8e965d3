//! Zones by their own names and by places: "Europe/Riga", "I live in Riga", "Portland, Oregon".

use chrono_tz::Tz;

use super::found::{Found, MAX_ZONES};
use super::names::{NAMES, fold};

/// What stands between a place and what it lies in.
const APART: [char; 8] = [',', ';', '(', ')', '/', '|', '–', '—'];

/// A zone by the name IANA gives it.
pub(super) fn by_own_name(text: &str) -> Option<Found> {
    let name = text.split_whitespace().collect::<Vec<_>>().join("_");
    let zone = Tz::from_str_insensitive(&name).ok()?;
    Some(Found { zones: vec![NAMES.current(zone)], sure: is_no_word(&fold(text), text) })
}

/// Zones of a place, with words around it or with what it lies in.
pub(super) fn by_place(text: &str) -> Option<Found> {
    by_name(&fold(text), text).or_else(|| by_parts(text)).or_else(|| by_two_names(&fold(text)))
}

/// A name for itself, or with such words around it as "I live in".
fn by_name(folded: &str, text: &str) -> Option<Found> {
    NAMES.bare(folded).into_iter().find_map(|(opening, name)| {
        // "In general" is no place in Mexico, but who lives in Nice says so.
        let is_told = opening.contains(' ');
        let sure = is_told || is_no_word(name, text);
        let declined = || if opening.is_empty() { None } else { nominative(name) };
        let zones = NAMES.zones(name).map(<[Tz]>::to_vec).or_else(declined)?;
        Some(Found { zones, sure })
    })
}

/// A place and what it lies in, with a mark between: "Austin, Texas, USA".
fn by_parts(text: &str) -> Option<Found> {
    let marked = text.replace(" - ", ",");
    let parts: Vec<String> = marked.split(APART).map(fold).filter(|part| !part.is_empty()).collect();
    let (first, around) = parts.split_first()?;
    let mut around = around.iter().rev();
    let last = around.next()?;
    let lies_in = |name: &str| NAMES.state(name).or_else(|| NAMES.within(name)).map(<[Tz]>::to_vec);
    // What is offered of the last one, and what the place before it can be in.
    let offered = NAMES.state(last).or_else(|| NAMES.zones(last)).map(<[Tz]>::to_vec);
    let (mut zones, mut within) = match offered {
        Some(zones) => (zones, lies_in(last)?),
        None => {
            let found = by_name(last, text)?;
            (found.zones.clone(), found.zones)
        }
    };
    for part in around {
        zones = narrowed(&lies_in(part)?, &within, &zones);
        within.clone_from(&zones);
    }
    match by_name(first, first) {
        Some(found) => Some(Found { zones: narrowed(&found.zones, &within, &zones), sure: true }),
        None => Some(Found { zones, sure: false }),
    }
}

/// A place and what it lies in without a mark between: "Riga Latvia".
fn by_two_names(folded: &str) -> Option<Found> {
    NAMES.bare(folded).into_iter().find_map(|(_, name)| {
        name.match_indices(' ').find_map(|(at, _)| {
            let (head, tail) = name.split_at(at);
            let tail = tail.trim_start();
            let state = NAMES.state(tail);
            let within = state.or_else(|| NAMES.within(tail))?;
            let offered = state.or_else(|| NAMES.zones(tail))?;
            let zones = narrowed(NAMES.zones(head)?, within, offered);
            // Letters of states are words too: "Boston or".
            let sure = state.is_none() && !NAMES.words.contains(tail);
            Some(Found { zones, sure })
        })
    })
}

/// Those zones of a place that are in what it lies in; what both offer, if they do not fit together.
fn narrowed(place: &[Tz], within: &[Tz], offered: &[Tz]) -> Vec<Tz> {
    let fitting: Vec<Tz> = place.iter().copied().filter(|zone| within.contains(zone)).collect();
    if !fitting.is_empty() {
        return fitting;
    }
    let others = offered.iter().filter(|zone| !place.contains(zone));
    place.iter().chain(others).copied().take(MAX_ZONES).collect()
}

/// The zones of a Russian name that stands in another case: "в Москве", "из Риги".
fn nominative(name: &str) -> Option<Vec<Tz>> {
    let last = name.chars().last().filter(|c| "аеиуыюя".contains(*c))?;
    let stem = name.strip_suffix(last)?;
    let endings = ["", "а", "я", "ь", "и"];
    let zones = endings.iter().find_map(|ending| NAMES.zones(&format!("{stem}{ending}")))?;
    Some(zones.to_vec())
}

/// Whether a name is hardly said for anything but a zone; letters in capitals ("CAT") are no words.
fn is_no_word(name: &str, text: &str) -> bool {
    let is_letters = text.len() <= 3 && text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase());
    is_letters || !NAMES.words.contains(name)
}
