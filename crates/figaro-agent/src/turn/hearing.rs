//! Words of voice messages and other sounds: fetched, turned into text by the transcriber, shown in the chat, and used as the
//! text of the message. Called before a turn begins, so that the words are stored with the question.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::question::Question;
use crate::channel::{Channel, FileError};
use figaro_domain::message::{Attachment, AttachmentKind, HearingResult, Inbound};
use figaro_domain::usage::Payer;
use figaro_ledger::{Ledger, LedgerError};
use figaro_provider::transcribe::{Sound, Transcriber};

/// Maximum size of a sound, in bytes: what Telegram lets bots download.
const MAX_BYTES: usize = 20 * 1024 * 1024;
/// Maximum length of a sound, in seconds, as OpenAI's models allow.
const MAX_SECONDS: u64 = 1_500;
/// Maximum number of sounds of a question.
const MAX_SOUNDS: usize = 5;

/// Hears what people send. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ears {
    /// Turns speech into text; `None` if nothing is heard.
    pub transcriber: Option<Arc<dyn Transcriber>>,
    /// Books what it costs.
    pub ledger: Arc<Ledger>,
    /// Fetches sounds and shows the words.
    pub channel: Arc<dyn Channel>,
}

impl Ears {
    /// Returns the question with the words of its sounds, and the parts whose words are new: [`Self::show`] shows them once the
    /// question is stored.
    pub(crate) async fn hear(
        &self,
        mut question: Question,
        stop: &CancellationToken,
    ) -> (Question, Vec<Inbound>) {
        let mut heard = Vec::new();
        let Some(transcriber) = &self.transcriber else { return (question, heard) };
        let mut hearing = Listening { ears: self, transcriber: &**transcriber, stop, left: MAX_SOUNDS };
        for part in &mut question.parts {
            let payer = Payer { chat: part.place.chat, user: part.speaker.user.clone() };
            let words = hearing.words_of(&mut part.attachments, &payer).await;
            if !words.is_empty() {
                let is_own = !part.text.trim().is_empty();
                let own = std::mem::take(&mut part.text);
                let texts: Vec<String> = is_own.then_some(own).into_iter().chain(words).collect();
                part.text = texts.join("\n\n");
                heard.push(part.clone());
            }
            if let Some(quoted) = part.quotes.as_mut().filter(|quoted| quoted.text.trim().is_empty()) {
                quoted.text = hearing.words_of(&mut quoted.attachments, &payer).await.join("\n\n");
            }
        }
        (question, heard)
    }

    /// Shows the words of sounds under their messages. A failure is only logged.
    pub(crate) async fn show(&self, heard: Vec<Inbound>) {
        for part in heard {
            if let Some(message) = part.origin.message() {
                self.channel.show_heard(&part.place, message, &part.text).await;
            }
        }
    }
}

/// Listening of one question.
struct Listening<'a> {
    ears: &'a Ears,
    transcriber: &'a dyn Transcriber,
    stop: &'a CancellationToken,
    /// Number of sounds that may still be heard.
    left: usize,
}

impl Listening<'_> {
    /// Returns the words of the sounds among these attachments, and notes what became of each.
    async fn words_of(&mut self, attachments: &mut [Attachment], payer: &Payer) -> Vec<String> {
        let mut all = Vec::new();
        for sound in attachments.iter_mut().filter(|one| one.is_sound() && one.heard.is_none()) {
            let stop = self.stop;
            let words = tokio::select! {
                words = self.words(sound, payer) => words,
                () = stop.cancelled() => Err(HearingResult::Failed),
            };
            sound.heard = Some(match &words {
                Ok(words) if words.is_empty() => HearingResult::Nothing,
                Ok(_) => HearingResult::Words,
                Err(reason) => *reason,
            });
            all.extend(words.ok().filter(|words| !words.is_empty()));
        }
        all
    }

    async fn words(&mut self, attachment: &Attachment, payer: &Payer) -> Result<String, HearingResult> {
        self.left = self.left.checked_sub(1).ok_or(HearingResult::TooLong)?;
        let seconds = attachment.seconds.unwrap_or(0);
        if seconds > MAX_SECONDS {
            return Err(HearingResult::TooLong);
        }
        let file_id = attachment.file_id.as_deref().ok_or(HearingResult::Failed)?;
        let bytes = self.ears.channel.fetch(file_id, MAX_BYTES).await.map_err(|error| {
            tracing::info!(%error, "a sound could not be fetched");
            if error == FileError::TooBig { HearingResult::TooLong } else { HearingResult::Failed }
        })?;
        let (name, mime) = format(attachment);
        // A client may state no length: at 16 kbit/s, which is little, it is at most this.
        let seconds = if seconds == 0 { bytes.len() as u64 / 2_000 } else { seconds };
        let sound = Sound { name, mime, seconds, bytes };
        match self.ears.ledger.transcribe(self.transcriber, &sound, payer.clone()).await {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => {
                tracing::warn!(%error, label = error.label(), "a sound could not be heard");
                Err(match error {
                    LedgerError::OverBudget | LedgerError::Unpriced(_) => HearingResult::OverBudget,
                    _ => HearingResult::Failed,
                })
            }
        }
    }
}

/// Returns the name and the media type of a sound. Services tell the format by the ending of the name.
fn format(attachment: &Attachment) -> (String, String) {
    let by_kind = match attachment.kind {
        AttachmentKind::Voice => ("voice.ogg", "audio/ogg"),
        AttachmentKind::Video | AttachmentKind::VideoNote => ("video.mp4", "video/mp4"),
        _ => ("audio.mp3", "audio/mpeg"),
    };
    let mime = attachment.mime_type.as_deref().unwrap_or(by_kind.1);
    let ending = match mime {
        "audio/ogg" | "audio/opus" | "application/ogg" => "ogg",
        "audio/mp4" | "audio/x-m4a" | "audio/m4a" | "audio/aac" => "m4a",
        "audio/wav" | "audio/x-wav" | "audio/vnd.wave" => "wav",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/webm" | "video/webm" => "webm",
        "video/mp4" | "video/quicktime" => "mp4",
        "audio/mpeg" | "audio/mp3" => "mp3",
        _ => return (by_kind.0.to_owned(), mime.to_owned()),
    };
    (format!("sound.{ending}"), mime.to_owned())
}
