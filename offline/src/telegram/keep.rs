//! Keeps the world of an offline Telegram in a folder, so that the next start goes on with it: people, chats, messages,
//! reactions, files, updates nobody took yet, and the last ids. Used by `figaro demo --store`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::shared::SharedTelegram;
use super::state::{ButtonPress, CommandList, StoredFile, TelegramState};
use super::world::{Chat, Person};

/// The shape of the file this program writes, and the only one it reads.
const VERSION: u32 = 1;
/// The folder beside what the bot stores, and its files. All lie side by side: the store closes them to other accounts.
const FOLDER: &str = "demo";
const WORLD: &str = "world.json";
const LOCK: &str = "lock";
const FILE_PREFIX: &str = "file-";
const TEMPORARY: &str = ".new-";
/// How long changes gather before they are written: at most so much is lost with the process.
const GATHER: Duration = Duration::from_millis(100);
/// The pause after a write that failed.
const RETRY: Duration = Duration::from_secs(1);
/// Older messages of a chat are not kept; the page shows fewer.
const MAX_MESSAGES: usize = 1_000;
/// More ids than can be given within [`GATHER`]: those of the last moment before a crash are not given again.
const RESERVED: i64 = 1_000;
/// 2020-01-01 in seconds since 1970. Ids of a new world begin at the seconds since then: above those of any world
/// before it in the folder, and within 32 bits for decades.
const EPOCH_SECONDS: i64 = 1_577_836_800;

/// Why a world cannot be kept in a folder.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Another process keeps its world there.
    #[error("another demo is using {}: end it, or choose another folder with --store", .0.display())]
    InUse(PathBuf),
    /// The folder or a file of it cannot be read or written.
    #[error("{} cannot be used: {}", path.display(), error.kind())]
    Io {
        /// The file or folder that could not be read or written.
        path: PathBuf,
        /// The error of the system call.
        error: io::Error,
    },
}

/// A world that could not be read, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableWorld {
    /// Why the file could not be read, as a clause such as `it is damaged: …`.
    pub reason: String,
    /// The file it was renamed to.
    pub path: PathBuf,
}

/// The folder of a world, locked, and the world if there is one.
#[derive(Debug)]
pub struct WorldFolder {
    folder: PathBuf,
    lock: File,
    saved: Option<SavedWorld>,
    files: BTreeMap<String, StoredFile>,
    set_aside: Option<UnreadableWorld>,
}

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct SavedWorld {
    version: u32,
    next_update: i64,
    /// Updates that the bot has not taken yet.
    waiting: Vec<(i64, String)>,
    last_name: u64,
    people: Vec<Person>,
    chats: Vec<Chat>,
    presses: BTreeMap<String, ButtonPress>,
    commands: Vec<CommandList>,
    /// The path of each file by its id; its bytes are in a file of that name.
    files: BTreeMap<String, String>,
}

/// Writes a world into its folder: only what changed, and each file as a whole or not at all.
#[derive(Debug)]
pub(super) struct WorldWriter {
    folder: PathBuf,
    written: Mutex<WrittenWorld>,
    /// Held until the end: nobody else writes there.
    _lock: File,
}

/// What the folder holds, so that only what changed is written.
#[derive(Debug, Default)]
struct WrittenWorld {
    /// The bytes of the world's file; empty before the first write.
    world: Vec<u8>,
    /// The ids of the files.
    files: BTreeSet<String>,
}

