//! Pictures and sounds in a request.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::transcribe::tokens_of;

/// Assumed tokens of a picture: the most that current models count for a photo of Telegram.
const IMAGE_TOKENS: usize = 1_600;

/// Picture in a form that all providers accept, or a sound, for models that hear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaPart {
    /// MIME type, such as `image/jpeg` or `audio/ogg`.
    pub mime_type: String,
    /// Length of a sound or film in seconds; 0 for a picture.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seconds: u64,
    /// Content in base64. Shared, because a conversation is sent again with every pass.
    pub base64: Arc<str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(seconds: &u64) -> bool {
    *seconds == 0
}

impl MediaPart {
    /// Maximum size of a picture that all providers accept, in bytes.
    pub const MAX_BYTES: usize = 5 * 1024 * 1024;

    /// Creates a picture if all providers accept its format: JPEG, PNG, WebP or GIF, judged by the first bytes. Names
    /// and declared types may be wrong, and a provider refuses the whole request for one bad picture.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mime_type = Self::mime_of(bytes)?.to_owned();
        Some(Self { mime_type, seconds: 0, base64: STANDARD.encode(bytes).into() })
    }

    /// Makes a sound, or a film with one, of this many seconds, at least one.
    #[must_use]
    pub fn sound(mime_type: String, seconds: u64, bytes: &[u8]) -> Self {
        Self { mime_type, seconds: seconds.max(1), base64: STANDARD.encode(bytes).into() }
    }

    /// Returns `true` for a sound or a film, `false` for a picture.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        !self.mime_type.starts_with("image/")
    }

    /// Returns the tokens that it counts as, at most.
    pub(super) fn tokens(&self) -> usize {
        match self.is_sound() {
            true => usize::try_from(tokens_of(&self.mime_type, self.seconds)).unwrap_or(usize::MAX),
            false => IMAGE_TOKENS,
        }
    }

    /// Returns the MIME type of a picture in a format that all providers accept.
    pub(crate) const fn mime_of(bytes: &[u8]) -> Option<&'static str> {
        match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
            [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
            [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            _ => None,
        }
    }

    /// Reads the picture in a data URL, if all providers accept it.
    #[must_use]
    pub fn of_data_url(url: &str) -> Option<Self> {
        let (_, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
        Self::of(&STANDARD.decode(base64.trim()).ok()?)
    }

    /// Returns the picture as a data URL.
    #[must_use]
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.base64)
    }
}
