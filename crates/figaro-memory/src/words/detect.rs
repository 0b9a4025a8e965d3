//! Which language a text is written in: by its script where that tells, else by the little words that each language has, else by
//! the frequency of its letter triples. A chat message is short, so it may stay open.

use whatlang::{Detector, Lang};

use super::language::Language;
use super::stop;

/// The languages in Latin letters that letter triples may choose between.
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

/// A text with fewer letters than this is not told by its letter triples.
const MIN_LETTERS: usize = 24;

/// The language of a text; `None` where it cannot be told, or has no stems: Chinese, Japanese and Thai are cut into n-grams
/// by their script.
#[must_use]
pub(crate) fn detect(text: &str) -> Option<Language> {
    match script(text)? {
        Script::Latin => latin(text),
        Script::Only(language) => Some(language),
    }
}

enum Script {
    Latin,
    Only(Language),
}

/// The script of most letters.
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
    const LANGUAGES: [Language; 5] =
        [Language::Greek, Language::Russian, Language::Arabic, Language::Hindi, Language::Tamil];
    let most = others.into_iter().zip(LANGUAGES).max_by_key(|(count, _)| *count);
    match most {
        Some((count, language)) if count > latin => Some(Script::Only(language)),
        _ if latin > 0 => Some(Script::Latin),
        _ => None,
    }
}

fn latin(text: &str) -> Option<Language> {
    if let Some(language) = stop::vote(text) {
        return Some(language);
    }
    if text.chars().filter(|c| c.is_alphabetic()).take(MIN_LETTERS).count() < MIN_LETTERS {
        return None;
    }
    let found = Detector::with_allowlist(LATIN.to_vec()).detect(text)?;
    if found.is_reliable() { Language::of_whatlang(found.lang()) } else { None }
}
