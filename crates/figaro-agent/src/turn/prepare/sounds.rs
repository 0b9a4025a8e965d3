//! Sounds for a model that hears: those of the question and of the message it replies to, as far as nobody has turned them into
//! words.

use std::time::Duration;

use tokio::time::timeout;

use super::pictures::{MAX_TOGETHER, asked};
use crate::channel::{Channel, FileError};
use crate::turn::transcription::{MAX_SOUNDS, length};
use figaro_domain::hearing::MAX_SECONDS;
use figaro_domain::message::{Attachment, AttachmentKind, Inbound};
use figaro_provider::MediaPart;

/// Maximum length of all sounds in base64, in characters. They are in memory, twice at times, until the turn has ended: ten such
/// turns at once must fit on a small server.
const MAX_LENGTH: usize = 8 * 1024 * 1024;
/// Timeout of a download; slower sounds are left out.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);
const TOO_LONG: &str = "it is too long or too large to be heard";

/// Fetches the sounds, by their file id; a missing one has the reason. `taken` is the length of the pictures in base64.
pub(super) async fn fetch(
    channel: &dyn Channel,
    question: &[Inbound],
    taken: usize,
) -> Vec<(String, Result<MediaPart, String>)> {
    let mut room = MAX_TOGETHER.saturating_sub(taken).min(MAX_LENGTH);
    let mut found = Vec::new();
    for sound in question.iter().flat_map(asked).filter(|one| one.is_unheard_sound()) {
        let Some(id) = sound.file_id.clone() else { continue };
        let most = room / 4 * 3;
        let media = match found.len() < MAX_SOUNDS {
            true => one(channel, sound, &id, most).await,
            false => Err("there are too many".to_owned()),
        };
        room = room.saturating_sub(media.as_ref().map_or(0, |media| media.base64.len()));
        found.push((id, media));
    }
    found
}

async fn one(channel: &dyn Channel, sound: &Attachment, id: &str, most: usize) -> Result<MediaPart, String> {
    if sound.seconds.unwrap_or(0) > MAX_SECONDS {
        return Err(TOO_LONG.to_owned());
    }
    match timeout(FETCH_TIMEOUT, channel.fetch(id, most)).await {
        Ok(Ok(bytes)) => {
            let is_film = matches!(sound.kind, AttachmentKind::Video | AttachmentKind::VideoNote)
                || sound.mime_type.as_deref().is_some_and(|mime| mime.starts_with("video/"));
            let part = MediaPart::sound(&bytes, length(sound, bytes.len()), is_film);
            part.ok_or_else(|| "it is empty, or in a format that cannot be heard".to_owned())
        }
        Ok(Err(FileError::TooBig)) => Err(TOO_LONG.to_owned()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a sound could not be fetched");
            Err("could not be fetched".to_owned())
        }
        Err(_elapsed) => Err("could not be fetched in time".to_owned()),
    }
}
