//! Text to speech. Implemented by the folders of providers; called by the ledger alone, which books the cost.

use std::fmt::Debug;

use async_trait::async_trait;

use super::ProviderError;
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Maximum length of a text that is spoken, in characters, as OpenAI's API allows.
pub const MAX_CHARS: usize = 4_096;
/// Maximum length in tokens, as `gpt-4o-mini-tts` allows.
pub const MAX_TOKENS: usize = 2_000;
/// Tokens of sound for ten characters of text: OpenAI counts some 21 for a second, in which people say 15 letters, or four
/// characters of a script in which each is a syllable or a word.
const TOKENS_OF_TEN_LETTERS: u64 = 14;
const TOKENS_OF_TEN_SYLLABLES: u64 = 50;
/// First character of the scripts of China, Japan and Korea.
const FIRST_OF_SYLLABLES: char = '\u{2E80}';

/// A model that speaks.
#[async_trait]
pub trait SpeechModel: Debug + Send + Sync {
    /// Returns the name of the model.
    fn model(&self) -> &ModelName;

    /// Returns the words as a file that Telegram plays as a voice message: Opus in Ogg, MP3 or M4A.
    ///
    /// # Errors
    /// If the service does not answer, refuses the text, or gives a sound of another kind.
    async fn speak(&self, words: &SpokenText) -> Result<Vec<u8>, ProviderError>;
}

/// Text to be spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenText {
    /// Plain text of at most [`MAX_CHARS`] characters and [`MAX_TOKENS`] tokens.
    pub text: String,
    /// Name of the voice at the service.
    pub voice: String,
}

impl SpokenText {
    /// Returns the tokens that it counts as: services report none.
    #[must_use]
    pub fn estimate(&self) -> Usage {
        let input = u64::try_from(estimate_tokens(&self.text)).unwrap_or(u64::MAX);
        let of_ten = |letter: char| match letter < FIRST_OF_SYLLABLES {
            true => TOKENS_OF_TEN_LETTERS,
            false => TOKENS_OF_TEN_SYLLABLES,
        };
        Usage { input, cached: 0, output: self.text.chars().map(of_ten).sum::<u64>().div_ceil(10) }
    }
}

/// Checks that a service gave a sound that Telegram plays as a voice message, by its first bytes.
///
/// # Errors
/// `ProviderError::Foreign` for bytes of another kind.
pub(crate) fn checked(sound: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
    match sound.as_slice() {
        [b'O', b'g', b'g', b'S', ..] | [b'I', b'D', b'3', ..] | [0xFF, 0xE2..=0xFF, ..] => Ok(sound),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Ok(sound),
        _ => Err(ProviderError::Foreign("the answer is neither Opus in Ogg nor MP3 nor M4A".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_by_how_long_it_is_spoken_and_other_sounds_are_refused() {
        let output =
            |text: &str| SpokenText { text: text.to_owned(), voice: String::new() }.estimate().output;
        assert_eq!((output("ten letter"), output("ten letters"), output("船は正午に出る")), (14, 16, 35));
        for (bytes, is_taken) in [
            (&b"OggS\0"[..], true),
            (b"ID3\x04", true),
            (b"\xff\xfb\x90", true),
            (b"\0\0\0 ftypM4A ", true),
            (b"RIFF\0\0\0\0WAVE", false),
            (b"<html>", false),
            (b"", false),
        ] {
            assert_eq!(checked(bytes.to_vec()).is_ok(), is_taken, "{bytes:?}");
        }
    }
}
