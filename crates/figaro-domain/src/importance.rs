//! Importance of a message, from 0 (small talk) to 10 (vital). The rules are word lists in `importance.yaml`. A model may
//! judge differently later.

use std::sync::LazyLock;

use serde::Deserialize;

use super::record::ImportanceRules;

/// Importance of a message that no rule matches.
pub(crate) const BASE: f32 = 5.0;
/// Highest importance. Such a message is pinned, and is a candidate for every question.
pub(crate) const VITAL: f32 = 10.0;
/// Length below which a message counts as short, in characters.
const SHORT_CHARS: usize = 20;
/// Maximum length in characters of a vital message that is kept in full. The number of a contact may be in the next
/// statement.
const WHOLE_CHARS: usize = 400;
/// Maximum length in characters of a word that may be an abbreviation before a full stop.
const MAX_ABBREVIATION: usize = 3;
/// The last one is the Greek question mark, which looks like a semicolon.
const QUESTION_MARKS: [char; 4] = ['?', '？', '؟', '\u{37e}'];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportanceTerms {
    critical: Vec<String>,
    unless: Vec<String>,
    others: Vec<String>,
    domain: Vec<String>,
}

static TERMS: LazyLock<ImportanceTerms> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("importance.yaml")).unwrap_or_default());

/// Author kind of a message, for its importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A person: statements can be vital.
    Person,
    /// The model: never vital.
    Model,
}

/// Returns the importance of a message in a chat without context packs; see [`of_with`].
#[must_use]
pub(crate) fn of(by: By, text: &str) -> f32 {
    of_with(by, text, &ImportanceRules::default())
}

/// Returns the importance of a message by the rules of packs and the general rules. It starts at 5. Domain words add 2, a
/// question adds 1, a person as author adds 1, and a short text subtracts 1. A person's statement that may be vital is 10.
#[must_use]
pub fn of_with(by: By, text: &str, rules: &ImportanceRules) -> f32 {
    let is_person = by == By::Person;
    let plain = plain(text);
    let is_question = is_question(text);
    if is_person && vital_with(text, rules).is_some() {
        return VITAL;
    }
    let mut importance = BASE;
    let is_of_domain = has(&plain, &TERMS.domain)
        || has(&plain, &TERMS.critical)
        || has_of_pack(&plain, &rules.terms)
        || has_of_pack(&plain, &rules.critical);
    importance += if is_of_domain { 2.0 } else { 0.0 };
    importance += if is_question { 1.0 } else { 0.0 };
    importance += if is_person { 1.0 } else { 0.0 };
    let is_short = text.chars().nth(SHORT_CHARS - 1).is_none();
    importance -= if is_short { 1.0 } else { 0.0 };
    importance.clamp(0.0, VITAL)
}

/// Returns `true` if any word of the text ends in a question mark. A question mark inside a URL does not count.
#[must_use]
pub(crate) fn is_question(text: &str) -> bool {
    let asks = |word: &str| {
        let closed = |c: char| !c.is_alphanumeric() && !QUESTION_MARKS.contains(&c);
        word.trim_end_matches(closed).ends_with(QUESTION_MARKS)
    };
    text.contains(['¿', '？']) || text.split_whitespace().any(asks)
}

/// Returns `true` if the whole sentence is a question.
fn ends_in_question(sentence: &str) -> bool {
    sentence.trim_end().ends_with(QUESTION_MARKS) || sentence.contains(['¿', '？'])
}

/// Returns the possibly vital statements of a person's text in a chat without context packs; see [`vital_with`].
#[must_use]
pub(crate) fn vital(text: &str) -> Option<String> {
    vital_with(text, &ImportanceRules::default())
}

/// Returns the possibly vital statements of a person's text, by the rules of packs and the general rules. For a short text
/// these are all statements, without questions. For a longer one they are those with a critical term, each with the next
/// one. `None` if there are none.
#[must_use]
pub(crate) fn vital_with(text: &str, rules: &ImportanceRules) -> Option<String> {
    let is_critical = |plain: &str| has(plain, &TERMS.critical) || has_of_pack(plain, &rules.critical);
    // Most texts have no critical term.
    if !is_critical(&plain(text)) {
        return None;
    }
    let statements: Vec<&str> =
        sentences(text).into_iter().filter(|sentence| !ends_in_question(sentence)).collect();
    let is_vital = |sentence: &&str| {
        let plain = plain(sentence);
        is_critical(&plain) && !has(&plain, &TERMS.unless) && !has_of_pack(&plain, &rules.unless)
    };
    let vital: Vec<bool> = statements.iter().map(is_vital).collect();
    if !vital.contains(&true) {
        return None;
    }
    let is_short = text.chars().count() <= WHOLE_CHARS;
    let is_kept = |at: usize| is_short || vital[at] || (at > 0 && vital[at - 1]);
    let kept: Vec<&str> = (0..statements.len()).filter(|at| is_kept(*at)).map(|at| statements[at]).collect();
    Some(kept.join(" "))
}

/// Returns the words that refer to other people. Two otherwise equal texts about different people are not the same.
#[must_use]
pub fn others_in(text: &str) -> Vec<&'static str> {
    let plain = plain(text);
    let words: Vec<&str> = plain.split(|c: char| !c.is_alphanumeric()).collect();
    TERMS.others.iter().map(String::as_str).filter(|other| words.contains(other)).collect()
}

