//! Looks at files of the owner while the bot runs: what is changed there holds from then on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::failure::StartupError;
use figaro_agent::delivery::Owners;
use figaro_agent::languages::Languages;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::one_line;
use figaro_files::presence;
use figaro_prompts::texts::{Texts, fill};

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The most characters of what is wrong that owners are told; the log has all of it.
const TOLD: usize = 1000;
/// The most bytes of a file.
const MAX_BYTES: usize = 512 << 10;

/// What was seen of a file: its text, or that there is none, or why it cannot be read.
pub(super) type FileText = Result<Option<String>, String>;

/// A kind of files of the owner that a part of the bot is kept like.
#[async_trait]
pub(super) trait OwnersFiles: Send + Sync {
    /// The name of this kind in `/status` and in the log.
    const KIND: &'static str;
    /// What is seen of them at once.
    type Seen: PartialEq + Clone + Send + Sync;
    /// The outcome of reading that, which holds as a whole.
    type Read: Send;

    /// The state they had when what holds now was taken.
    fn held(&self) -> Self::Seen;

    /// Looks at them; `None` where that fails.
    async fn look(&self) -> Option<Self::Seen>;

    /// Reads what was seen.
    ///
    /// # Errors
    /// All that is wrong, a line each, with the file and the place.
    fn read(&self, seen: &Self::Seen) -> Result<Self::Read, String>;

    /// `true` if what was read is other than what holds.
    fn is_changed(&self, _read: &Self::Read) -> bool {
        true
    }

    /// Has it hold. Gives what owners are told of it: a count or names, nothing where there are none.
    fn swap(&self, read: Self::Read) -> String;

    /// The words to owners about a change, and about files that cannot be used: with `{file}`, and `{what}` or `{faults}`.
    fn words(texts: &Texts) -> [&str; 2];

    /// The path of the file or folder, as owners are told it.
    fn place(&self) -> String;
}

/// Keeps a part of the bot like files of the owner. While one of them is broken, what held before goes on: what was changed in several
/// files holds together or not at all.
#[derive(Debug)]
pub(super) struct FileWatch<F> {
    files: F,
    /// The faults that owners know of; `None` while there are none.
    known: Option<String>,
    news: News,
    background: TaskTracker,
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
    /// Tells owners this, each in the language of their chat.
    pub(super) async fn tell(&self, words: impl Fn(&Texts) -> String) {
        self.owners.tell(self.languages.locales.map(words)).await;
    }
}

impl<F: OwnersFiles> FileWatch<F> {
    /// Tells this news, and ends when `background` is asked to stop.
    pub(super) const fn new(files: F, news: News, background: TaskTracker) -> Self {
        Self { files, known: None, news, background }
    }

    /// Looks again and again until the bot stops. What is just being written is left alone: what is seen counts once two looks
    /// have seen the same.
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

    /// Has what is seen now hold, or says what is wrong with it: the same faults once.
    async fn take(&mut self, seen: &F::Seen) {
        let (read, file) = (self.files.read(seen), self.files.place());
        self.news.vitals.set_broken(F::KIND, read.as_ref().err().map(|faults| told(faults)).as_deref());
        match read {
            // A server that they name has come or gone, and nothing is said of it.
            Ok(read) if self.known.is_none() && !self.files.is_changed(&read) => {}
            Ok(read) => {
                let what = self.files.swap(read);
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

/// Faults as owners are told of them.
fn told(faults: &str) -> String {
    one_line(faults, TOLD)
}

/// The names of the owner's own among those that hold.
pub(super) fn own_names<'a>(
    names: impl Iterator<Item = &'a str>,
    is_built_in: impl Fn(&str) -> bool,
) -> String {
    names.filter(|name| !is_built_in(name)).collect::<Vec<_>>().join(", ")
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
pub(super) fn named(file: PathBuf) -> Result<PathBuf, StartupError> {
    match file.is_file() {
        true => Ok(file),
        false if file.exists() => Err(StartupError(format!("{} is no file", file.display()))),
        false => Err(StartupError(format!("there is no file {}", file.display()))),
    }
}

/// The text of a file as [`text_of`] gives it, off the threads of the turns.
pub(super) async fn look_at(path: &Path) -> FileText {
    let path = path.to_owned();
    spawn_blocking(move || text_of(&path)).await.unwrap_or_else(|error| Err(error.to_string()))
}
