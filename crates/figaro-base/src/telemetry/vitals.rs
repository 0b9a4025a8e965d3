//! State of the bot for `/status`: start time, last error, last model, last calls of models, broken files.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

/// Result of the last call of a model in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastCall {
    /// A model answered: this one or its fallback, as `provider:model`.
    Answered(String),
    /// The model did not answer, or not to the end. Another attempt may work. The time is UTC.
    Unreachable(DateTime<Utc>),
    /// The model cannot be used until the owner acts, for example because of its key. The time is UTC.
    Unusable(DateTime<Utc>),
}

/// Start time of the bot, its last error, last model, last calls of models, and broken files.
#[derive(Debug)]
pub struct Vitals {
    /// Start time of the bot, in UTC.
    pub started_at: DateTime<Utc>,
    last_error: Mutex<Option<(DateTime<Utc>, &'static str)>>,
    last_model: Mutex<Option<String>>,
    last_calls: Mutex<BTreeMap<String, LastCall>>,
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
            last_calls: Mutex::new(BTreeMap::new()),
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

    /// Records the result of a call of `model`, as `provider:model`.
    pub fn called(&self, model: String, result: LastCall) {
        self.last_calls.lock().insert(model, result);
    }

    /// Returns the result of the last call of this model; `None` before the first.
    #[must_use]
    pub fn last_call(&self, model: &str) -> Option<LastCall> {
        self.last_calls.lock().get(model).cloned()
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