impl WorldFolder {
    /// The world kept beside a store, or a place for a new one. A world that cannot be read is set aside.
    ///
    /// # Errors
    /// When another process uses it, or the folder cannot be read or written.
    pub fn open(store: &Path, now: DateTime<Utc>) -> Result<Self, KeepError> {
        let folder = store.join(FOLDER);
        make_private(store).map_err(|error| failed(store, error))?;
        make_private(&folder).map_err(|error| failed(&folder, error))?;
        let lock = lock(&folder)?;
        remove_temporary(&folder).map_err(|error| failed(&folder, error))?;
        let path = folder.join(WORLD);
        let mut kept = Self { folder, lock, saved: None, files: BTreeMap::new(), set_aside: None };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(kept),
            Err(error) => return Err(failed(&path, error)),
        };
        match parse(&bytes) {
            Ok(saved) => {
                kept.files = read_files(&kept.folder, &saved)?;
                kept.saved = Some(saved);
            }
            Err(reason) => {
                let aside = kept.folder.join(format!("unreadable-{}.json", now.format("%Y%m%dT%H%M%S%.3f")));
                fs::rename(&path, &aside).map_err(|error| failed(&path, error))?;
                kept.set_aside = Some(UnreadableWorld { reason, path: aside });
            }
        }
        Ok(kept)
    }

    /// Whether there is a world to go on with.
    #[must_use]
    pub const fn has_world(&self) -> bool {
        self.saved.is_some()
    }

    /// The world that could not be read, if that is why there is none.
    #[must_use]
    pub const fn set_aside(&self) -> Option<&UnreadableWorld> {
        self.set_aside.as_ref()
    }

    /// The path of the file that holds the world, whether it is there yet or not.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(WORLD)
    }

    /// Puts the world, if there is one, into a new state. Gives what writes its changes.
    pub(super) fn restore(self, state: &mut TelegramState, now: DateTime<Utc>) -> WorldWriter {
        let files = self.files.keys().cloned().collect();
        if let Some(saved) = self.saved {
            state.updates.queue.extend(saved.waiting);
            state.updates.next_id = saved.next_update;
            state.last_name = saved.last_name;
            // The bot is the one of this start.
            let bot = state.world.bot.id;
            let others = saved.people.into_iter().filter(|person| person.id != bot);
            state.world.people.extend(others.map(|person| (person.id, person)));
            state.world.chats = saved.chats.into_iter().map(|chat| (chat.id, chat)).collect();
            (state.presses, state.commands, state.files) = (saved.presses, saved.commands, self.files);
            skip_ids(state, now, 0);
        }
        let written = Mutex::new(WrittenWorld { world: Vec::new(), files });
        WorldWriter { folder: self.folder, written, _lock: self.lock }
    }
}

impl SavedWorld {
    fn of(state: &TelegramState) -> Self {
        let chat = |chat: &Chat| {
            let mut chat = chat.clone();
            while chat.messages.len() > MAX_MESSAGES {
                chat.messages.pop_first();
            }
            let messages = &chat.messages;
            chat.reactions.retain(|id, _| messages.contains_key(id));
            chat.reactions_of_people.retain(|id, _| messages.contains_key(id));
            chat.votes.retain(|id, _| messages.contains_key(id));
            chat
        };
        Self {
            version: VERSION,
            next_update: state.updates.next_id,
            waiting: state.updates.queue.iter().cloned().collect(),
            last_name: state.last_name,
            people: state.world.people.values().cloned().collect(),
            chats: state.world.chats.values().map(chat).collect(),
            presses: state.presses.clone(),
            commands: state.commands.clone(),
            files: state.files.iter().map(|(id, file)| (id.clone(), file.path.clone())).collect(),
        }
    }
}

impl WorldWriter {
    /// Files that are not in the folder yet.
    fn missing(&self, state: &TelegramState) -> Vec<(String, Vec<u8>)> {
        let written = self.written.lock();
        let new = state.files.iter().filter(|(id, _)| !written.files.contains(*id));
        new.map(|(id, file)| (id.clone(), file.bytes.clone())).collect()
    }

    /// Writes the files first: a world names only what is there.
    fn write(&self, saved: &SavedWorld, files: Vec<(String, Vec<u8>)>) -> io::Result<()> {
        let mut written = self.written.lock();
        for (id, bytes) in files {
            replace(&self.folder, &id, &bytes)?;
            written.files.insert(id);
        }
        let world = serde_json::to_vec(saved)?;
        if world != written.world {
            replace(&self.folder, WORLD, &world)?;
            written.world = world;
        }
        Ok(())
    }

