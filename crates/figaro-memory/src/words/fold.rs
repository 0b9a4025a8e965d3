//! Letters as they are compared: without case, accents and other marks, whichever way they were typed.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// The text in lower case, composed as it was typed; what stemmers take. The Turkish dotted capital loses its dot.
pub(crate) fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).filter(|c| *c != '\u{307}').collect()
}

/// Whether a mark goes when words are compared. The vowel signs of Indic scripts and Thai are no accents: they stay.
const fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'                                        // accents of Latin, Greek and Cyrillic
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'  // Arabic vowels
        | '\u{640}'                                                  // Arabic, stretched
        | '\u{93c}'                                                  // Devanagari nukta
        | '\u{591}'..='\u{5c7}' // Hebrew points
    )
}

/// One letter for letters that people type for each other.
const fn same(c: char) -> char {
    match c {
        'ı' => 'i',
        'ø' => 'o',
        'đ' => 'd',
        'ł' => 'l',
        'ς' => 'σ',
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' | 'ی' => 'ي',
        'ة' => 'ه',
        'ؤ' => 'و',
        'ئ' => 'ي',
        'ک' => 'ك',
        // Chandrabindu and anusvara; long and short vowels are no typing faults.
        'ँ' => 'ं',
        other => other,
    }
}

/// A word in lower case as it is compared.
pub(crate) fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(word);
    let mut folded = String::with_capacity(word.len());
    for c in decomposed.chars().filter(|c| !is_accent(*c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            c => folded.push(same(c)),
        }
    }
    Cow::Owned(folded)
}
