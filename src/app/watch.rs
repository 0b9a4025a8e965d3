//! Watches files of the owner while the bot runs, and applies changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::failure::StartupError;
use figaro_agent::delivery::Owners;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::one_line;
use figaro_files::presence;
use figaro_prompts::texts::{Locales, Texts, fill};

/// Pause between two polls.
const EVERY: Duration = Duration::from_secs(1);
/// Maximum number of characters of faults in messages to owners; the log has all.
const TOLD: usize = 1000;
/// Maximum size of a file in bytes.
const MAX_BYTES: usize = 512 << 10;

/// Text of a file; `None` if there is no file; or the reason why it cannot be read.
pub(super) type FileText = Result<Option<String>, String>;

/// Text of a file whose content is in force; `None` for no file. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct HeldText(Arc<parking_lot::Mutex<Option<String>>>);

impl HeldText {
    pub(super) fn new(text: Option<String>) -> Self {
        Self(Arc::new(parking_lot::Mutex::new(text)))
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// Notes the text of a file whose content is in force now. A file that cannot be read is not in force.
    pub(super) fn set(&self, seen: &FileText) {
        if let Ok(text) = seen {
            self.0.lock().clone_from(text);
        }
    }
}

/// Kind of owner's files that configures a part of the bot.
#[async_trait]
pub(super) trait OwnersFiles: Send + Sync {
    /// Name of this kind in `/status` and in the log.
    const KIND: &'static str;
    /// Snapshot of the files.
    type Seen: PartialEq + Clone + Send + Sync;
    /// Parsed content of a snapshot; applied as a whole.
    type Read: Send;

    /// Returns the snapshot that the current content was read from.
    fn held(&self) -> Self::Seen;

    /// Takes a snapshot; `None` if that fails.
    async fn look(&self) -> Option<Self::Seen>;

    /// Parses a snapshot.
    ///
    /// # Errors
    /// All faults, one per line, with file and position.
    fn read(&self, seen: &Self::Seen) -> Result<Self::Read, String>;

    /// Returns `true` if the parsed content differs from the current content.
    fn is_changed(&self, _read: &Self::Read) -> bool {
        true
    }

    /// Notes the snapshot whose content is in force now.
    fn hold(&self, _seen: &Self::Seen) {}

    /// Applies the content. Returns a count or names for the message to owners; empty if there are none.
    fn swap(&self, read: Self::Read) -> String;

    /// Returns two message templates for owners: a change (`{file}`, `{what}`) and unusable files (`{file}`, `{faults}`).
    fn words(texts: &Texts) -> [&str; 2];

    /// Returns the path of the file or folder for messages to owners.
    fn place(&self) -> String;
}

/// Keeps a part of the bot in step with the owner's files. While a file is broken, the previous content applies: changes in
/// several files apply together or not at all.
#[derive(Debug)]
pub(super) struct FileWatch<F> {
    files: F,
    /// Faults that owners have been told; `None` while there are none.
    known: Option<String>,
    news: News,
    background: TaskTracker,
}

/// Turns of the bots to watch files that they share.
#[derive(Debug, Clone, Default)]
pub(super) struct WatchTurns {
    pub(super) agents: WatchTurn,
    pub(super) others: WatchTurn,
    /// To make the backups of the store.
    pub(super) backups: WatchTurn,
}

/// Turn to watch files: one bot watches, and when it stops another one goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct WatchTurn(Arc<Mutex<()>>);

impl WatchTurn {
    /// Runs a watcher once no other bot watches, unless a stop comes first.
    pub(super) async fn run(&self, watcher: impl Future<Output = ()>, stopping: &TaskTracker) {
        tokio::select! {
            _turn = self.0.lock() => watcher.await,
            () = stopping.stopping() => {}
        }
    }
}

/// Recipients of messages about changes.
#[derive(Debug, Clone)]
pub(super) struct News {
    pub(super) owners: Arc<dyn Owners>,
    pub(super) locales: Arc<Locales>,
    /// Faults for `/status`.
    pub(super) vitals: Arc<Vitals>,
}

impl News {
    /// Sends owners a message, each in the language of their chat.
    pub(super) async fn tell(&self, words: impl Fn(&Texts) -> String) {
        self.owners.tell(self.locales.map(words)).await;
    }
}

impl<F: OwnersFiles> FileWatch<F> {
    /// Creates a watcher that reports to `news` and ends when `background` is asked to stop.
    pub(super) const fn new(files: F, news: News, background: TaskTracker) -> Self {
        Self { files, known: None, news, background }
    }

