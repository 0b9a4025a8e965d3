//! What each bot of this process is doing, kept beside the store for `figaro bots`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_base::system::in_words;

/// Name of the file in the folder of the store.
const FILE: &str = "bots.json";

/// State of a bot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum BotState {
    /// Its parts are being made, or it waits for Telegram.
    Starting,
    /// All parts are made and updates are taken in.
    Runs {
        /// Username at Telegram, without `@`.
        username: String,
    },
    /// It stopped by itself and is tried again.
    Paused {
        /// Reason, with a remedy.
        reason: String,
    },
    /// Running turns get their time to end.
    Stopping,
}

/// State of a bot and its beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BotStateSince {
    #[serde(flatten)]
    pub(super) state: BotState,
    pub(super) since: DateTime<Utc>,
    /// Owners of the bot's settings.
    #[serde(skip)]
    pub(super) owners: Vec<UserId>,
}

/// States of all bots of this process.
#[derive(Debug)]
pub(super) struct BotStates {
    states: Mutex<BTreeMap<String, BotStateSince>>,
    /// File of the states; `None` without a folder.
    file: Option<PathBuf>,
}

impl BotStates {
    /// Makes states that are also written into this folder.
    pub(super) fn in_folder(folder: Option<&Path>) -> Self {
        Self { states: Mutex::default(), file: folder.map(|folder| folder.join(FILE)) }
    }

    /// Returns the states of all bots, by name.
    pub(super) fn all(&self) -> BTreeMap<String, BotStateSince> {
        self.states.lock().clone()
    }

    /// Sets the state of a bot with these owners; `None` for one that left.
    pub(super) fn set(&self, name: &str, owners: &[UserId], state: Option<BotState>) {
        let mut states = self.states.lock();
        match state {
            Some(state) if states.get(name).is_some_and(|known| known.state == state) => return,
            Some(state) => {
                let now = Clock::system().now();
                let since = BotStateSince { state, since: now, owners: owners.to_vec() };
                drop(states.insert(name.to_owned(), since));
            }
            None => drop(states.remove(name)),
        }
        if let Some(file) = &self.file {
            // The states are for people to look at; the bots go on without.
            if let Err(error) = write(file, &states) {
                tracing::debug!(error = in_words(&error), "the states of the bots could not be written");
            }
        }
    }
}

fn write(file: &Path, states: &BTreeMap<String, BotStateSince>) -> std::io::Result<()> {
    if file.parent().is_none_or(|folder| !folder.is_dir()) {
        return Ok(());
    }
    let new = file.with_extension("json.new");
    fs::write(&new, serde_json::to_vec(states)?)?;
    fs::rename(new, file)
}

/// Reads the states that a process wrote last; empty if there are none.
pub(super) fn read(folder: &Path) -> BTreeMap<String, BotStateSince> {
    let bytes = fs::read(folder.join(FILE)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
