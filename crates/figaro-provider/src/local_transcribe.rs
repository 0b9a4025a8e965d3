//! Transcription by a Whisper model on this machine, in a child process: `figaro hear FOLDER`. Built by the composition root
//! for `TRANSCRIBER=local:FOLDER`.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::process::Child;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ProviderError;
use super::transcribe::{Sound, Transcriber, Transcript};
use figaro_base::limited_child::{self, ChildFailure};
use figaro_domain::hearing::{Hearing, HearingError, LISTENER};
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Name that stands for this machine where others have that of a provider.
pub(super) const LOCAL: &str = "local";
/// Time for one sound, once it is its turn.
const HEAR_TIMEOUT: Duration = Duration::from_secs(220);
/// Maximum output of the child, in bytes.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// A Whisper model in a folder. It takes memory only while it hears, and hears one sound at a time: others wait.
#[derive(Debug)]
pub struct LocalTranscriber {
    program: PathBuf,
    folder: PathBuf,
    name: ModelName,
    turn: Semaphore,
}

impl LocalTranscriber {
    /// Makes the transcriber that starts this program, which is `figaro`, with the folder of a model.
    #[must_use]
    pub fn new(program: PathBuf, folder: PathBuf) -> Self {
        let model = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
        let name = ModelName { provider: LOCAL.to_owned(), model };
        Self { program, folder, name, turn: Semaphore::new(1) }
    }

    async fn hear(&self, bytes: &[u8]) -> Result<Hearing, ChildFailure> {
        let mut command = limited_child::command(&self.program);
        let child = command.arg(LISTENER).arg(&self.folder).spawn().map_err(|error| {
            tracing::error!(%error, program = %self.program.display(), "what hears does not start");
            ChildFailure::Broken
        })?;
        timeout(HEAR_TIMEOUT, talk(child, bytes)).await.unwrap_or(Err(ChildFailure::TooLong))
    }
}

async fn talk(mut child: Child, bytes: &[u8]) -> Result<Hearing, ChildFailure> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ChildFailure::Broken);
    };
    // A child that has ended takes no more; its result says why.
    drop(stdin.write_all(bytes).await);
    drop(stdin);
    limited_child::result(child, stdout, MAX_OUTPUT).await
}

#[async_trait]
impl Transcriber for LocalTranscriber {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn transcribe(&self, sound: Sound) -> Result<Transcript, ProviderError> {
        let closed = |_closed| ProviderError::Unavailable("the bot stops".to_owned());
        let _turn = self.turn.acquire().await.map_err(closed)?;
        match self.hear(&sound.bytes).await {
            // A model on this machine costs nothing.
            Ok(Ok(heard)) => Ok(Transcript { text: heard.text, usage: Some(Usage::default()) }),
            Ok(Err(reason)) => Err(of_reason(&reason)),
            Err(failure) => Err(of_failure(&failure)),
        }
    }
}

pub(super) fn of_reason(reason: &HearingError) -> ProviderError {
    let words = format!("the sound {reason}");
    match reason {
        HearingError::Unknown | HearingError::Damaged | HearingError::Empty => {
            ProviderError::Unreadable(words)
        }
        HearingError::TooLong => ProviderError::TooLong(words),
        HearingError::Model(why) => ProviderError::UnknownModel(why.clone()),
    }
}

pub(super) fn of_failure(failure: &ChildFailure) -> ProviderError {
    let words = format!("what hears gave no result: {failure}");
    match failure {
        ChildFailure::TooLong | ChildFailure::TooLarge => ProviderError::TooLong(words),
        ChildFailure::Broken => ProviderError::Unreadable(words),
        ChildFailure::Foreign(_) => ProviderError::Unavailable(words),
    }
}
