use std::collections::BTreeSet;

use icu_locale_core::Locale;
use icu_plurals::{PluralCategory, PluralRules};

use super::fill::closing;
use super::*;

/// Counts that fall into all plural categories of the languages between them.
const COUNTS: [u64; 7] = [0, 1, 2, 5, 11, 21, 100];

/// A plural of a text: its branches by the name of their category.
type Branches<'a> = Vec<(&'a str, &'a str)>;

/// Returns the names of all places of a text, and its plurals.
fn places(text: &str) -> (BTreeSet<&str>, Vec<Branches<'_>>) {
    let (mut names, mut plurals) = (BTreeSet::new(), Vec::new());
    let mut rest = text;
    while let Some((_, place)) = rest.split_once('{') {
        let (inner, behind) = place.split_at(closing(place).unwrap_or_else(|| panic!("not closed: {text}")));
        rest = &behind[1..];
        let Some((name, choice)) = inner.split_once(", plural ") else {
            // One text shows a piece of JSON.
            if inner.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                names.insert(inner);
            }
            continue;
        };
        names.insert(name);
        let mut branches = choice.split_once(", ").unwrap_or_else(|| panic!("{text}")).1;
        let mut plural = Vec::new();
        while let Some((category, words)) = branches.split_once('{') {
            let (words, behind) =
                words.split_at(closing(words).unwrap_or_else(|| panic!("not closed: {text}")));
            names.extend(places(words).0);
            plural.push((category.trim(), words));
            branches = &behind[1..];
        }
        assert_eq!(branches.trim(), "", "{text}");
        plurals.push(plural);
    }
    (names, plurals)
}

fn categories(tag: &str) -> BTreeSet<&'static str> {
    let locale: Locale = tag.parse().unwrap();
    let rules = PluralRules::try_new_cardinal(locale.into()).unwrap();
    let name = |category| match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    };
    // Some categories are only for fractions and for millions: no text needs them.
    COUNTS.into_iter().map(|count| name(rules.category_for(count))).chain(["other"]).collect()
}

#[test]
fn every_text_is_translated() {
    assert_eq!(MISSING, [""; 0], "these are shown in English: add them in prompts/locales");
}

#[test]
fn every_text_has_the_same_places_in_all_languages() {
    let locales = Locales::default();
    for (tag, texts) in locales.all() {
        for ((key, text), (_, english)) in texts.entries().zip(locales.of(Some("en")).entries()) {
            assert!(!text.trim().is_empty(), "{tag}: {key}");
            assert_eq!(places(text).0, places(english).0, "{tag}: {key}");
        }
    }
}

#[test]
fn every_plural_has_the_words_for_each_count_of_its_language() {
    let locales = Locales::default();
    let mut seen = 0;
    for (tag, texts) in locales.all() {
        let wanted = categories(tag);
        for (key, text) in texts.entries() {
            for plural in places(text).1 {
                let found: BTreeSet<&str> = plural.iter().map(|(category, _)| *category).collect();
                assert!(wanted.is_subset(&found), "{tag}: {key} has {found:?}, and needs {wanted:?}");
                assert_eq!(found.len(), plural.len(), "{tag}: {key}");
                seen += 1;
            }
            let english = places(locales.of(Some("en")).get(key).unwrap_or_default());
            let values: Vec<(&str, &str)> = english.0.iter().map(|name| (*name, "7")).collect();
            for count in COUNTS.map(|count| count.to_string()) {
                let values: Vec<(&str, &str)> =
                    values.iter().map(|(name, _)| (*name, count.as_str())).collect();
                let filled = fill(text, &values);
                assert!(!filled.contains(['{', '}', '#']) || !text.contains(", plural "), "{tag}: {filled}");
            }
        }
    }
    assert!(seen >= locales.all().count(), "{seen}");
}

#[test]
fn lists_have_a_word_for_each_of_their_things() {
    for (tag, texts) in Locales::default().all() {
        for (list, count) in [(texts.weekdays(), 7), (texts.months(), 12), (texts.month_days(), 31)] {
            assert_eq!(list.split_whitespace().count(), count, "{tag}: {list}");
        }
    }
}

/// Lists of names with words have the same names in all languages.
#[test]
fn lists_name_the_same_things_in_all_languages() {
    let locales = Locales::default();
    let names = |list: &'static str| -> BTreeSet<&str> {
        list.lines().map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line}")).0).collect()
    };
    let english = locales.of(Some("en"));
    for (tag, texts) in locales.all() {
        for list in [Texts::methods, Texts::errors, Texts::rules, Texts::writing] {
            assert_eq!(names(list(texts)), names(list(english)), "{tag}");
        }
    }
}

#[test]
fn a_tag_finds_its_language_and_english_is_for_the_rest() {
    let locales = Locales::default();
    assert_eq!(locales.of(Some("pt-BR")).language_name(), "Português");
    assert_eq!(locales.of(Some("xx")).language_name(), "English");
    assert_eq!(locales.of(None).language_name(), "English");
}

#[test]
fn words_name_a_language() {
    let locales = Locales::default();
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
        ("English and Latvian", None),
        ("", None),
    ];
    for (words, wanted) in cases {
        assert_eq!(locales.named(words), wanted, "{words}");
    }
    for (tag, texts) in locales.all() {
        assert_eq!(locales.named(texts.language_name()), Some(tag));
    }
}
