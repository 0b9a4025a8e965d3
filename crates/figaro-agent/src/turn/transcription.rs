//! Transcription of voice messages and other sounds: they are fetched and turned into text, which is shown in the chat and used as
//! the text of the message. Called before a turn begins, so that the words are stored with the question.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::question::Question;
use crate::channel::{Channel, FileError};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::cut_middle;
use figaro_domain::hearing::{MAX_PARTED_SECONDS, MAX_SOUND_BYTES};
use figaro_domain::message::{Attachment, AttachmentKind, HearingResult, Inbound};
use figaro_domain::usage::Payer;
use figaro_ledger::{Ledger, LedgerError};
use figaro_provider::ProviderError;
use figaro_provider::transcribe::{Sound, Transcriber};

/// Maximum number of sounds of a question.
pub(super) const MAX_SOUNDS: usize = 5;
/// Number of sounds that are in memory at once.
pub const AT_ONCE: usize = 2;
/// Time for all sounds of a question, and the part of their length that is added.
const TIMEOUT: Duration = Duration::from_secs(240);
const OF_LENGTH: u64 = 10;
/// Time to show the words, and part of it that the answer waits.
const SHOW_TIMEOUT: Duration = Duration::from_secs(60);
const SHOWN_BEFORE: Duration = Duration::from_secs(2);
/// Bytes of a second of sound, where little and where much is spent on it: 16 and 320 kbit/s, and 64 kbit/s for a voice message.
const LEAST_BYTES: u64 = 2_000;
const MOST_BYTES: u64 = 40_000;
const MOST_VOICE_BYTES: u64 = 8_000;
/// Characters of a second of fast speech. A service that writes more writes no transcript.
const MAX_CHARS: usize = 40;
/// Characters that are shown of the words: one message of Telegram has room for them.
const SHOWN_CHARS: usize = 3_800;
/// Stands for the rest of words that are cut.
const CUT: &str = " […]";

/// Turns the sounds of questions into text. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Transcription {
    /// Turns speech into text; `None` if nothing is heard.
    pub transcriber: Option<Arc<dyn Transcriber>>,
    /// Books what it costs.
    pub ledger: Arc<Ledger>,
    /// Fetches sounds and shows the words.
    pub channel: Arc<dyn Channel>,
    /// Tracks the messages that show the words.
    pub background: TaskTracker,
    /// Places for sounds in memory, [`AT_ONCE`] of them.
    pub places: Arc<Semaphore>,
}

impl Transcription {
    /// Returns the question with the words of its sounds, and the parts whose words are new: [`Self::show`] shows them once the
    /// question is stored.
    pub(crate) async fn hear(
        &self,
        mut question: Question,
        stop: &CancellationToken,
    ) -> (Question, Vec<Inbound>) {
        let mut heard = Vec::new();
        let Some(transcriber) = &self.transcriber else { return (question, heard) };
        let mut hearing = QuestionSounds {
            transcription: self,
            transcriber: &**transcriber,
            stop,
            left: MAX_SOUNDS,
            deadline: Instant::now() + TIMEOUT,
        };
        let sounds = question.parts.iter().flat_map(|part| &part.attachments).filter(|one| one.is_sound());
        let seconds: u64 =
            sounds.filter_map(|one| one.seconds).map(|seconds| seconds.min(MAX_PARTED_SECONDS)).sum();
        hearing.deadline += Duration::from_secs(seconds / OF_LENGTH);
        let (task, key) = (question.task.as_ref().map(|task| task.id), question.key());
        for part in &mut question.parts {
            let payer = Payer::new(part.place.chat, part.speaker.user.clone());
            let payer = Payer { task, key: key.clone(), ..payer };
            let words = hearing.words_of(&mut part.attachments, &payer).await;
            if !words.is_empty() {
                add_words(&mut part.text, words);
                heard.push(part.clone());
            }
            // The text of a spoken answer of a bot stands beside it.
            if let Some(quoted) = part.quotes.as_mut().filter(|quoted| quoted.from_person) {
                let words = hearing.words_of(&mut quoted.attachments, &payer).await;
                add_words(&mut quoted.text, words);
            }
        }
        (question, heard)
    }

    /// Like [`Self::hear`], for a question that is asked again: listens once more to what failed.
    pub(crate) async fn hear_again(
        &self,
        mut question: Question,
        stop: &CancellationToken,
    ) -> (Question, Vec<Inbound>) {
        use HearingResult::{Failed, OverBudget, Unpriced};
        for attachment in question.parts.iter_mut().flat_map(|part| &mut part.attachments) {
            attachment.heard =
                attachment.heard.filter(|heard| !matches!(heard, Failed | OverBudget | Unpriced));
        }
        self.hear(question, stop).await
    }

