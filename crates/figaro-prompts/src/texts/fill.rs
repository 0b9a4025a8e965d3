//! Places of a text, filled with values.

use icu_locale_core::Locale;
use icu_plurals::{PluralCategory, PluralRules};

/// Fills the places of a text: `{name}` with the value of that name, and a plural in the form of ICU MessageFormat,
/// `{count, plural, one {# day} other {# days}}`, with the words for that count, where `#` is the count.
///
/// An unknown place stays as it is. A place within a value is not filled.
#[must_use]
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        let place = &rest[start + 1..];
        let (inner, behind) = place.split_at(closing(place).unwrap_or(0));
        if let Some(words) = place_words(inner, values) {
            filled += &words;
            rest = &behind[1..];
        } else {
            filled.push('{');
            rest = place;
        }
    }
    filled + rest
}

/// Returns the index of the brace that closes one before the text; `None` if none does.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

fn place_words(place: &str, values: &[(&str, &str)]) -> Option<String> {
    let Some((name, choice)) = place.split_once(", plural ") else {
        return value(place, values).map(str::to_owned);
    };
    let count = value(name, values)?;
    let (tag, branches) = choice.split_once(", ")?;
    let words = branch(branches, category(tag, count)).or_else(|| branch(branches, "other"))?;
    let parts: Vec<String> = words.split('#').map(|part| fill(part, values)).collect();
    Some(parts.join(count))
}

fn value<'a>(name: &str, values: &[(&str, &'a str)]) -> Option<&'a str> {
    values.iter().find(|(one, _)| *one == name).map(|(_, value)| *value)
}

/// Returns the plural category of a count in a language, by its name in CLDR; `other` for what is no whole number.
fn category(tag: &str, count: &str) -> &'static str {
    let locale = tag.parse::<Locale>().ok();
    let rules = locale.and_then(|locale| PluralRules::try_new_cardinal(locale.into()).ok());
    match rules.zip(count.parse::<u64>().ok()).map(|(rules, count)| rules.category_for(count)) {
        Some(PluralCategory::Zero) => "zero",
        Some(PluralCategory::One) => "one",
        Some(PluralCategory::Two) => "two",
        Some(PluralCategory::Few) => "few",
        Some(PluralCategory::Many) => "many",
        Some(PluralCategory::Other) | None => "other",
    }
}

/// Returns the words of a category in `one {…} few {…} other {…}`.
fn branch<'a>(branches: &'a str, category: &str) -> Option<&'a str> {
    let mut rest = branches;
    while let Some((name, words)) = rest.split_once('{') {
        let (words, behind) = words.split_at(closing(words)?);
        if name.trim() == category {
            return Some(words);
        }
        rest = &behind[1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_filled_twice() {
        assert_eq!(fill("{a} and {b} {c}", &[("a", "{b}"), ("b", "2")]), "{b} and 2 {c}");
    }

    #[test]
    fn a_place_that_is_not_closed_stays() {
        for text in ["{", "a {b", "{b, plural en, one {x}", "}{", "{}", "{{a}"] {
            assert_eq!(fill(text, &[("b", "2")]), text);
        }
    }

    #[test]
    fn a_count_decides_between_the_words_of_its_language() {
        let english = "one {# day} other {# days}";
        let russian = "one {# день} few {# дня} many {# дней} other {# дня}";
        let arabic = "zero {none} two {a pair} other {#}";
        for (tag, branches, count, wanted) in [
            ("en", english, "0", "0 days"),
            ("en", english, "1", "1 day"),
            ("en", english, "21", "21 days"),
            ("en", english, "many", "many days"),
            ("ru", russian, "1", "1 день"),
            ("ru", russian, "2", "2 дня"),
            ("ru", russian, "5", "5 дней"),
            ("ru", russian, "11", "11 дней"),
            ("ru", russian, "21", "21 день"),
            ("ar", arabic, "2", "a pair"),
            ("ar", arabic, "0", "none"),
            ("ja", "other {# of {who}}", "3", "3 of #{n}"),
        ] {
            let text = format!("{{n, plural {tag}, {branches}}} ({{who}})");
            let filled = fill(&text, &[("n", count), ("who", "#{n}")]);
            assert_eq!(filled, format!("{wanted} (#{{n}})"), "{tag} {count}");
        }
    }
}
