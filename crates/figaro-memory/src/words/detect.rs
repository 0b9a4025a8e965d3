//! Language detection: by script if that is enough, else by stop words, else by letter trigrams. A chat message is short,
//! so its language may stay unknown.

use whatlang::{Detector, Lang};

use super::language::StemmerLanguage;
use super::stop;

/// Languages in Latin letters among which letter trigrams may choose.
const LATIN: [Lang; 14] = [
    Lang::Eng,
    Lang::Por,
    Lang::Spa,
    Lang::Deu,
    Lang::Fra,
    Lang::Ita,
    Lang::Nld,
    Lang::Tur,
    Lang::Dan,
    Lang::Fin,
    Lang::Hun,
    Lang::Nob,
    Lang::Ron,
    Lang::Swe,
];

/// Minimum letters of a text for detection by trigrams.
const MIN_LETTERS: usize = 24;

/// Returns the language of a text; `None` if it is unknown or has no stemmer: Chinese, Japanese and Thai are cut into
/// n-grams by their script.
#[must_use]
pub(crate) fn detect(text: &str) -> Option<StemmerLanguage> {
    match script(text)? {
        Script::Latin => latin(text),
        Script::Only(language) => Some(language),
    }
}

enum Script {
    Latin,
    Only(StemmerLanguage),
}

/// Returns the script of most letters.
fn script(text: &str) -> Option<Script> {
    let mut latin = 0_usize;
    let mut others = [0_usize; 5];
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => others[0] += 1,
            '\u{400}'..='\u{52f}' => others[1] += 1,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => others[2] += 1,
            '\u{900}'..='\u{97f}' => others[3] += 1,
            '\u{b80}'..='\u{bff}' => others[4] += 1,
            _ => {}
        }
    }
    const LANGUAGES: [StemmerLanguage; 5] = [
        StemmerLanguage::Greek,
        StemmerLanguage::Russian,
        StemmerLanguage::Arabic,
        StemmerLanguage::Hindi,
        StemmerLanguage::Tamil,
    ];
    let most = others.into_iter().zip(LANGUAGES).max_by_key(|(count, _)| *count);
    match most {
        Some((count, language)) if count > latin => Some(Script::Only(language)),
        _ if latin > 0 => Some(Script::Latin),
        _ => None,
    }
}

fn latin(text: &str) -> Option<StemmerLanguage> {
    if let Some(language) = stop::vote(text) {
        return Some(language);
    }
    if text.chars().filter(|c| c.is_alphabetic()).take(MIN_LETTERS).count() < MIN_LETTERS {
        return None;
    }
    let found = Detector::with_allowlist(LATIN.to_vec()).detect(text)?;
    if found.is_reliable() { StemmerLanguage::of_whatlang(found.lang()) } else { None }
}
