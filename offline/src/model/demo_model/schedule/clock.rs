//! Parses times of day.

use super::phrase::any;

/// Words before a time of day. After one of them a bare number is a time.
const AT: [&str; 8] = ["at", "às", "as", "à", "para as", "a las", "a la", "para las"];
const NUMBERS: [[&str; 3]; 12] = [
    ["one", "uma", "una"],
    ["two", "duas", "dos"],
    ["three", "três", "tres"],
    ["four", "quatro", "cuatro"],
    ["five", "cinco", "cinco"],
    ["six", "seis", "seis"],
    ["seven", "sete", "siete"],
    ["eight", "oito", "ocho"],
    ["nine", "nove", "nueve"],
    ["ten", "dez", "diez"],
    ["eleven", "onze", "once"],
    ["twelve", "doze", "doce"],
];
const NAMED: [(&str, TimeOfDay); 5] = [
    ("noon", TimeOfDay { hour: 12, minute: 0 }),
    ("meio-dia", TimeOfDay { hour: 12, minute: 0 }),
    ("mediodía", TimeOfDay { hour: 12, minute: 0 }),
    ("midnight", TimeOfDay { hour: 0, minute: 0 }),
    ("meia-noite", TimeOfDay { hour: 0, minute: 0 }),
];

/// Time of day on a 24-hour clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeOfDay {
    pub(super) hour: u32,
    pub(super) minute: u32,
}

/// Parses a time of day at the start of plain words. Returns the number of words used and the time. A bare `8` is a time
/// only after `at`.
pub(super) fn read(words: &[&str]) -> Option<(usize, TimeOfDay)> {
    let before = any(words, &AT).unwrap_or(0);
    let [word, rest @ ..] = words.get(before..)? else { return None };
    if let Some((_, time)) = NAMED.iter().find(|(name, _)| name == word) {
        return Some((before + 1, *time));
    }
    let counted = number(word).map(|number| number.to_string());
    let word = counted.as_deref().unwrap_or(word);
    let half = rest.first().filter(|half| ["am", "pm"].contains(half));
    if let Some(half) = half {
        return Some((before + 2, clock(&format!("{word}{half}"))?));
    }
    let is_bare = word.chars().all(|c| c.is_ascii_digit());
    if is_bare && before == 0 {
        return None;
    }
    Some((before + 1, clock(word)?))
}

/// Parses a whole number in digits, or a number word up to twelve.
pub(super) fn number(word: &str) -> Option<u32> {
    let named = NUMBERS.iter().zip(1..).find(|(names, _)| names.contains(&word)).map(|(_, number)| number);
    word.parse().ok().or(named)
}

/// Returns `true` for a word that looks like a clock time but is invalid: `25:00`.
pub(super) fn is_no_time(word: &str) -> bool {
    let is_number = |part: &str| (1..=2).contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit());
    word.split_once(':').is_some_and(|(hour, minute)| is_number(hour) && is_number(minute))
        && clock(word).is_none()
}

/// Parses `9`, `18:30`, `7am`, `7:15pm`, `8h`, `7h30`.
fn clock(word: &str) -> Option<TimeOfDay> {
    let (digits, is_late) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(false)),
        (_, Some(digits)) => (digits, Some(true)),
        (None, None) => (word, None),
    };
    let (hour, minute) = digits.split_once([':', 'h']).unwrap_or((digits, "0"));
    let minute = if minute.is_empty() { "0" } else { minute };
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match is_late {
        Some(_) if hour > 12 => return None,
        Some(true) => hour % 12 + 12,
        Some(false) => hour % 12,
        None => hour,
    };
    (hour < 24 && minute < 60).then_some(TimeOfDay { hour, minute })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_read() {
        let cases = [
            ("at 8", Some((2, 8, 0))),
            ("at 7:30 sharp", Some((2, 7, 30))),
            ("7:15pm", Some((1, 19, 15))),
            ("at 12 am", Some((3, 0, 0))),
            ("12pm", Some((1, 12, 0))),
            ("às 8:00", Some((2, 8, 0))),
            ("para as 7h30", Some((3, 7, 30))),
            ("8h", Some((1, 8, 0))),
            ("a las 9", Some((3, 9, 0))),
            ("at noon", Some((2, 12, 0))),
            ("at ten to", Some((2, 10, 0))),
            ("às dez", Some((2, 10, 0))),
            ("ten", None),
            ("8", None),
            ("at 25", None),
            ("at 13pm", None),
            ("at home", None),
            ("", None),
        ];
        for (text, wanted) in cases {
            let words: Vec<&str> = text.split_whitespace().collect();
            let wanted = wanted.map(|(length, hour, minute)| (length, TimeOfDay { hour, minute }));
            assert_eq!(read(&words), wanted, "{text}");
        }
    }
}
