//! Numbered list of choices.

use crate::app::terminal::say;

/// Prints names with their numbers, each with a note if there is one.
pub(super) fn show<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (number, (name, note)) in (1..).zip(names) {
        let gap = if note.is_empty() { "" } else { ": " };
        say(&format!("{number:>4}  {name}{gap}{note}"));
    }
}

/// Returns the name chosen by number, or by name in any letter case.
pub(super) fn picked<'a>(names: &[&'a str], text: &str) -> Option<&'a str> {
    let by_name = names.iter().find(|name| name.eq_ignore_ascii_case(text));
    let by_number = || names.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    by_name.or_else(by_number).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_picked_by_its_number_or_by_itself() {
        let names = ["first", "Second", "3"];
        let cases = [
            ("1", Some("first")),
            ("2", Some("Second")),
            ("second", Some("Second")),
            ("3", Some("3")),
            ("0", None),
            ("4", None),
            ("-1", None),
            ("sec", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(picked(&names, text), wanted, "{text}");
        }
    }
}
