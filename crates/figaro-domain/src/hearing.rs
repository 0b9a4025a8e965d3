//! Limits of sounds that are heard, and what a model on this machine hears in one: the words between the bot and its child
//! process that hears.

use serde::{Deserialize, Serialize};

/// Argument by which the program starts as the child that hears.
pub const LISTENER: &str = "hear";
/// Maximum size of a sound, in bytes: what Telegram lets bots download.
pub const MAX_SOUND_BYTES: usize = 20 * 1024 * 1024;
/// Argument with which the child cuts a sound into parts, in place of a model's folder.
pub const CUTTER: &str = "--parts";
/// Maximum length of a sound that is heard at once, in seconds, as OpenAI's models allow.
pub const MAX_SECONDS: u64 = 1_500;
/// Maximum length of a sound that is heard in parts, in seconds.
pub const MAX_PARTED_SECONDS: u64 = 7_200;
/// Length of such a part, in seconds.
pub const PART_SECONDS: u64 = 300;

/// Words in a sound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardSpeech {
    /// Words in the language that is spoken; empty if nobody speaks.
    pub text: String,
    /// Code of the language, such as `en`; `None` if nobody speaks, or the model knows only one.
    pub language: Option<String>,
    /// Length of the sound.
    pub milliseconds: u64,
}

/// Reason why a sound could not be heard. The words complete "The sound ...".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum HearingError {
    /// The format is not known, or the file is no sound.
    #[error("is in a format that cannot be heard")]
    Unknown,
    /// The file does not follow its format.
    #[error("is damaged")]
    Damaged,
    /// There are no samples: the file is empty, or a film without sound.
    #[error("is empty")]
    Empty,
    /// The sound is too long or too large, or takes too much time or memory.
    #[error("is too long to be heard")]
    TooLong,
    /// The model cannot be used. The owner must act.
    #[error("could not be heard: {0}")]
    Model(String),
}

/// Result of hearing a sound.
pub type Hearing = Result<HeardSpeech, HearingError>;
