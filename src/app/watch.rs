//! Looks at files of the owner while the bot runs: what is changed there holds from then on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use super::failure::Refusal;
use figaro_agent::delivery::Owners;
use figaro_agent::languages::Languages;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::one_line;
use figaro_files::presence;
use figaro_prompts::texts::Texts;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;
/// The most bytes of a file.
const MAX_BYTES: usize = 512 << 10;

/// What was seen of a file: its text, or that there is none, or why it cannot be read.
pub(super) type FileText = Result<Option<String>, String>;

/// Files of the owner that a part of the bot is kept like.
#[async_trait]
pub(super) trait Watched: Send + Sync {
    /// What is seen of them at once.
    type Seen: PartialEq + Clone + Send + Sync;

    /// Looks at them; `None` where that fails.
    async fn look(&self) -> Option<Self::Seen>;

    /// Has what is seen now hold, or says what is wrong with it: then what held before goes on.
    async fn take(&mut self, seen: &Self::Seen);
}

/// Who is told of changes.
#[derive(Debug, Clone)]
pub(super) struct News {
    /// The owners.
    pub(super) owners: Arc<dyn Owners>,
    /// The languages in which they are told.
    pub(super) languages: Languages,
    /// Where `/status` reads what is wrong.
    pub(super) vitals: Arc<Vitals>,
}

impl News {
    /// Notes for `/status` that files of this kind are well, or what is wrong with them.
    pub(super) fn note(&self, kind: &'static str, faults: Option<&str>) {
        self.vitals.set_broken(kind, faults.map(told).as_deref());
    }

    /// Tells owners this, each in the language of their chat.
    pub(super) async fn tell(&self, words: impl Fn(&Texts) -> String) {
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}

/// What owners are told of faults.
pub(super) fn told(faults: &str) -> String {
    one_line(faults, TOLD)
}

/// Looks again and again until the bot stops. What is just being written is left alone: what is seen counts once two looks have
/// seen the same. `holds` is what was seen when what holds now was taken.
pub(super) async fn watch<W: Watched>(mut watched: W, mut holds: W::Seen, background: TaskTracker) {
    let mut before = holds.clone();
    loop {
        tokio::select! {
            () = background.stopping() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let Some(now) = watched.look().await else { continue };
        if now == before && now != holds {
            watched.take(&now).await;
            holds = now.clone();
        }
        before = now;
    }
}

/// The text of a file; `None` where there is no file.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn text_of(path: &Path) -> FileText {
    let text = presence::text(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), in_words(&error)))?;
    if text.as_ref().is_some_and(|text| text.len() > MAX_BYTES) {
        return Err(format!("{} has more than {MAX_BYTES} bytes", path.display()));
    }
    Ok(text)
}

/// Takes a file that the command line names.
///
/// # Errors
/// If there is none.
pub(super) fn named(file: PathBuf) -> Result<PathBuf, Refusal> {
    match file.is_file() {
        true => Ok(file),
        false if file.exists() => Err(Refusal(format!("{} is no file", file.display()))),
        false => Err(Refusal(format!("there is no file {}", file.display()))),
    }
}

/// The text of a file as [`text_of`] gives it, off the threads of the turns.
pub(super) async fn look_at(path: &Path) -> FileText {
    let path = path.to_owned();
    spawn_blocking(move || text_of(&path)).await.unwrap_or_else(|error| Err(error.to_string()))
}
