//! State of the bot for `/status`: start time, last error, last model, broken files.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

/// Start time of the bot, its last error, last model and broken files.
#[derive(Debug)]
pub struct Vitals {
    /// Start time of the bot, in UTC.
    pub started_at: DateTime<Utc>,
    last_error: Mutex<Option<(DateTime<Utc>, &'static str)>>,
    last_model: Mutex<Option<String>>,
    broken_files: Mutex<BTreeMap<&'static str, String>>,
}

impl Vitals {
    /// Makes the state of a bot that starts now, without errors.
    #[must_use]
    pub const fn new(started_at: DateTime<Utc>) -> Self {
        Self {
            started_at,
            last_error: Mutex::new(None),
            last_model: Mutex::new(None),
            broken_files: Mutex::new(BTreeMap::new()),
        }
    }

    /// Records an error. `label` names its kind.
    pub fn failed(&self, at: DateTime<Utc>, label: &'static str) {
        *self.last_error.lock() = Some((at, label));
    }

    /// Records the model of an answer, as `provider:model`.
    pub fn answered_by(&self, model: &str) {
        *self.last_model.lock() = Some(model.to_owned());
    }

    /// Records the faults in the owner's files of one kind; their previous content stays in force. `None` clears them.
    pub fn set_broken(&self, kind: &'static str, faults: Option<&str>) {
        let mut broken = self.broken_files.lock();
        match faults {
            Some(faults) => drop(broken.insert(kind, faults.to_owned())),
            None => drop(broken.remove(kind)),
        }
    }

    /// Faults in the owner's files, one text per kind of file.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        self.broken_files.lock().values().cloned().collect()
    }

    /// Returns the model of the last answer, as `provider:model`; `None` before the first.
    #[must_use]
    pub fn last_model(&self) -> Option<String> {
        self.last_model.lock().clone()
    }

    /// Returns the time and label of the last error; `None` if there was none.
    #[must_use]
    pub fn last_error(&self) -> Option<(DateTime<Utc>, &'static str)> {
        *self.last_error.lock()
    }
}
