//! Text to speech. Implemented by the folders of providers; called by the ledger alone, which books the cost.

use std::fmt::Debug;

use async_trait::async_trait;

use super::ProviderError;
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Maximum length of a text that is spoken, in characters, as OpenAI's API allows.
pub const MAX_CHARS: usize = 4_096;
/// Tokens of sound for ten characters of text: OpenAI counts some 21 for a second, in which people say 15 characters.
const TOKENS_OF_TEN_CHARS: u64 = 14;

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
    /// Plain text of at most [`MAX_CHARS`] characters.
    pub text: String,
    /// Name of the voice at the service.
    pub voice: String,
}

impl SpokenText {
    /// Returns the tokens that it counts as: services report none.
    #[must_use]
    pub fn estimate(&self) -> Usage {
        let input = u64::try_from(estimate_tokens(&self.text)).unwrap_or(u64::MAX);
        let chars = u64::try_from(self.text.chars().count()).unwrap_or(u64::MAX);
        Usage { input, cached: 0, output: chars.saturating_mul(TOKENS_OF_TEN_CHARS).div_ceil(10) }
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
