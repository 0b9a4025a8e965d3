//! Time zones in the text of a schedule, as other crons accept them: `CRON_TZ=Europe/Riga 0 9 * * *`, `0 9 * * *
//! Europe/Riga`, `2026-11-23T09:00[Europe/Riga]`. They are only detected here: a schedule has no zone of its own.

use figaro_base::tz::Tz;

/// Splits a text into the zone, if there is one, and the text without it.
#[must_use]
pub fn split_zone(text: &str) -> (Option<&str>, &str) {
    let (text, comment) = bare(text);
    if let Some(zone) = comment.and_then(commented) {
        return (Some(zone), text);
    }
    if let Some((rest, zone)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
        return (Some(zone.trim()), rest.trim_end());
    }
    if let Some((first, rest)) = text.split_once(char::is_whitespace)
        && let Some(zone) = assigned(first).or_else(|| named(first))
    {
        return (Some(zone), rest.trim_start());
    }
    if let Some((rest, last)) = text.rsplit_once(char::is_whitespace)
        && let Some(zone) = assigned(last).or_else(|| named(last))
    {
        let rest = rest.trim_end();
        return (Some(zone), rest.strip_suffix(" in").map_or(rest, str::trim_end));
    }
    (None, text)
}

/// Strips surrounding quotes and trailing punctuation, and returns the text and the comment after a separate `#`.
fn bare(text: &str) -> (&str, Option<&str>) {
    let is_around = |c: char| c.is_whitespace() || "`'\";".contains(c);
    let (text, comment) = match text.split_once(" #") {
        Some((text, comment)) => (text, Some(comment.trim())),
        None => (text, None),
    };
    // An assignment may have quotes of its own.
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || "`;".contains(c));
    let is_quoted = end.starts_with(['`', '"', '\'']);
    (if is_quoted { end.trim_matches(is_around) } else { end.trim() }, comment)
}

/// Returns the zone named in a comment, such as `Berlin time` or `Europe/Berlin`.
fn commented(comment: &str) -> Option<&str> {
    let place = comment.strip_suffix(" time").filter(|place| !place.contains(' '));
    place.or_else(|| comment.split_whitespace().find_map(named))
}

/// Returns the zone of an assignment such as `CRON_TZ=Europe/Riga` or `TZ="Europe/Riga"`.
fn assigned(word: &str) -> Option<&str> {
    let (name, zone) = word.split_once('=')?;
    let is_zone = ["TZ", "CRON_TZ", "TIMEZONE"].iter().any(|known| name.eq_ignore_ascii_case(known));
    is_zone.then_some(zone.trim_matches(['"', '\'']))
}

/// Returns a word that is the name of a zone, has the form of one, or is an offset from UTC.
fn named(word: &str) -> Option<&str> {
    let word = word.trim_matches(['(', ')']);
    let is_place =
        |part: &str| part.chars().count() > 2 && part.chars().all(|c| c.is_alphabetic() || "_-".contains(c));
    let is_written = word.contains('/') && word.split('/').all(is_place);
    let is_distance =
        word.get(..3).is_some_and(|utc| utc.eq_ignore_ascii_case("UTC") || utc.eq_ignore_ascii_case("GMT"))
            && word.get(3..).is_some_and(|rest| rest.starts_with(['+', '-']));
    if word.eq_ignore_ascii_case("Z") {
        return Some("UTC");
    }
    let is_short = SHORT.contains(&word);
    (is_written || is_distance || is_short || word.parse::<Tz>().is_ok()).then_some(word)
}

/// Short zone names that stand for several places or only a part of the year. The author must say which place is meant.
const SHORT: [&str; 18] = [
    "PST", "PDT", "MDT", "CST", "CDT", "EDT", "BST", "IST", "WEST", "CEST", "EEST", "MSK", "JST", "KST",
    "SGT", "HKT", "AEST", "AEDT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_wherever_crons_take_one() {
        let cases = [
            ("CRON_TZ=Europe/Oslo 0 8 * * *", Some("Europe/Oslo"), "0 8 * * *"),
            ("tz=\"Europe/Lisbon\"  0 9 * * mon-fri", Some("Europe/Lisbon"), "0 9 * * mon-fri"),
            ("0 8 * * * Asia/Tokyo", Some("Asia/Tokyo"), "0 8 * * *"),
            ("0 0 8 * * MON utc", Some("utc"), "0 0 8 * * MON"),
            (
                "0 8 * * * (America/Argentina/Buenos_Aires)",
                Some("America/Argentina/Buenos_Aires"),
                "0 8 * * *",
            ),
            ("0 8 * * * TZ=Asia/Tokyo", Some("Asia/Tokyo"), "0 8 * * *"),
            ("Europe/Oslo 0 8 * * *", Some("Europe/Oslo"), "0 8 * * *"),
            ("@daily Europe/Osloo", Some("Europe/Osloo"), "@daily"),
            ("0 8 * * * UTC+2", Some("UTC+2"), "0 8 * * *"),
            ("2026-11-23T09:00[Europe/Oslo]", Some("Europe/Oslo"), "2026-11-23T09:00"),
            ("2026-11-23 09:00 CET", Some("CET"), "2026-11-23 09:00"),
            ("0 8 * * * Z", Some("UTC"), "0 8 * * *"),
            ("0 8 * * * PST", Some("PST"), "0 8 * * *"),
            ("0 8 * * * in Europe/Berlin", Some("Europe/Berlin"), "0 8 * * *"),
            ("0 8 * * *  # Berlin time", Some("Berlin"), "0 8 * * *"),
            ("0 8 * * * # 8 o'clock in Europe/Berlin", Some("Europe/Berlin"), "0 8 * * *"),
            ("0 8 * * * # every morning", None, "0 8 * * *"),
            ("`0 8 * * *`", None, "0 8 * * *"),
            ("\"0 8 * * * Asia/Tokyo\";", Some("Asia/Tokyo"), "0 8 * * *"),
            ("0 8 * * *;", None, "0 8 * * *"),
            (" 0 8 * * MON/2 ", None, "0 8 * * MON/2"),
            ("0 8 L JAN-MAR/2 *", None, "0 8 L JAN-MAR/2 *"),
            ("0 8 * * MON#2", None, "0 8 * * MON#2"),
            ("2026-11-23T09:00 +02:00", None, "2026-11-23T09:00 +02:00"),
            ("in 2 days", None, "in 2 days"),
            ("@daily", None, "@daily"),
            ("", None, ""),
        ];
        for (text, zone, rest) in cases {
            assert_eq!(split_zone(text), (zone, rest), "{text}");
        }
        for word in
            "SUN MON TUE WED THU FRI SAT JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC L LW W".split(' ')
        {
            assert_eq!(named(word), None, "{word}");
        }
    }
}
