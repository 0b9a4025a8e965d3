//! Durable points, shared: whoever needs one waits for a round of flush and fsync that began after its own writes, and
//! one round serves all who wait for it.
//!
//! sled's flush alone is not enough: it ends in `sync_file_range`, which neither waits for the disk's own cache nor
//! records the file's new length. Nor does sled ever sync the files it puts large values into.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sled::Db;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::fault::Fault;

/// What a round does; blocking.
type Round = dyn Fn() -> Result<(), String> + Send + Sync;

/// Hands out durable points.
pub(super) struct GroupCommit {
    round: Arc<Round>,
    /// How many have asked for a point so far.
    asked: AtomicU64,
    /// Held during a round.
    outcome: Arc<Mutex<Outcome>>,
}

#[derive(Default)]
struct Outcome {
    /// How many of those who asked have been served.
    served: u64,
    /// Why a round failed. Nothing is durable from then on: after a failed fsync the system may drop what it could not
    /// write and report the next fsync as a success, and a log with a hole ends at the hole when it is read again.
    broken: Option<String>,
}

impl GroupCommit {
    /// Points that are durable once this function has returned well.
    pub(super) fn new(round: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self { round: Arc::new(round), asked: AtomicU64::new(0), outcome: Arc::default() }
    }

    /// Returns when everything written before the call is durable.
    pub(super) async fn point(&self) -> Result<(), String> {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut outcome = Arc::clone(&self.outcome).lock_owned().await;
        if let Some(reason) = &outcome.broken {
            return Err(format!("an earlier write failed, restart to go on: {reason}"));
        }
        if outcome.served >= ticket {
            return Ok(());
        }
        let serves = self.asked.load(Ordering::SeqCst);
        let round = Arc::clone(&self.round);
        // The round owns the lock, so that it is seen through even if nobody waits for it any more.
        let done = spawn_blocking(move || {
            outcome.broken = Some("the storage engine stopped".to_owned());
            outcome.broken = round().err();
            outcome.served = serves;
            outcome.broken.clone()
        });
        done.await.unwrap_or_else(|error| Some(error.to_string())).map_or(Ok(()), Err)
    }
}

/// The files of a store, as far as they change while it is open.
pub(super) struct Files {
    db: Db,
    /// Opened once: the system reports a failed write only to those who had the file open at the time.
    log: File,
    folder: PathBuf,
    /// Files of large values that were synced, with the length they had.
    synced: std::sync::Mutex<HashMap<OsString, u64>>,
}

impl Files {
    /// Syncs everything that opening the store may have written, the entries of the folders included.
    pub(super) fn open(db: Db, folder: &Path) -> Result<Self, Fault> {
        let log = File::open(folder.join("db"))?;
        let files = Self { db, log, folder: folder.to_owned(), synced: std::sync::Mutex::default() };
        files.sync()?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                sync_if_there(&entry.path())?;
            }
        }
        sync_if_there(folder)?;
        if let Some(parent) = folder.canonicalize()?.parent() {
            match sync_if_there(parent) {
                // A folder above that may not be listed cannot be synced; the store itself is.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                outcome => outcome?,
            }
        }
        Ok(files)
    }

    /// Makes everything written so far durable. While a store is open, sled writes to its log and its large values only.
    pub(super) fn sync(&self) -> Result<(), Fault> {
        self.db.flush()?;
        // Large values first: the log refers to them.
        self.sync_large_values()?;
        self.log.sync_all()?;
        Ok(())
    }

    fn sync_large_values(&self) -> io::Result<()> {
        let folder = self.folder.join("blobs");
        let mut synced = self.synced.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut present = HashMap::new();
        let mut grew = false;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let length = match entry.metadata() {
                Ok(metadata) => metadata.len(),
                // sled removes them when they are no longer needed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Written once; a length that changed shows a file that was still being written the last time.
            if synced.get(&entry.file_name()) != Some(&length) {
                sync_if_there(&entry.path())?;
                grew = true;
            }
            present.insert(entry.file_name(), length);
        }
        if grew {
            sync_if_there(&folder)?;
        }
        *synced = present;
        Ok(())
    }
}

fn sync_if_there(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;

    /// A disk that takes its time: what is `written` when a round begins is `safe` when it ends.
    #[derive(Default)]
    struct Disk {
        written: AtomicU64,
        safe: AtomicU64,
        rounds: AtomicU64,
    }

    fn slow(disk: &Arc<Disk>) -> GroupCommit {
        let disk = Arc::clone(disk);
        GroupCommit::new(move || {
            let written = disk.written.load(Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            disk.safe.store(written, Ordering::SeqCst);
            disk.rounds.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_round_serves_all_who_wait_and_nobody_early() {
        let disk = Arc::new(Disk::default());
        let commit = Arc::new(slow(&disk));
        let mut tasks = JoinSet::new();
        for _ in 0..64 {
            let (disk, commit) = (Arc::clone(&disk), Arc::clone(&commit));
            tasks.spawn(async move {
                for _ in 0..5 {
                    let mine = disk.written.fetch_add(1, Ordering::SeqCst) + 1;
                    commit.point().await.unwrap();
                    assert!(disk.safe.load(Ordering::SeqCst) >= mine);
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let rounds = disk.rounds.load(Ordering::SeqCst);
        assert!(rounds <= 40, "{rounds} rounds for 320 points");
    }

    #[tokio::test]
    async fn a_failed_round_fails_all_and_every_later_one() {
        let rounds = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&rounds);
        let commit = GroupCommit::new(move || {
            std::thread::sleep(Duration::from_millis(5));
            match counter.fetch_add(1, Ordering::SeqCst) {
                0 => Ok(()),
                _ => Err("no space".to_owned()),
            }
        });
        commit.point().await.unwrap();
        let (a, b, c) = tokio::join!(commit.point(), commit.point(), commit.point());
        for outcome in [a, b, c, commit.point().await] {
            assert!(outcome.unwrap_err().contains("no space"));
        }
        assert_eq!(rounds.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_round_that_panics_is_a_failed_one() {
        let commit = GroupCommit::new(|| panic!("engine"));
        assert!(commit.point().await.is_err());
        assert!(commit.point().await.is_err());
    }

    #[tokio::test]
    async fn a_waiter_that_gives_up_takes_nothing_from_the_others() {
        let disk = Arc::new(Disk::default());
        let commit = slow(&disk);
        disk.written.store(1, Ordering::SeqCst);
        let mut given_up = Box::pin(commit.point());
        assert!(futures::poll!(&mut given_up).is_pending(), "a round takes a while");
        drop(given_up);
        commit.point().await.unwrap();
        assert_eq!(disk.safe.load(Ordering::SeqCst), 1);
    }
}
