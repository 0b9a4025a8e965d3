//! Names of languages, as people write them.

use figaro_domain::language::primary;

/// Known languages, one per line: an ISO 639 code, a colon, and its names in the most spoken languages and its own.
const LANGUAGES: &str = include_str!("languages.txt");

/// Returns the ISO 639 codes of all languages that the words name.
pub(super) fn codes_in(words: &str) -> Vec<&'static str> {
    let (tag, said) = (primary(words.trim()).to_lowercase(), plain(words));
    let all = LANGUAGES.lines().filter_map(|line| line.split_once(": "));
    all.filter(|(code, names)| *code == tag || names.split(", ").any(|name| said.contains(&plain(name))))
        .map(|(code, _)| code)
        .collect()
}

/// Returns `true` if the words name an existing language: `Latvian`, `latviešu`, `Brazilian Portuguese`, `lv-LV`.
#[must_use]
pub fn name_a_language(words: &str) -> bool {
    !codes_in(words).is_empty()
}

/// Returns the ISO 639 code of a language if the words are exactly its name or code.
pub(super) fn code(words: &str) -> Option<&'static str> {
    let said = words.trim().to_lowercase();
    let mut all = LANGUAGES.lines().filter_map(|line| line.split_once(": "));
    all.find(|(code, names)| *code == said || names.split(", ").any(|name| name == said))
        .map(|(code, _)| code)
}

/// Returns the words in lower case, with a space around each.
fn plain(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_name_a_language_do() {
        for words in [
            "Latvian",
            "latviešu",
            "letão",
            "lv",
            "PT-br",
            "brazilian portuguese, please",
            "中文",
            "हिन्दी",
            "Gàidhlig",
        ] {
            assert!(name_a_language(words), "{words}");
        }
        for words in ["", "none", "asdf", "xx", "like a pirate", "-", "latv"] {
            assert!(!name_a_language(words), "{words}");
        }
        for (words, wanted) in
            [("Spanish", Some("es")), ("es", Some("es")), ("español", Some("es")), ("in Spanish", None)]
        {
            assert_eq!(code(words), wanted, "{words}");
        }
        assert!(
            LANGUAGES.lines().all(|line| line.split_once(": ").is_some_and(|(_, names)| !names.is_empty()))
        );
    }
}
