//! Forms that a stemmer leaves apart though people take them for one word: spellings, irregular plurals, prefixes of participles.

use std::borrow::Cow;

use super::language::Language;

/// A word as its stemmer is given it: of Portuguese plurals in -ões the singular, which has another stem.
pub(super) fn singular(word: &str, language: Language) -> Cow<'_, str> {
    match word.strip_suffix("ões").filter(|_| language == Language::Portuguese) {
        Some(beginning) => Cow::Owned(format!("{beginning}ão")),
        None => Cow::Borrowed(word),
    }
}

/// A folded stem with one spelling for those of its language that sound alike.
pub(super) fn spelling(stem: String, language: Language) -> String {
    match language {
        // Schluessel is Schlüssel.
        Language::German => stem.replace("ae", "a").replace("oe", "o").replace("ue", "u"),
        Language::Dutch => dutch(&stem),
        Language::Hindi => hindi(&stem),
        _ => stem,
    }
}

/// poes and poezen, muur and muren: a long vowel counts as a short one, a soft end as a hard one.
fn dutch(stem: &str) -> String {
    let mut one = String::with_capacity(stem.len());
    for c in stem.chars() {
        let doubled = matches!(c, 'a' | 'e' | 'o' | 'u') && one.ends_with(c);
        if !doubled {
            one.push(c);
        }
    }
    match one.pop() {
        Some('z') => one.push('s'),
        Some('v') => one.push('f'),
        last => one.extend(last),
    }
    one
}

/// A nasal before a consonant is written as a dot or as a letter, and the open o of English words in two ways.
fn hindi(stem: &str) -> String {
    let mut one = stem.replace('ॉ', "ा");
    for nasal in ['ङ', 'ञ', 'ण', 'न', 'म'] {
        one = one.replace(&format!("{nasal}्"), "ं");
    }
    one
}

/// Another form that a word may be found by: of an Arabic word its consonants, of a German participle the verb.
pub(super) fn other(folded: &str, stem: &str, language: Language) -> Option<String> {
    match language {
        Language::Arabic => arabic_root(stem),
        Language::German => {
            let bare = folded.strip_prefix("ge").filter(|bare| bare.chars().count() >= 4)?;
            let end = ["t", "en"].into_iter().find_map(|end| bare.strip_suffix(end));
            end.filter(|verb| verb.chars().count() >= 3).map(str::to_owned)
        }
        _ => None,
    }
}

/// The consonants of an Arabic stem without its first where that may be a prefix: plurals and verbs change the vowels between
/// them.
fn arabic_root(stem: &str) -> Option<String> {
    let consonants: Vec<char> = stem.chars().filter(|c| !matches!(c, 'ا' | 'و' | 'ي' | 'ه')).collect();
    let rest = match consonants[..] {
        ['ت' | 'ن' | 'م' | 'ي', ref rest @ ..] if rest.len() >= 3 => rest,
        ref all => all,
    };
    (rest.len() >= 2).then(|| rest.iter().collect())
}