    /// Polls the files until the bot stops. A change counts once two polls see the same, so that half-written files are
    /// skipped.
    pub(super) async fn run(mut self) {
        let mut holds = self.files.held();
        let mut before = holds.clone();
        let background = self.background.clone();
        loop {
            tokio::select! {
                () = background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let Some(now) = self.files.look().await else { continue };
            if now == before && now != holds {
                self.take(&now).await;
                holds = now.clone();
            }
            before = now;
        }
    }

    /// Applies a snapshot, or reports its faults; the same faults only once.
    async fn take(&mut self, seen: &F::Seen) {
        let (read, file) = (self.files.read(seen), self.files.place());
        self.news.vitals.set_broken(F::KIND, read.as_ref().err().map(|faults| told(faults)).as_deref());
        match read {
            // Only the available MCP servers have changed: nothing to report.
            Ok(read) if self.known.is_none() && !self.files.is_changed(&read) => {}
            Ok(read) => {
                let what = self.files.swap(read);
                self.files.hold(seen);
                self.known = None;
                info!(kind = F::KIND, file, what, "files of the owner have changed");
                let shown =
                    |texts: &Texts| if what.is_empty() { texts.config_none() } else { &what }.to_owned();
                let words =
                    |texts: &Texts| fill(F::words(texts)[0], &[("file", &file), ("what", &shown(texts))]);
                self.news.tell(words).await;
            }
            Err(faults) => {
                warn!(
                    kind = F::KIND,
                    file, faults, "files of the owner cannot be used; those of before hold"
                );
                if self.known.as_ref() != Some(&faults) {
                    let shown = told(&faults);
                    let words =
                        |texts: &Texts| fill(F::words(texts)[1], &[("file", &file), ("faults", &shown)]);
                    self.news.tell(words).await;
                }
                self.known = Some(faults);
            }
        }
    }
}

/// Shortens faults to one line for owners.
fn told(faults: &str) -> String {
    one_line(faults, TOLD)
}

/// Returns the names that are not built in, separated by commas.
pub(super) fn own_names<'a>(
    names: impl Iterator<Item = &'a str>,
    is_built_in: impl Fn(&str) -> bool,
) -> String {
    names.filter(|name| !is_built_in(name)).collect::<Vec<_>>().join(", ")
}

/// Reads the text of a file; `None` if there is no file.
///
/// # Errors
/// Reason why the file cannot be read.
pub(super) fn text_of(path: &Path) -> FileText {
    let text = presence::text(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), in_words(&error)))?;
    if text.as_ref().is_some_and(|text| text.len() > MAX_BYTES) {
        return Err(format!("{} has more than {MAX_BYTES} bytes", path.display()));
    }
    Ok(text)
}

/// Checks that a file of the command line exists, and returns its path.
///
/// # Errors
/// When there is no such file.
pub(super) fn named(file: PathBuf) -> Result<PathBuf, StartupError> {
    match file.is_file() {
        true => Ok(file),
        false if file.exists() => Err(StartupError(format!("{} is no file", file.display()))),
        false => Err(StartupError(format!("there is no file {}", file.display()))),
    }
}

/// Like [`text_of`], on a blocking thread.
pub(super) async fn look_at(path: &Path) -> FileText {
    let path = path.to_owned();
    spawn_blocking(move || text_of(&path)).await.unwrap_or_else(|error| Err(error.to_string()))
}