    /// Shows the words of sounds under their messages, in the background: Telegram may be slow. The answer waits for it a
    /// moment, so that it comes after the words.
    pub(crate) async fn show(&self, heard: Vec<Inbound>) {
        if heard.is_empty() {
            return;
        }
        let (shown, done) = oneshot::channel::<()>();
        let channel = self.channel.clone();
        self.background.spawn("transcripts", async move {
            let showing = async {
                for part in heard {
                    if let Some(message) = part.origin.message() {
                        channel
                            .show_transcript(
                                &part.place,
                                message,
                                &cut_middle(&part.text, SHOWN_CHARS, 0, CUT),
                            )
                            .await;
                    }
                }
            };
            if timeout(SHOW_TIMEOUT, showing).await.is_err() {
                tracing::warn!("the words of a sound could not be shown in time");
            }
            drop(shown);
        });
        drop(timeout(SHOWN_BEFORE, done).await);
    }
}

/// The sounds of one question.
struct QuestionSounds<'a> {
    transcription: &'a Transcription,
    transcriber: &'a dyn Transcriber,
    stop: &'a CancellationToken,
    /// Number of sounds that may still be heard.
    left: usize,
    deadline: Instant,
}

impl QuestionSounds<'_> {
    /// Returns the words of the sounds among these attachments, and notes what became of each.
    async fn words_of(&mut self, attachments: &mut [Attachment], payer: &Payer) -> Vec<String> {
        let mut all = Vec::new();
        for sound in attachments.iter_mut().filter(|one| one.is_sound() && one.heard.is_none()) {
            let (stop, deadline) = (self.stop, self.deadline);
            let words = tokio::select! {
                words = timeout_at(deadline, self.words(sound, payer)) => words.unwrap_or(Err(HearingResult::Failed)),
                // The turn is not begun, or ends before it needs them.
                () = stop.cancelled() => return all,
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
        if seconds > self.transcriber.max_seconds() {
            return Err(HearingResult::TooLong);
        }
        let _place = self.transcription.places.acquire().await.map_err(|_closed| HearingResult::Failed)?;
        let file_id = attachment.file_id.as_deref().ok_or(HearingResult::Failed)?;
        let bytes = self.transcription.channel.fetch(file_id, MAX_SOUND_BYTES).await.map_err(|error| {
            tracing::info!(%error, "a sound could not be fetched");
            if error == FileError::TooBig { HearingResult::TooLong } else { HearingResult::Failed }
        })?;
        let (name, mime) = format(attachment);
        let seconds = length(attachment, bytes.len());
        let most =
            MAX_CHARS.saturating_mul(usize::try_from(seconds).unwrap_or(usize::MAX).saturating_add(30));
        let sound = Sound { name, mime, seconds, bytes };
        match self.transcription.ledger.transcribe(self.transcriber, sound, payer.clone()).await {
            Ok(text) => Ok(cut_middle(text.trim(), most, 0, CUT)),
            Err(error) => {
                tracing::warn!(%error, label = error.label(), "a sound could not be heard");
                Err(match error {
                    LedgerError::OverBudget(_) => HearingResult::OverBudget,
                    LedgerError::Unpriced(_) => HearingResult::Unpriced,
                    LedgerError::Model(ProviderError::Unreadable(_)) => HearingResult::Unreadable,
                    LedgerError::Model(ProviderError::TooLong(_)) => HearingResult::TooLong,
                    _ => HearingResult::Failed,
                })
            }
        }
    }
}

/// Adds words that were heard to the text or caption of their message.
fn add_words(text: &mut String, words: Vec<String>) {
    for words in words {
        text.push_str(if text.trim().is_empty() { "" } else { "\n\n" });
        text.push_str(&words);
    }
}

/// Returns the length of a sound of this many bytes, in seconds. A client may state no length, or a wrong one.
pub(super) fn length(attachment: &Attachment, bytes: usize) -> u64 {
    let bytes = bytes as u64;
    match attachment.seconds.unwrap_or(0) {
        0 => bytes / LEAST_BYTES,
        stated if attachment.kind == AttachmentKind::Voice => stated.max(bytes / MOST_VOICE_BYTES),
        stated => stated.max(bytes / MOST_BYTES),
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
