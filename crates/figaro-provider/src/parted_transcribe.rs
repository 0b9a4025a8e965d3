//! Transcription of long sounds in parts, for services that take 25 minutes: a child process, `figaro hear --parts`, decodes the
//! sound and cuts it where it is quiet. Wraps the transcriber of a service; built by the composition root.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::ChildStdout;
use tokio::time::timeout;

use super::ProviderError;
use super::local_transcribe::{of_failure, of_reason};
use super::transcribe::{Sound, Transcriber, Transcript};
use figaro_base::limited_child::{self, ChildFailure};
use figaro_domain::hearing::{CUTTER, HearingError, LISTENER, MAX_PARTED_SECONDS, MAX_SECONDS, PART_SECONDS};
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Stands for the rest of a sound that could not be heard.
const REST: &str = "[…]";
/// Time in which the child gives the next part.
const PART_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of a second in a part, and maximum size of a part.
const BYTES_OF_SECOND: u64 = 32_000;
const MAX_PART: u64 = (PART_SECONDS + 60) * BYTES_OF_SECOND;

/// A transcriber that hears long sounds in parts, one after another.
#[derive(Debug)]
pub struct PartedTranscriber {
    inner: Arc<dyn Transcriber>,
    program: PathBuf,
}

/// Parts that a child writes.
struct SoundParts(BufReader<ChildStdout>);

/// Reason why there is no next part.
#[derive(Debug)]
enum PartFailure {
    /// The child ended before it wrote a result.
    Ended,
    Told(ProviderError),
}

impl PartedTranscriber {
    /// Wraps a transcriber; `program` is `figaro`.
    #[must_use]
    pub fn new(inner: Arc<dyn Transcriber>, program: PathBuf) -> Self {
        Self { inner, program }
    }

    async fn in_parts(&self, sound: Sound) -> Result<Transcript, ProviderError> {
        let mut child =
            limited_child::command(&self.program).arg(LISTENER).arg(CUTTER).spawn().map_err(|error| {
                tracing::error!(%error, program = %self.program.display(), "what cuts sounds does not start");
                of_failure(&ChildFailure::Broken)
            })?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(of_failure(&ChildFailure::Broken));
        };
        let mut parts = SoundParts(BufReader::new(stdout));
        // A child that has ended takes no more; its result says why.
        let giving = async move { drop(stdin.write_all(&sound.bytes).await) };
        let hearing = async {
            let (mut texts, mut usage) = (Vec::new(), Usage::default());
            loop {
                match self.next_words(&mut parts, &mut usage).await {
                    Ok(Some(words)) => texts.push(words),
                    Ok(None) => break,
                    Err(failure) if texts.is_empty() => return Err(failure),
                    // The words so far are paid for, and stay.
                    Err(failure) => {
                        tracing::warn!(?failure, "the rest of a long sound could not be heard");
                        texts.push(REST.to_owned());
                        break;
                    }
                }
            }
            texts.retain(|text| !text.is_empty());
            Ok(Transcript { text: texts.join(" "), usage: Some(usage) })
        };
        let heard = futures::join!(giving, hearing).1;
        match heard {
            // The child may have ended for want of memory or time.
            Err(PartFailure::Ended) => Err(of_failure(&limited_child::failure(child).await)),
            Err(PartFailure::Told(error)) => Err(error),
            Ok(transcript) => Ok(transcript),
        }
    }

    /// Returns the words of the next part, and adds its tokens; `None` after the last.
    async fn next_words(
        &self,
        parts: &mut SoundParts,
        usage: &mut Usage,
    ) -> Result<Option<String>, PartFailure> {
        let Some(bytes) = parts.next().await? else { return Ok(None) };
        let seconds = bytes.len() as u64 / BYTES_OF_SECOND;
        let part = Sound { name: "part.wav".to_owned(), mime: "audio/wav".to_owned(), seconds, bytes };
        let estimate = part.estimate();
        match self.inner.transcribe(part).await {
            Ok(heard) => {
                *usage += heard.usage.unwrap_or(estimate);
                Ok(Some(heard.text.trim().to_owned()))
            }
            Err(error) => {
                if error.was_taken_up() {
                    *usage += estimate;
                }
                Err(PartFailure::Told(error))
            }
        }
    }
}

impl SoundParts {
    /// Returns the next part as a WAV file; `None` after the last.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, PartFailure> {
        let late = |_late| Err(PartFailure::Told(of_failure(&ChildFailure::TooLong)));
        timeout(PART_TIMEOUT, self.read()).await.unwrap_or_else(late)
    }

    async fn read(&mut self) -> Result<Option<Vec<u8>>, PartFailure> {
        let broken = |_error| PartFailure::Ended;
        let mut line = String::new();
        (&mut self.0).take(1_000).read_line(&mut line).await.map_err(broken)?;
        if let Ok(length) = line.trim_end().parse::<u64>() {
            if length > MAX_PART {
                return Err(PartFailure::Told(of_failure(&ChildFailure::TooLarge)));
            }
            let mut part = Vec::new();
            (&mut self.0).take(length).read_to_end(&mut part).await.map_err(broken)?;
            // A child that dies within a part leaves its beginning.
            return if part.len() as u64 == length { Ok(Some(part)) } else { Err(PartFailure::Ended) };
        }
        match serde_json::from_str::<Result<(), HearingError>>(&line) {
            Ok(Ok(())) => Ok(None),
            Ok(Err(reason)) => Err(PartFailure::Told(of_reason(&reason))),
            Err(_broken_off) => Err(PartFailure::Ended),
        }
    }
}

#[async_trait]
impl Transcriber for PartedTranscriber {
    fn model(&self) -> &ModelName {
        self.inner.model()
    }

    fn max_seconds(&self) -> u64 {
        MAX_PARTED_SECONDS
    }

    async fn transcribe(&self, sound: Sound) -> Result<Transcript, ProviderError> {
        match sound.seconds > MAX_SECONDS {
            true => self.in_parts(sound).await,
            false => self.inner.transcribe(sound).await,
        }
    }
}
