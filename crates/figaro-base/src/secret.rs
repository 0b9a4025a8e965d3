//! Secrets and their redaction: what must never reach a log, an error, a prompt or a chat.

use std::sync::Arc;

pub use secrecy::{ExposeSecret, SecretString};

/// Removes known secrets from text that leaves for a log or a person. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Vec<String>>);

impl Redactor {
    /// Knows these secrets. Ones under six characters are left out: they would blank ordinary words.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Self::default().and_all(secrets)
    }

    /// Knows one more.
    #[must_use]
    pub fn and(&self, secret: &SecretString) -> Self {
        self.and_all([secret])
    }

    /// Knows these too, but for ones under six characters.
    #[must_use]
    pub fn and_all<'a>(&self, secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let further = secrets.into_iter().map(|s| s.expose_secret().to_owned()).filter(|s| s.len() >= 6);
        Self(Arc::new(self.0.iter().cloned().chain(further).collect()))
    }

    /// The text with every known secret replaced by `[secret]`.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[secret]"))
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.0.len())
    }
}

/// `bytes` random bytes of the system's generator, in hexadecimal.
///
/// # Errors
/// When the system has no source of randomness, which no key may be made without.
pub fn random_hex(bytes: usize) -> Result<SecretString, getrandom::Error> {
    let mut buffer = vec![0_u8; bytes];
    getrandom::fill(&mut buffer)?;
    Ok(buffer.iter().map(|b| format!("{b:02x}")).collect::<String>().into())
}

/// So many of these bytes, each chosen with equal chance by the system's generator. There must be 1 to 256 of them, all ASCII.
///
/// # Errors
/// When the system has no source of randomness.
pub fn random_letters(letters: &[u8], count: usize) -> Result<String, getrandom::Error> {
    let letters = letters.get(..256).unwrap_or(letters);
    // What is beyond the last whole round would make some letters likelier.
    let rounds = 256_usize.checked_div(letters.len()).unwrap_or_default() * letters.len();
    let mut chosen = String::with_capacity(count);
    let mut byte = [0_u8];
    while chosen.len() < count && rounds > 0 {
        getrandom::fill(&mut byte)?;
        let number = usize::from(byte[0]);
        if number < rounds {
            chosen.extend(letters.get(number % letters.len()).map(|letter| char::from(*letter)));
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_letters_are_of_those_and_all_of_them_come() {
        let text = random_letters(b"abc", 600).unwrap();
        assert_eq!(text.len(), 600);
        for letter in ['a', 'b', 'c'] {
            assert!(text.matches(letter).count() > 100, "{text}");
        }
        assert_eq!(text.replace(['a', 'b', 'c'], ""), "");
        assert_eq!(random_letters(b"", 5).unwrap(), "");
    }

    #[test]
    fn secrets_are_removed_wherever_they_stand() {
        let token = SecretString::from("12:ABCDEF");
        let redactor = Redactor::new([&token]);
        assert_eq!(redactor.clean("http://x/bot12:ABCDEF/getMe failed"), "http://x/bot[secret]/getMe failed");
    }
}
