//! Zones by their own names and by places: "Europe/Riga", "I live in Riga", "Portland, Oregon".

use figaro_base::tz::Tz;

use super::found::{MAX_ZONES, ZoneMatches};
use super::names::{NAMES, fold};

/// Characters that separate a place from its region.
const APART: [char; 8] = [',', ';', '(', ')', '/', '|', '–', '—'];

/// Finds a zone by its IANA name.
pub(super) fn by_own_name(text: &str) -> Option<ZoneMatches> {
    let name = text.split_whitespace().collect::<Vec<_>>().join("_");
    let zone = name.parse().ok()?;
    Some(ZoneMatches { zones: vec![NAMES.current(zone)], sure: is_no_word(&fold(text), text) })
}

/// Finds the zones of a place, with words around it or with its region.
pub(super) fn by_place(text: &str) -> Option<ZoneMatches> {
    by_name(&fold(text), text).or_else(|| by_parts(text)).or_else(|| by_two_names(&fold(text)))
}

/// Finds a name on its own, or with words around it such as "I live in".
fn by_name(folded: &str, text: &str) -> Option<ZoneMatches> {
    NAMES.bare(folded).into_iter().find_map(|(opening, name)| {
        // "In general" is no place in Mexico, but a person who lives in Nice says so.
        let is_told = opening.contains(' ');
        let sure = is_told || is_no_word(name, text);
        let declined = || if opening.is_empty() { None } else { nominative(name) };
        let zones = NAMES.zones(name).map(<[Tz]>::to_vec).or_else(declined)?;
        Some(ZoneMatches { zones, sure })
    })
}

/// Finds a place with its region, separated by punctuation: "Austin, Texas, USA".
fn by_parts(text: &str) -> Option<ZoneMatches> {
    let marked = text.replace(" - ", ",");
    let parts: Vec<String> = marked.split(APART).map(fold).filter(|part| !part.is_empty()).collect();
    let (first, around) = parts.split_first()?;
    let mut around = around.iter().rev();
    let last = around.next()?;
    let lies_in = |name: &str| NAMES.state(name).or_else(|| NAMES.within(name)).map(<[Tz]>::to_vec);
    // Zones offered for the last part, and zones that may contain the place before it.
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
        Some(found) => Some(ZoneMatches { zones: narrowed(&found.zones, &within, &zones), sure: true }),
        None => Some(ZoneMatches { zones, sure: false }),
    }
}

/// Finds a place with its region, without punctuation: "Riga Latvia".
fn by_two_names(folded: &str) -> Option<ZoneMatches> {
    NAMES.bare(folded).into_iter().find_map(|(_, name)| {
        name.match_indices(' ').find_map(|(at, _)| {
            let (head, tail) = name.split_at(at);
            let tail = tail.trim_start();
            let state = NAMES.state(tail);
            let within = state.or_else(|| NAMES.within(tail))?;
            let offered = state.or_else(|| NAMES.zones(tail))?;
            let zones = narrowed(NAMES.zones(head)?, within, offered);
            // Abbreviations of states are also words, as in "Boston or".
            let sure = state.is_none() && !NAMES.words.contains(tail);
            Some(ZoneMatches { zones, sure })
        })
    })
}

/// Returns the zones of a place that lie in its region. If they do not fit together, returns both.
fn narrowed(place: &[Tz], within: &[Tz], offered: &[Tz]) -> Vec<Tz> {
    let fitting: Vec<Tz> = place.iter().copied().filter(|zone| within.contains(zone)).collect();
    if !fitting.is_empty() {
        return fitting;
    }
    let others = offered.iter().filter(|zone| !place.contains(zone));
    place.iter().chain(others).copied().take(MAX_ZONES).collect()
}

/// Finds the zones of a Russian name in another grammatical case: "в Москве", "из Риги".
fn nominative(name: &str) -> Option<Vec<Tz>> {
    let last = name.chars().last().filter(|c| "аеиуыюя".contains(*c))?;
    let stem = name.strip_suffix(last)?;
    let endings = ["", "а", "я", "ь", "и"];
    let zones = endings.iter().find_map(|ending| NAMES.zones(&format!("{stem}{ending}")))?;
    Some(zones.to_vec())
}

/// Returns `true` if a name rarely means anything but a zone. An abbreviation in capitals ("CAT") is no ordinary word.
fn is_no_word(name: &str, text: &str) -> bool {
    let is_letters = text.len() <= 3 && text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase());
    is_letters || !NAMES.words.contains(name)
}
