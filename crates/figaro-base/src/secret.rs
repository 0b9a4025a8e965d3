//! Secrets and their redaction from logs, errors, prompts and chats.

use std::sync::Arc;

pub use secrecy::{ExposeSecret, SecretString};

/// Removes known secrets from text before it reaches a log or a person. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Vec<String>>);

impl Redactor {
    /// Makes a redactor of these secrets. Secrets under six bytes are ignored: redacting them would blank ordinary
    /// words.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Self::default().and_all(secrets)
    }

    /// Returns a redactor that also knows this secret.
    #[must_use]
    pub fn and(&self, secret: &SecretString) -> Self {
        self.and_all([secret])
    }

    /// Returns a redactor that also knows these secrets, except those under six bytes.
    #[must_use]
    pub fn and_all<'a>(&self, secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let further = secrets.into_iter().map(|s| s.expose_secret().to_owned()).filter(|s| s.len() >= 6);
        Self(Arc::new(self.0.iter().cloned().chain(further).collect()))
    }

    /// Replaces every known secret in the text by `[secret]`.
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

/// Returns `bytes` random bytes of the system's generator, in hexadecimal.
///
/// # Errors
/// If the system has no source of randomness. Never make a key without one.
pub fn random_hex(bytes: usize) -> Result<SecretString, getrandom::Error> {
    let mut buffer = vec![0_u8; bytes];
    getrandom::fill(&mut buffer)?;
    Ok(buffer.iter().map(|b| format!("{b:02x}")).collect::<String>().into())
}

/// Returns `count` letters, each chosen uniformly from `letters` by the system's generator. `letters` must have 1 to
/// 256 entries, all ASCII.
///
/// # Errors
/// If the system has no source of randomness.
pub fn random_letters(letters: &[u8], count: usize) -> Result<String, getrandom::Error> {
    let letters = letters.get(..256).unwrap_or(letters);
    // Numbers past the last full round are rejected: they would make some letters likelier.
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
