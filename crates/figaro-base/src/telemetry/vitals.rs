//! How the bot is doing, for `/status`: written where things fail, read by the command.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

/// When the bot started, what last went wrong, and who answered last.
#[derive(Debug)]
pub struct Vitals {
    /// When it started.
    pub started_at: DateTime<Utc>,
    last_error: Mutex<Option<(DateTime<Utc>, &'static str)>>,
    last_model: Mutex<Option<String>>,
    broken_files: Mutex<BTreeMap<&'static str, String>>,
}

impl Vitals {
    /// A bot that started now.
    #[must_use]
    pub const fn new(started_at: DateTime<Utc>) -> Self {
        Self {
            started_at,
            last_error: Mutex::new(None),
            last_model: Mutex::new(None),
            broken_files: Mutex::new(BTreeMap::new()),
        }
    }

    /// Something failed, under this label.
    pub fn failed(&self, at: DateTime<Utc>, label: &'static str) {
        *self.last_error.lock() = Some((at, label));
    }

    /// This model wrote an answer.
    pub fn answered_by(&self, model: &str) {
        *self.last_model.lock() = Some(model.to_owned());
    }

    /// What is wrong with files of the owner of one kind, so that what they said before holds; `None` once they are well.
    pub fn set_broken(&self, kind: &'static str, faults: Option<&str>) {
        let mut broken = self.broken_files.lock();
        match faults {
            Some(faults) => drop(broken.insert(kind, faults.to_owned())),
            None => drop(broken.remove(kind)),
        }
    }

    /// What is wrong with files of the owner, a text for each kind.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        self.broken_files.lock().values().cloned().collect()
    }

    /// The model that wrote the last answer, as `provider:model`.
    #[must_use]
    pub fn last_model(&self) -> Option<String> {
        self.last_model.lock().clone()
    }

    /// What last failed, and when.
    #[must_use]
    pub fn last_error(&self) -> Option<(DateTime<Utc>, &'static str)> {
        *self.last_error.lock()
    }
}