    /// Writes the world as it is now. An error if the folder takes no writes.
    pub(super) async fn save(self: &Arc<Self>, shared: &SharedTelegram) -> Result<(), KeepError> {
        let path = self.folder.join(WORLD);
        let (saved, files) = shared.look(|state| (SavedWorld::of(state), self.missing(state)));
        let keeper = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || keeper.write(&saved, files)).await;
        written.map_err(io::Error::other).flatten().map_err(|error| failed(&path, error))
    }

    /// Writes changes until the server stops; the last ones are left to [`Self::save`].
    pub(super) async fn keep_saving(self: Arc<Self>, shared: SharedTelegram) {
        let mut changes = shared.changes();
        // What was there before the first change is written too.
        changes.mark_changed();
        let mut is_failing = false;
        loop {
            let change = async {
                if changes.changed().await.is_ok() {
                    sleep(if is_failing { RETRY } else { GATHER }).await;
                }
            };
            tokio::select! {
                () = shared.stopping() => return,
                () = change => {}
            }
            changes.mark_unchanged();
            match self.save(&shared).await {
                Ok(()) => is_failing = false,
                Err(error) => {
                    if !is_failing {
                        tracing::warn!(%error, "the chats of the demo cannot be written; trying again");
                    }
                    is_failing = true;
                    changes.mark_changed();
                }
            }
        }
    }
}

/// Leaves out the ids that a world before a new one may have given in the same folder.
pub(super) fn skip_given_ids(state: &mut TelegramState, now: DateTime<Utc>) {
    skip_ids(state, now, since_epoch(now));
}

fn since_epoch(now: DateTime<Utc>) -> i64 {
    now.timestamp() - EPOCH_SECONDS
}

/// Leaves out what may have been given and not written. Update ids are above the clock as well.
fn skip_ids(state: &mut TelegramState, now: DateTime<Utc>, messages_from: i64) {
    state.updates.next_id = since_epoch(now).max(state.updates.next_id + RESERVED);
    let names_from = messages_from.unsigned_abs();
    state.last_name = names_from.max(state.last_name + RESERVED.unsigned_abs());
    state.world.chats.values_mut().for_each(|chat| chat.skip_ids(RESERVED, messages_from));
}

fn failed(path: &Path, error: io::Error) -> KeepError {
    KeepError::Io { path: path.to_owned(), error }
}

fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        done => done,
    }
}

fn lock(folder: &Path) -> Result<File, KeepError> {
    let path = folder.join(LOCK);
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(|error| failed(&path, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(KeepError::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(&path, error)),
    }
}

/// A process that was killed while it wrote leaves such files.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The world in these bytes, or why they hold none.
fn parse(bytes: &[u8]) -> Result<SavedWorld, String> {
    #[derive(Deserialize)]
    struct WorldVersion {
        version: u32,
    }
    let damaged = |error: serde_json::Error| format!("it is damaged: {error}");
    let WorldVersion { version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if version != VERSION {
        return Err(format!("it is of version {version}, and this program reads version {VERSION}"));
    }
    let saved: SavedWorld = serde_json::from_slice(bytes).map_err(damaged)?;
    // They name files of the folder.
    let is_id = |id: &String| {
        let number = id.strip_prefix(FILE_PREFIX).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    };
    match saved.files.keys().find(|id| !is_id(id)) {
        Some(id) => Err(format!("it is damaged: {id:?} is no file id")),
        None => Ok(saved),
    }
}

/// The files of a world; one that somebody removed is gone, and Telegram says so to whoever asks for it.
fn read_files(folder: &Path, saved: &SavedWorld) -> Result<BTreeMap<String, StoredFile>, KeepError> {
    let mut files = BTreeMap::new();
    for (id, path) in &saved.files {
        let place = folder.join(id);
        match fs::read(&place) {
            Ok(bytes) => drop(files.insert(id.clone(), StoredFile { path: path.clone(), bytes })),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                tracing::warn!(path = %place.display(), "a file that was sent in the demo is gone");
            }
            Err(error) => return Err(failed(&place, error)),
        }
    }
    Ok(files)
}

/// Writes a file as a whole or not at all.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    drop(file.persist(folder.join(name))?);
    Ok(())
}
