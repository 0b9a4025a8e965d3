//! Saves the world of an offline Telegram in a folder, for the next start: people, chats, messages, reactions, files,
//! pending updates and the last ids. Used by `figaro demo --store`.

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

use super::menu::BotMenu;
use super::shared::SharedTelegram;
use super::state::{ButtonPress, CommandList, StoredFile, TelegramState};
use super::world::{Chat, Person};

/// Version of the file format; other versions are not read.
const VERSION: u32 = 1;
/// Folder inside the bot's store. Its files lie directly in it, and the store closes them to other accounts.
const FOLDER: &str = "demo";
const WORLD: &str = "world.json";
const LOCK: &str = "lock";
const FILE_PREFIX: &str = "file-";
const TEMPORARY: &str = ".new-";
/// Delay between a change and its write. A crash loses at most the changes of this time.
const GATHER: Duration = Duration::from_millis(100);
/// Pause after a failed write.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of saved messages per chat, more than the page shows.
const MAX_MESSAGES: usize = 1_000;
/// Number of ids skipped at a start, more than can be assigned within [`GATHER`]. Ids assigned just before a crash are not
/// reused.
const RESERVED: i64 = 1_000;
/// 2020-01-01 in Unix time. Ids of a new world begin at the seconds since then: above those of any earlier world in the
/// folder, and within 32 bits for decades.
const EPOCH_SECONDS: i64 = 1_577_836_800;

/// Error of opening or saving a world.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Another process has locked this folder.
    #[error("another demo is using {}: end it, or choose another folder with --store", .0.display())]
    InUse(PathBuf),
    /// Failure to read or write the folder or a file in it.
    #[error("{} cannot be used: {}", path.display(), error.kind())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Underlying error of the operating system.
        error: io::Error,
    },
}

/// World that could not be read and was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableWorld {
    /// Reason, as a clause such as `it is damaged: …`.
    pub reason: String,
    /// Path of the file after its rename.
    pub path: PathBuf,
}

/// Locked folder of a world, with the saved world if there is one.
#[derive(Debug)]
pub struct WorldFolder {
    folder: PathBuf,
    lock: File,
    saved: Option<SavedWorld>,
    files: BTreeMap<String, StoredFile>,
    set_aside: Option<UnreadableWorld>,
}

/// Content of the world's file.
#[derive(Debug, Serialize, Deserialize)]
struct SavedWorld {
    version: u32,
    next_update: i64,
    /// Updates not acknowledged by the bot.
    waiting: Vec<(i64, String)>,
    last_name: u64,
    people: Vec<Person>,
    chats: Vec<Chat>,
    presses: BTreeMap<String, ButtonPress>,
    commands: Vec<CommandList>,
    #[serde(default)]
    menu: BotMenu,
    /// `file_path` of each file, by id. The bytes are in a file named by the id.
    files: BTreeMap<String, String>,
}

/// Writes the changes of a world into its folder, each file atomically.
#[derive(Debug)]
pub(super) struct WorldWriter {
    folder: PathBuf,
    written: Mutex<WrittenWorld>,
    /// Held until the end, so that no other process writes to the folder.
    _lock: File,
}

/// Content of the folder after the last write, to detect changes.
#[derive(Debug, Default)]
struct WrittenWorld {
    /// Bytes of the world's file; empty before the first write.
    world: Vec<u8>,
    /// Ids of the written files.
    files: BTreeSet<String>,
}

impl WorldFolder {
    /// Opens and locks the world's folder in a store. A world that cannot be read is set aside.
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

    /// Returns `true` if a saved world was loaded.
    #[must_use]
    pub const fn has_world(&self) -> bool {
        self.saved.is_some()
    }

    /// Returns the world that could not be read, if there was one.
    #[must_use]
    pub const fn set_aside(&self) -> Option<&UnreadableWorld> {
        self.set_aside.as_ref()
    }

    /// Returns the path of the world's file, which may not exist yet.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(WORLD)
    }

    /// Loads the saved world, if any, into a new state. Returns the writer for its changes.
    pub(super) fn restore(self, state: &mut TelegramState, now: DateTime<Utc>) -> WorldWriter {
        let files = self.files.keys().cloned().collect();
        if let Some(saved) = self.saved {
            state.updates.queue.extend(saved.waiting);
            state.updates.next_id = saved.next_update;
            state.last_name = saved.last_name;
            // The bot of this start replaces the saved one.
            let bot = state.world.bot.id;
            let others = saved.people.into_iter().filter(|person| person.id != bot);
            state.world.people.extend(others.map(|person| (person.id, person)));
            state.world.chats = saved.chats.into_iter().map(|chat| (chat.id, chat)).collect();
            (state.presses, state.commands, state.files) = (saved.presses, saved.commands, self.files);
            state.menu = saved.menu;
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
            menu: state.menu.clone(),
            files: state.files.iter().map(|(id, file)| (id.clone(), file.path.clone())).collect(),
        }
    }
}

impl WorldWriter {
    /// Returns the files that are not in the folder yet.
    fn missing(&self, state: &TelegramState) -> Vec<(String, Vec<u8>)> {
        let written = self.written.lock();
        let new = state.files.iter().filter(|(id, _)| !written.files.contains(*id));
        new.map(|(id, file)| (id.clone(), file.bytes.clone())).collect()
    }

    /// Writes the files first, so that the world refers only to existing files.
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

    /// Writes the current world. Errors if the folder is not writable.
    pub(super) async fn save(self: &Arc<Self>, shared: &SharedTelegram) -> Result<(), KeepError> {
        let path = self.folder.join(WORLD);
        let (saved, files) = shared.look(|state| (SavedWorld::of(state), self.missing(state)));
        let keeper = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || keeper.write(&saved, files)).await;
        written.map_err(io::Error::other).flatten().map_err(|error| failed(&path, error))
    }

    /// Writes changes until the server stops. [`Self::save`] writes the last ones.
    pub(super) async fn keep_saving(self: Arc<Self>, shared: SharedTelegram) {
        let mut changes = shared.changes();
        // The initial state is written too.
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

/// Skips the ids that an earlier world in the same folder may have assigned.
pub(super) fn skip_given_ids(state: &mut TelegramState, now: DateTime<Utc>) {
    skip_ids(state, now, since_epoch(now));
}

fn since_epoch(now: DateTime<Utc>) -> i64 {
    now.timestamp() - EPOCH_SECONDS
}

/// Skips the ids that may have been assigned but not saved. Update ids also start above the clock.
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

/// Removes temporary files left by a process that was killed during a write.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Parses a world. The error is the reason as text.
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
    // The ids are names of files in the folder, so they must be safe.
    let is_id = |id: &String| {
        let number = id.strip_prefix(FILE_PREFIX).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    };
    match saved.files.keys().find(|id| !is_id(id)) {
        Some(id) => Err(format!("it is damaged: {id:?} is no file id")),
        None => Ok(saved),
    }
}

/// Reads the files of a world. A removed file is skipped; requests for it get Telegram's error.
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

/// Writes a file atomically.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    drop(file.persist(folder.join(name))?);
    Ok(())
}
