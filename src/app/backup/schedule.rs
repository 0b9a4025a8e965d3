//! Backups at the times of `BACKUP_AT`, into `BACKUP_FOLDER`. Of several bots in a process one makes them for all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use age::x25519::Recipient;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use tokio::task::spawn_blocking;

use super::file::{RoomyWriter, Sealed, WholeFile, recipients};
use crate::app::failure::StartupError;
use crate::app::watch::News;
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_base::tz::Tz;
use figaro_config::{BackupSettings, Settings};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::Stores;

/// Names of the files: time in UTC between these.
const BEFORE: &str = "figaro-";
const TIME: &str = "%Y%m%dT%H%M%SZ";
const AFTER: &str = ".jsonl.gz";
const ENCRYPTED: &str = ".age";
/// Name of a file that is not whole yet.
const PARTIAL: &str = "figaro.partial";
/// Maximum time between two looks at the clock, which may be set meanwhile.
const LOOK: Duration = Duration::from_secs(60);
/// Time in which owners are told once of backups that fail.
const TOLD_AGAIN: TimeDelta = TimeDelta::hours(20);

/// Plan for backups. Clones share the recipients.
#[derive(Clone)]
pub(in crate::app) struct BackupPlan {
    settings: Arc<BackupSettings>,
    recipients: Arc<[Recipient]>,
    zone: Tz,
}

impl BackupPlan {
    /// Reads the plan; `None` if there are to be no backups.
    ///
    /// # Errors
    /// When a recipient is none.
    pub(in crate::app) fn of(settings: &Settings) -> Result<Option<Self>, StartupError> {
        let Some(backups) = &settings.store.backups else { return Ok(None) };
        let recipients = recipients(&backups.recipients);
        let recipients =
            recipients.map_err(|StartupError(words)| StartupError(format!("BACKUP_RECIPIENT: {words}")))?;
        let (settings, zone) = (Arc::new(backups.clone()), settings.timezone);
        Ok(Some(Self { settings, recipients: recipients.into(), zone }))
    }

    /// Returns the folder of the backups.
    pub(in crate::app) fn folder(&self) -> &Path {
        &self.settings.folder
    }

    /// Lists the backups in the folder, the oldest first. A missing folder has none.
    ///
    /// # Errors
    /// Of the system.
    pub(in crate::app) fn made(&self) -> io::Result<Vec<MadeBackup>> {
        let entries = match fs::read_dir(self.folder()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut made = Vec::new();
        for entry in entries {
            let entry = entry?;
            made.extend(
                time_of(&entry.file_name().to_string_lossy()).map(|at| MadeBackup { at, file: entry.path() }),
            );
        }
        made.sort();
        Ok(made)
    }

    /// Returns when the next backup is due. `tried` is the time of the last try that failed. A time ahead of `now` is that of a
    /// clock that was wrong, and does not count.
    pub(in crate::app) fn due(&self, tried: Option<DateTime<Utc>>, now: DateTime<Utc>) -> DateTime<Utc> {
        // A folder that cannot be read is told when a backup is made there.
        let made = self.made().unwrap_or_default().into_iter().map(|backup| backup.at);
        let last = made.chain(tried).filter(|at| *at <= now).max();
        let next = |after| self.settings.at.next(self.zone, after).unwrap_or(DateTime::<Utc>::MAX_UTC);
        last.map_or(now, next)
    }

    /// Makes a backup. Ends early once `stop` returns `true`.
    async fn make(
        &self,
        stores: &Stores,
        at: DateTime<Utc>,
        stop: impl Fn() -> bool + Send + 'static,
    ) -> Result<PathBuf, String> {
        let plan = self.clone();
        let (named, file, sealed) = aside(move || plan.begin(at)).await?;
        let exported = stores.export_beside(sealed, stop).await;
        let (_, sealed) = exported.map_err(|error| error.to_string())?;
        aside(move || {
            sealed.finish()?;
            file.finish()
        })
        .await?;
        Ok(named)
    }

    fn begin(&self, at: DateTime<Utc>) -> io::Result<(PathBuf, WholeFile, Sealed<RoomyWriter>)> {
        fs::create_dir_all(self.folder())?;
        let encrypted = if self.recipients.is_empty() { "" } else { ENCRYPTED };
        let named = self.folder().join(format!("{BEFORE}{}{AFTER}{encrypted}", at.format(TIME)));
        let file = WholeFile::begin(self.folder().join(PARTIAL), named.clone())?;
        let sealed = Sealed::begin(file.writer()?, &self.recipients)?;
        Ok((named, file, sealed))
    }

    /// Removes the oldest backups above the number to keep. Those ahead of `now` stay: which of them are old is not known.
    fn remove_old(&self, now: DateTime<Utc>) -> io::Result<()> {
        let made: Vec<_> = self.made()?.into_iter().filter(|backup| backup.at <= now).collect();
        let old = made.len().saturating_sub(self.settings.kept);
        made.iter().take(old).try_for_each(|backup| fs::remove_file(&backup.file))
    }
}

/// A backup in the folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::app) struct MadeBackup {
    pub(in crate::app) at: DateTime<Utc>,
    file: PathBuf,
}