/// Splits a text into sentences, each with its punctuation.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '!' | '?' | '؟' | '।' => next.is_whitespace(),
            '.' => next.is_whitespace() && !is_abbreviation(&text[start..at]),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Returns `true` if the last word before a full stop may be an abbreviation, such as `Dr`.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    (1..=MAX_ABBREVIATION).contains(&word.chars().count()) && word.starts_with(char::is_uppercase)
}

/// Returns the text in lower case without Latin accents, with a single space before each word.
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
                // Dot of the Turkish capital İ in lower case.
                '\u{307}' => {}
                c => plain.push(c),
            }
        }
    }
    plain
}

/// Returns `true` if a word of the text begins with one of these terms of a pack. Such terms may have capitals and accents.
fn has_of_pack(text: &str, terms: &[String]) -> bool {
    !terms.is_empty()
        && has(text, &terms.iter().map(|term| plain(term).trim().to_owned()).collect::<Vec<_>>())
}

/// Returns `true` if a word of the text begins with one of these terms. In scripts without spaces a term may be anywhere.
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
            (By::Person, "I am allergic to nuts. What can I cook?", 10.0),
            (By::Person, "Emergency contact: Dr. Smith, 555-0100", 10.0),
            (By::Person, "Remember: I am not allergic to nuts any more", 10.0),
            (By::Person, "Meu filho é alérgico a leite", 10.0),
            (By::Person, "My allergies are back: penicillin gives me a rash", 10.0),
            // Talk about such things is not vital.
            (By::Person, "allergy season is bad this year", 8.0),
            (By::Person, "A época de alergia está terrível", 8.0),
            (By::Person, "I am allergic to Mondays", 8.0),
            (By::Person, "A recipe for people with allergies, please", 8.0),
            (By::Person, "If you are allergic to nuts, leave them out", 8.0),
            (By::Person, "Сезон аллергии в этом году тяжёлый", 8.0),
            (By::Person, "What blood type is the rarest? Tell me.", 9.0),
            // A question may stand anywhere; a semicolon and an address ask nothing.
            (By::Person, "Shall we go to the lake? It is warm", 7.0),
            (By::Person, "Who comes (and when?) to the lake", 7.0),
            (By::Person, "We went to the lake and it rained;", 6.0),
            (By::Person, "Θα πάμε στη λίμνη αύριο το πρωί;", 6.0),
            (By::Person, "Θα πάμε στη λίμνη αύριο το πρωί\u{37e}", 7.0),
            (By::Person, "The lake is at https://example.org/map?at=9", 6.0),
            (By::Person, "هل نذهب إلى البحيرة؟ الجو دافئ اليوم", 7.0),
        ];
        for (by, text, wanted) in cases {
            assert_eq!(of(by, text), wanted, "{by:?} {text}");
        }
        assert!(TERMS.unless.len() > 20 && TERMS.others.len() > 20, "a list was not read");
        assert!(TERMS.critical.len() > 20 && TERMS.domain.len() > 40, "the list was not read");
    }

    #[test]
    fn packs_add_rules_of_their_own() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let rules = ImportanceRules {
            terms: words(&["Pressão"]),
            critical: words(&["pacemaker"]),
            unless: words(&["film about"]),
        };
        let cases = [
            (By::Person, "A pressao subiu muito ontem", 8.0),
            (By::Model, "The lake was calm all the day", 5.0),
            (By::Person, "He has a pacemaker since May", 10.0),
            (By::Person, "Does he have a pacemaker, or not?", 9.0),
            (By::Person, "A film about a pacemaker was on TV", 8.0),
            (By::Person, "I am allergic to nuts, and so is he", 10.0),
        ];
        for (by, text, wanted) in cases {
            assert_eq!(of_with(by, text, &rules), wanted, "{by:?} {text}");
        }
        assert_eq!(of(By::Person, "He has a pacemaker since May"), 6.0, "without the pack it is small talk");
        assert_eq!(vital_with("He has a pacemaker. Ok?", &rules).as_deref(), Some("He has a pacemaker."));
    }

    #[test]
    fn what_is_vital_is_told_from_what_stands_around_it() {
        let long = format!(
            "{} I am allergic to nuts. A pen is in my bag. {}",
            "We went out. ".repeat(20),
            "It rained. ".repeat(20)
        );
        let cases = [
            ("I am allergic to nuts", Some("I am allergic to nuts")),
            ("Hi!\nI am allergic to nuts. What can I cook?", Some("Hi! I am allergic to nuts.")),
            (
                "My emergency contact is my sister. Her number is 555-0100. Ok?",
                Some("My emergency contact is my sister. Her number is 555-0100."),
            ),
            ("Emergency contact: Dr. Ann Lee, St. James", Some("Emergency contact: Dr. Ann Lee, St. James")),
            (&long, Some("I am allergic to nuts. A pen is in my bag.")),
            ("Who is allergic here?", None),
            ("The allergy season begins", None),
            ("", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(vital(text).as_deref(), wanted, "{text}");
        }
        assert_eq!(others_in("She is allergic to nuts"), ["she"]);
        assert!(others_in("I am allergic to shellfish").is_empty());
    }
}
