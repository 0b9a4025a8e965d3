//! Normalisation of letters for comparison: without case, accents and other marks, composed or not.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Returns the text in lower case, with its accents, as stemmers take it. The Turkish dotted capital loses its dot.
pub(crate) fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).filter(|c| *c != '\u{307}').collect()
}

/// Returns `true` for a mark that is ignored in comparisons. The vowel signs of Indic scripts and Thai are no accents:
/// they stay.
const fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'                                        // accents of Latin, Greek and Cyrillic
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'  // Arabic vowels
        | '\u{640}'                                                  // Arabic, stretched
        | '\u{93c}'                                                  // Devanagari nukta
        | '\u{591}'..='\u{5c7}' // Hebrew points
    )
}

/// Maps letters that people type for each other to one.
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
        // Chandrabindu and anusvara; long and short vowels are not mixed up by typing.
        'ँ' => 'ं',
        other => other,
    }
}

/// Returns a lower-case word in its form for comparison.
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
