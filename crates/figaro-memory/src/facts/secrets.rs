//! Detection of secrets, by their shape and by the words around them: they are never remembered.

use super::lexicon::{LEXICON, NormalizedText};

/// Minimum length of a key: a run of letters and digits that has both.
const KEY_CHARS: usize = 20;
/// Minimum words of a wallet seed phrase.
const SEED_WORDS: usize = 12;
const KEY_BEGINNINGS: [&str; 12] =
    ["sk-", "pk_", "sk_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "akia", "eyj", "aiza", "glpat-"];

/// Returns `true` if a text contains a secret.
#[must_use]
pub fn has_secret(text: &str) -> bool {
    LEXICON.secrets.are_in(&NormalizedText::of(text))
        || text.contains("-----BEGIN")
        || has_card(text)
        || has_iban(text)
        || has_identity(text)
        || text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '(' | ')')).any(is_key)
        || is_seed(text)
}

/// Finds a card number: digits, also separated by spaces or dashes, with a valid checksum.
fn has_card(text: &str) -> bool {
    let mut digits: Vec<u32> = Vec::new();
    let mut gap = 0;
    for c in text.chars().chain(['x']) {
        match c.to_digit(10) {
            Some(digit) => {
                digits.push(digit);
                gap = 0;
            }
            None if matches!(c, ' ' | '-' | '\u{a0}' | '.') && gap == 0 => gap += 1,
            None => {
                if is_card(&digits) {
                    return true;
                }
                digits.clear();
                gap = 0;
            }
        }
    }
    false
}

fn is_card(digits: &[u32]) -> bool {
    let sum: u32 = (0..)
        .zip(digits.iter().rev())
        .map(|(at, digit)| match (at % 2 == 1, digit * 2) {
            (true, doubled) if doubled > 9 => doubled - 9,
            (true, doubled) => doubled,
            (false, _) => *digit,
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit > 0)
}

/// Finds an IBAN: two letters, two check digits and the rest, with remainder 1.
fn has_iban(text: &str) -> bool {
    let chars: Vec<char> = text.chars().filter(|c| !matches!(c, ' ' | '-' | '\u{a0}')).collect();
    (0..chars.len()).any(|from| {
        let may_begin = from == 0 || !chars[from - 1].is_ascii_digit();
        let run: Vec<char> =
            chars[from..].iter().take(34).take_while(|c| c.is_ascii_alphanumeric()).copied().collect();
        may_begin && (15..=run.len()).any(|length| is_iban(&run[..length]))
    })
}

fn is_iban(run: &[char]) -> bool {
    let begins = run[..2].iter().all(char::is_ascii_uppercase) && run[2..4].iter().all(char::is_ascii_digit);
    let digits = run.iter().filter(|c| c.is_ascii_digit()).count();
    if !begins || digits < 10 {
        return false;
    }
    let remainder = run[4..].iter().chain(&run[..4]).fold(0_u32, |rest, c| match c.to_digit(36) {
        Some(value) if value > 9 => (rest * 100 + value) % 97,
        Some(value) => (rest * 10 + value) % 97,
        None => 0,
    });
    remainder == 1
}

/// Finds national id numbers: `123-45-6789`, `123.456.789-09`.
fn has_identity(text: &str) -> bool {
    let shape = |word: &str| -> String {
        word.trim_end_matches(['.', ',', '!', '?'])
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect()
    };
    text.split_whitespace().any(|word| ["000-00-0000", "000.000.000-00"].contains(&shape(word).as_str()))
}

/// Detects a key or token of a service: by its prefix, or as a long mix of letters and digits.
fn is_key(word: &str) -> bool {
    let lowered = word.to_lowercase();
    let begins = KEY_BEGINNINGS.iter().any(|begin| lowered.starts_with(begin)) && word.len() >= 16;
    let is_address = word.contains("://") || word.contains('@') || word.contains('/');
    let run = word.split([':', '=']).any(|part| {
        let is_run = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+'));
        let has = |test: fn(&char) -> bool| part.chars().filter(test).count() >= 3;
        is_run && part.len() >= KEY_CHARS && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
    });
    begins || (run && !is_address)
}

/// Detects a seed phrase: twelve or more short English words without joining words.
fn is_seed(text: &str) -> bool {
    const JOINING: [&str; 14] =
        ["the", "and", "a", "i", "my", "to", "in", "of", "is", "for", "we", "you", "with", "that"];
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches([',', '.', ':'])).collect();
    let is_seed_word = |word: &&str| {
        (3..=8).contains(&word.len())
            && word.chars().all(|c| c.is_ascii_lowercase())
            && !JOINING.contains(word)
    };
    words.windows(SEED_WORDS).any(|run| run.iter().all(is_seed_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_shape() {
        for text in [
            "4111 1111 1111 1111",
            "My Visa: 5500-0000-0000-0004!",
            "DE89 3704 0044 0532 0130 00",
            "pay to GB82WEST12345698765432 please",
            "sk-proj-abcdEFGH1234567890",
            "ghp_0123456789abcdefABCDEF",
            "123456789:AAEhBP0av28bJ5kX0aWqyzQd9mJx1x2x3x4",
            "my password is hunter2",
            "minha senha é batata",
            "мой пароль qwerty",
            "我的密码是abc",
            "SSN 078-05-1120",
            "abandon ability able about above absent absorb abstract absurd abuse access accident",
            "-----BEGIN RSA PRIVATE KEY-----",
        ] {
            assert!(has_secret(text), "{text}");
        }
        for text in [
            "I was born on 12.05.1984",
            "My phone is +371 2612 3456",
            "I live at 221B Baker Street, London NW1 6XE",
            "I collected 1234567890123 stamps",
            "My site is https://example.com/a1b2c3d4e5f6g7h8i9j0k1",
            "I have two cats and a dog",
            "I work on pinball machines",
        ] {
            assert!(!has_secret(text), "{text}");
        }
    }
}
