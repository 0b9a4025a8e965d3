//! Codes that grant access: invites that make an owner, and pairing codes that an owner gives to people. Only hashes are
//! stored.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use ring::digest::{SHA256, digest};
use ring::hmac;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// Hash of a code, in hexadecimal. The hash of an owner's invite is plain SHA-256, because that code is random and long. The
/// hash of a [`PairingCode`] is keyed, because a short code could be found by trying all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeHash(String);

impl CodeHash {
    /// Hashes the code of an owner's invite.
    #[must_use]
    pub fn of(code: &str) -> Self {
        Self(hex(digest(&SHA256, code.as_bytes()).as_ref()))
    }

    /// Compares the hashes in constant time.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

/// Code that lets one person in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairingCode {
    /// Keyed hash of the code, made by [`CodeKey::hash`].
    pub(crate) code: CodeHash,
    /// Time at which the code expires, UTC.
    pub(crate) expires_at: DateTime<Utc>,
}

impl PairingCode {
    /// Lifetime of a code, in hours.
    pub const HOURS: i64 = 24;
    /// Number of characters in a code.
    pub const LENGTH: usize = 8;
    /// Alphabet of a code. No two characters are easily confused, and without vowels no code is a word.
    pub const LETTERS: &[u8] = b"CDFHJKMNPQRTVWXY34679";

    /// Creates a code with this hash, valid from `now`.
    #[must_use]
    pub fn new(code: CodeHash, now: DateTime<Utc>) -> Self {
        Self { code, expires_at: now + TimeDelta::hours(Self::HOURS) }
    }

    /// Parses a code and returns it in the form that is hashed; `None` for any other text. Case, spaces and hyphens are
    /// ignored.
    #[must_use]
    pub fn read(text: &str) -> Option<String> {
        let typed = text.trim().chars().filter(|c| !matches!(c, ' ' | '-'));
        let code: String = typed.map(|c| c.to_ascii_uppercase()).take(Self::LENGTH + 1).collect();
        let is_code = code.len() == Self::LENGTH && code.bytes().all(|byte| Self::LETTERS.contains(&byte));
        is_code.then_some(code)
    }

    /// Returns `true` if a text is probably a mistyped code: about the right length, with at most two invalid characters, or written like
    /// one in capitals.
    #[must_use]
    pub fn is_mistyped(text: &str) -> bool {
        let typed = text.trim().bytes().filter(|c| !matches!(c, b' ' | b'-'));
        let typed: Vec<u8> = typed.map(|c| c.to_ascii_uppercase()).take(Self::LENGTH + 2).collect();
        let wrong = typed.iter().filter(|byte| !Self::LETTERS.contains(byte)).count();
        let is_near = typed.len().abs_diff(Self::LENGTH) <= 1;
        // Two words of this shape are hardly anything else.
        let is_shaped = text.trim().split_once('-').is_some_and(|(first, second)| {
            [first, second].iter().all(|half| half.len() == Self::LENGTH / 2 && half.to_uppercase() == **half)
        });
        is_near
            && (wrong <= 2 || is_shaped)
            && typed.iter().all(u8::is_ascii_alphanumeric)
            && Self::read(text).is_none()
    }

    /// Formats a code for people, such as `CDFH-3467`.
    #[must_use]
    pub fn shown(code: &str) -> String {
        match code.split_at_checked(Self::LENGTH / 2) {
            Some((first, second)) => format!("{first}-{second}"),
            None => code.to_owned(),
        }
    }
}

/// Key of the hashes of [`PairingCode`]s. It is not in the store, so that a copy of the store reveals no code. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct CodeKey(Arc<hmac::Key>);

impl CodeKey {
    /// Derives the key from a secret of the bot.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())))
    }

    /// Computes the keyed hash of a code as returned by [`PairingCode::read`].
    #[must_use]
    pub fn hash(&self, code: &str) -> CodeHash {
        CodeHash(hex(hmac::sign(&self.0, format!("pairing:{code}").as_bytes()).as_ref()))
    }
}

/// Formats bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads hexadecimal digits of either case; `None` if the text is none.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it_and_no_word_is_one() {
        let cases = [
            ("CDFH3467", Some("CDFH3467")),
            (" cdfh-3467 ", Some("CDFH3467")),
            ("CDFH 3467", Some("CDFH3467")),
            ("CDFH346", None),
            ("CDFH34679", None),
            ("CDFH346O", None),
            ("GREETING", None),
            ("hello", None),
            ("ÇDFH3467", None),
            ("", None),
        ];
        for (text, code) in cases {
            assert_eq!(PairingCode::read(text).as_deref(), code, "{text}");
        }
        for text in ["CDFH346", "cdfh-346o", "CDFH 34679", "C0FH-3467", "AAAA-BBBB"] {
            assert!(PairingCode::is_mistyped(text), "{text}");
        }
        for text in ["hello", "GREETING", "well-known", "covid19", "CDFH3467", "", "CDFH", "CDFH-3467?"] {
            assert!(!PairingCode::is_mistyped(text), "{text}");
        }
        assert_eq!(PairingCode::read(&PairingCode::shown("CDFH3467")).as_deref(), Some("CDFH3467"));
    }

    #[test]
    fn the_hash_is_the_common_one() {
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(CodeHash::of("abc").0, wanted);
    }

    #[test]
    fn a_hash_depends_on_the_key_and_the_code() {
        let (one, other) = (CodeKey::new("1:one"), CodeKey::new("1:two"));
        assert!(one.hash("CDFH3467").is(&one.hash("CDFH3467")));
        assert!(!one.hash("CDFH3467").is(&one.hash("CDFH3469")));
        assert!(!one.hash("CDFH3467").is(&other.hash("CDFH3467")));
        assert!(!one.hash("CDFH3467").is(&CodeHash::of("CDFH3467")));
    }
}
