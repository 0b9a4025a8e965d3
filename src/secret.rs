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
        let known = secrets.into_iter().map(|s| s.expose_secret().to_owned()).filter(|s| s.len() >= 6);
        Self(Arc::new(known.collect()))
    }

    /// Knows one more.
    #[must_use]
    pub fn and(&self, secret: &SecretString) -> Self {
        let known = self.0.iter().cloned().chain([secret.expose_secret().to_owned()]);
        Self(Arc::new(known.collect()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed_wherever_they_stand() {
        let token = SecretString::from("12:ABCDEF");
        let redactor = Redactor::new([&token]);
        assert_eq!(redactor.clean("http://x/bot12:ABCDEF/getMe failed"), "http://x/bot[secret]/getMe failed");
    }
}
