//! Numbers in comparable form: 1,200, 1.200 and 1 200 are 1200.

use std::borrow::Cow;

/// Separators of digit groups.
const MARKS: [char; 6] = [',', '.', ' ', '\u{a0}', '\u{202f}', '’'];

/// Returns the text with the digit groups of each number joined.
pub(super) fn joined(text: &str) -> Cow<'_, str> {
    let chars: Vec<char> = text.chars().collect();
    if !chars.iter().any(char::is_ascii_digit) {
        return Cow::Borrowed(text);
    }
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut joined = String::with_capacity(text.len());
    let mut group = 0_usize;
    for (at, c) in chars.iter().enumerate() {
        let three = (1..=3).all(|next| is_digit(at + next)) && !is_digit(at + 4);
        let parts = MARKS.contains(c) && (1..=3).contains(&group) && three;
        match c {
            // Years and dates have no groups: their first group has four digits.
            _ if parts => {
                group = 0;
                continue;
            }
            '0'..='9' => group += 1,
            _ => group = 0,
        }
        joined.push(*c);
    }
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn groups_of_digits_are_one_number() {
        let cases = [
            ("costs 1,200 dollars", "costs 1200 dollars"),
            ("15 000 рублей", "15000 рублей"),
            ("1.234.567", "1234567"),
            ("at 9.30, 10,5 and 3.14", "at 9.30, 10,5 and 3.14"),
            ("2023-05-08 and 2023 100", "2023-05-08 and 2023 100"),
            ("none", "none"),
        ];
        for (text, wanted) in cases {
            assert_eq!(joined(text), wanted);
        }
    }
}
