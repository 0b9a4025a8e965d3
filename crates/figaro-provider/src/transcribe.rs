//! Speech to text. Implemented by the folders of providers; called by the ledger alone, which books the cost.

use std::fmt::Debug;

use async_trait::async_trait;

use super::ProviderError;
use figaro_domain::hearing::MAX_SECONDS;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Tokens that a second of sound counts as where a service reports none: what Gemini's documentation says
/// (<https://ai.google.dev/gemini-api/docs/audio>).
const TOKENS_OF_SECOND: u64 = 32;
/// Tokens that a second of a video counts as, with its pictures, by the same documentation.
const TOKENS_OF_VIDEO_SECOND: u64 = 300;
/// Maximum tokens of text for a second of speech.
const TEXT_TOKENS_OF_SECOND: u64 = 8;

/// A model that turns speech into text.
#[async_trait]
pub trait Transcriber: Debug + Send + Sync {
    /// Returns the name of the model.
    fn model(&self) -> &ModelName;

    /// Returns the maximum length of a sound, in seconds.
    fn max_seconds(&self) -> u64 {
        MAX_SECONDS
    }

    /// Returns what is said; an empty text if there are no words.
    ///
    /// # Errors
    /// If the service does not answer, or refuses the sound.
    async fn transcribe(&self, sound: Sound) -> Result<Transcript, ProviderError>;
}

/// A sound or a film with sound.
#[derive(Clone)]
pub struct Sound {
    /// Name of the file; its ending tells services the format.
    pub name: String,
    /// Media type, such as `audio/ogg`.
    pub mime: String,
    /// Length in seconds, as the sender's client states it.
    pub seconds: u64,
    /// Content of the file, in the format of `mime`.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Sound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sound")
            .field("name", &self.name)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl Sound {
    /// Returns the tokens that it counts as, at most: those of the sound, and those of its words.
    #[must_use]
    pub fn estimate(&self) -> Usage {
        let seconds = self.seconds.max(1);
        Usage { input: tokens_of(&self.mime, seconds), ..of_seconds(seconds) }
    }
}

/// Returns the tokens that so many seconds of a sound or a film count as in a request.
pub(crate) fn tokens_of(mime: &str, seconds: u64) -> u64 {
    seconds * if mime.starts_with("video/") { TOKENS_OF_VIDEO_SECOND } else { TOKENS_OF_SECOND }
}

/// Returns the tokens that so many seconds of sound and their words count as.
pub(crate) const fn of_seconds(seconds: u64) -> Usage {
    Usage { input: seconds * TOKENS_OF_SECOND, cached: 0, output: seconds * TEXT_TOKENS_OF_SECOND }
}

/// Words that were heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Words in the language that is spoken; empty if nobody speaks.
    pub text: String,
    /// Tokens that the service counted; `None` if it tells none.
    pub usage: Option<Usage>,
}
