//! Pictures and sounds in a request.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::transcribe::tokens_of;

/// Words for a model that gets a sound. The words of the sound are found later in its answer.
const HINT: &str = "[You hear what is attached. Begin your answer with its words as a quote, or with what is said if it is long.]";
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

    /// Makes a sound, or a film with one, of this many seconds, at least one. Its type is that of its first bytes, since clients
    /// state wrong ones; `None` if it is none that models hear.
    #[must_use]
    pub fn sound(bytes: &[u8], seconds: u64, is_film: bool) -> Option<Self> {
        let mime_type = match bytes {
            [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
            [b'f', b'L', b'a', b'C', ..] => "audio/flac",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
            [0xFF, 0xF1 | 0xF9, ..] => "audio/aac",
            [b'I', b'D', b'3', ..] | [0xFF, 0xE2..=0xFF, ..] => "audio/mpeg",
            [_, _, _, _, b'f', b't', b'y', b'p', ..] if is_film => "video/mp4",
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => "audio/mp4",
            [0x1A, 0x45, 0xDF, 0xA3, ..] if is_film => "video/webm",
            [0x1A, 0x45, 0xDF, 0xA3, ..] => "audio/webm",
            _ => return None,
        };
        let (mime_type, seconds) = (mime_type.to_owned(), seconds.max(1));
        Some(Self { mime_type, seconds, base64: STANDARD.encode(bytes).into() })
    }

    /// Returns what a model is told of the sounds beside it; `None` if there are none. It stands where the sounds stand, so that a
    /// model that does not get them is not told of them.
    pub(super) fn hint(media: &[Self]) -> Option<&'static str> {
        media.iter().any(Self::is_sound).then_some(HINT)
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
