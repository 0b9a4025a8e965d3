//! Word forms that a stemmer keeps apart though people take them for one word: spellings, irregular plurals, prefixes of
//! participles.

use std::borrow::Cow;

use super::language::StemmerLanguage;

/// Prepares a word for its stemmer: Portuguese plurals in -ões become singular, whose stem differs.
pub(super) fn singular(word: &str, language: StemmerLanguage) -> Cow<'_, str> {
    match word.strip_suffix("ões").filter(|_| language == StemmerLanguage::Portuguese) {
        Some(beginning) => Cow::Owned(format!("{beginning}ão")),
        None => Cow::Borrowed(word),
    }
}

/// Unifies spellings of a folded stem that sound alike in its language.
pub(super) fn spelling(stem: String, language: StemmerLanguage) -> String {
    match language {
        // Schluessel is Schlüssel.
        StemmerLanguage::German => stem.replace("ae", "a").replace("oe", "o").replace("ue", "u"),
        StemmerLanguage::Dutch => dutch(&stem),
        StemmerLanguage::Hindi => hindi(&stem),
        _ => stem,
    }
}

/// Unifies poes and poezen, muur and muren: a long vowel counts as a short one, a voiced end as a voiceless one.
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

/// Unifies the two spellings of a nasal before a consonant, and of the open o in English words.
fn hindi(stem: &str) -> String {
    let mut one = stem.replace('ॉ', "ा");
    for nasal in ['ङ', 'ञ', 'ण', 'न', 'म'] {
        one = one.replace(&format!("{nasal}्"), "ं");
    }
    one
}

/// Returns another form for finding a word: the consonants of an Arabic word, the verb of a German participle.
pub(super) fn other(folded: &str, stem: &str, language: StemmerLanguage) -> Option<String> {
    match language {
        StemmerLanguage::Arabic => arabic_root(stem),
        StemmerLanguage::German => {
            let bare = folded.strip_prefix("ge").filter(|bare| bare.chars().count() >= 4)?;
            let end = ["t", "en"].into_iter().find_map(|end| bare.strip_suffix(end));
            end.filter(|verb| verb.chars().count() >= 3).map(str::to_owned)
        }
        _ => None,
    }
}

/// Returns the consonants of an Arabic stem without a possible prefix: plurals and verbs change the vowels between them.
fn arabic_root(stem: &str) -> Option<String> {
    let consonants: Vec<char> = stem.chars().filter(|c| !matches!(c, 'ا' | 'و' | 'ي' | 'ه')).collect();
    let rest = match consonants[..] {
        ['ت' | 'ن' | 'م' | 'ي', ref rest @ ..] if rest.len() >= 3 => rest,
        ref all => all,
    };
    (rest.len() >= 2).then(|| rest.iter().collect())
}