/// Returns the time in the name of a backup; `None` for another file.
fn time_of(name: &str) -> Option<DateTime<Utc>> {
    let time = name.strip_prefix(BEFORE)?;
    let time = time.strip_suffix(ENCRYPTED).unwrap_or(time).strip_suffix(AFTER)?;
    NaiveDateTime::parse_from_str(time, TIME).ok().map(|at| at.and_utc())
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| in_words(&error))
}

/// Makes the backups of a plan.
pub(in crate::app) struct BackupKeeper {
    pub(in crate::app) plan: BackupPlan,
    pub(in crate::app) stores: Stores,
    /// Owners to tell of a failure; `None` where the backup is that of several bots, whose owners differ.
    pub(in crate::app) news: Option<News>,
    pub(in crate::app) clock: Clock,
    pub(in crate::app) background: TaskTracker,
}

impl BackupKeeper {
    /// Makes backups until the bot stops.
    pub(in crate::app) async fn run(self) {
        let (mut tried, mut told) = (None, None::<DateTime<Utc>>);
        while let Some(now) = self.wait(tried).await {
            let stopping = self.background.clone();
            let made = self.plan.make(&self.stores, now, move || stopping.is_stopping()).await;
            match made {
                Ok(file) => {
                    tracing::info!(file = %file.display(), "a backup of the store was made");
                    (tried, told) = (None, None);
                    let plan = self.plan.clone();
                    if let Err(reason) = aside(move || plan.remove_old(now)).await {
                        tracing::warn!(reason, "old backups could not be removed");
                    }
                }
                Err(_) if self.background.is_stopping() => return,
                Err(reason) => {
                    let folder = self.plan.folder().display().to_string();
                    tracing::warn!(folder, reason, "the scheduled backup of the store was not made");
                    tried = Some(now);
                    if told.is_none_or(|told| now - told >= TOLD_AGAIN)
                        && let Some(news) = &self.news
                    {
                        told = Some(now);
                        let words = |texts: &Texts| {
                            fill(texts.backup_failed(), &[("folder", &folder), ("reason", &reason)])
                        };
                        news.tell(words).await;
                    }
                }
            }
        }
    }

    /// Waits until a backup is due, and returns the time; `None` once the bot stops.
    async fn wait(&self, tried: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        loop {
            let (plan, now) = (self.plan.clone(), self.clock.now());
            // Its disk may be one that answers late.
            let due = aside(move || Ok(plan.due(tried, now))).await.unwrap_or(now);
            if due <= now {
                return (!self.background.is_stopping()).then_some(now);
            }
            let rest = (due - now).to_std().unwrap_or_default().min(LOOK);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.background.stopping() => return None,
            }
        }
    }
}
