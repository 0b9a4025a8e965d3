//! How much a message matters, from 0 (small talk) to 10 (vital): rules over its words, which are data (`importance.yaml`). A
//! model may judge otherwise later.

use std::sync::LazyLock;

use serde::Deserialize;

/// The importance of a message that no rule says anything of.
pub const BASE: f32 = 5.0;
/// The most.
pub const VITAL: f32 = 10.0;
/// A message shorter than this says little.
const SHORT_CHARS: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Terms {
    critical: Vec<String>,
    domain: Vec<String>,
}

static TERMS: LazyLock<Terms> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("importance.yaml")).unwrap_or_default());

/// Whose words a message has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A person's.
    Person,
    /// The model's.
    Model,
}

/// How much the words of a message matter: 5; 2 more for words of the domain, 1 more for a question, 1 more for a person's, 1 less
/// for few words. A statement of a person that may be vital is 10.
#[must_use]
pub fn of(by: By, text: &str) -> f32 {
    let is_person = by == By::Person;
    let plain = plain(text);
    let is_question = text.trim_end().ends_with(['?', '？', '؟', ';']) || text.contains(['¿', '？']);
    if is_person && !is_question && has(&plain, &TERMS.critical) {
        return VITAL;
    }
    let mut importance = BASE;
    let is_of_domain = has(&plain, &TERMS.domain) || has(&plain, &TERMS.critical);
    importance += if is_of_domain { 2.0 } else { 0.0 };
    importance += if is_question { 1.0 } else { 0.0 };
    importance += if is_person { 1.0 } else { 0.0 };
    let is_short = text.chars().nth(SHORT_CHARS - 1).is_none();
    importance -= if is_short { 1.0 } else { 0.0 };
    importance.clamp(0.0, VITAL)
}

/// In lower case without the accents of Latin letters, words parted by single spaces, one before the first.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 1);
    for word in text.split_whitespace() {
        plain.push(' ');
        for c in word.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().flat_map(char::to_lowercase)
        {
            match c {
                'à'..='å' | 'ā' | 'ă' | 'ą' => plain.push('a'),
                'ç' | 'ć' | 'č' => plain.push('c'),
                'è'..='ë' | 'ē' | 'ė' | 'ę' => plain.push('e'),
                'ì'..='ï' | 'ı' | 'ī' => plain.push('i'),
                'ñ' | 'ń' => plain.push('n'),
                'ò'..='ö' | 'ø' => plain.push('o'),
                'ù'..='ü' | 'ū' => plain.push('u'),
                'ğ' => plain.push('g'),
                'ş' | 'ș' => plain.push('s'),
                'ё' => plain.push('е'),
                'ة' => plain.push('ه'),
                // The dot of a Turkish capital.
                '\u{307}' => {}
                c => plain.push(c),
            }
        }
    }
    plain
}

/// Whether a word of the text begins with one of these; scripts without spaces have them anywhere.
fn has(plain: &str, terms: &[String]) -> bool {
    terms.iter().any(|term| {
        let is_unspaced = term.chars().any(|c| ('\u{3040}'..='\u{9fff}').contains(&c));
        let mut found = plain.match_indices(term.as_str());
        found.any(|(at, _)| is_unspaced || plain[..at].ends_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_add_up() {
        let cases = [
            (By::Person, "We went to the lake and it rained", 6.0),
            (By::Model, "It will rain at the lake today", 5.0),
            (By::Person, "ok", 5.0),
            (By::Model, "Done.", 4.0),
            (By::Person, "Did it rain at the lake today?", 7.0),
            (By::Person, "My birthday is on the 5th of May", 8.0),
            (By::Person, "When is the birthday of my sister?", 9.0),
            (By::Person, "I am allergic to nuts", 10.0),
            (By::Person, "Sou alérgico a amendoim", 10.0),
            (By::Person, "У меня аллергия на арахис", 10.0),
            (By::Person, "我对花生过敏", 10.0),
            (By::Person, "(emergency contact: Ann, 555-0100)", 10.0),
            (By::Person, "Is she allergic to anything at all?", 9.0),
            (By::Model, "You are allergic to nuts, so leave it", 7.0),
            (By::Person, "The metallergy course was fun, really", 6.0),
            (By::Person, "", 5.0),
        ];
        for (by, text, wanted) in cases {
            assert_eq!(of(by, text), wanted, "{by:?} {text}");
        }
        assert!(TERMS.critical.len() > 20 && TERMS.domain.len() > 40, "the list was not read");
    }
}
