//! How the bot is doing, for `/status`: written where things fail, read by the command.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};

/// When the bot started and what last went wrong.
#[derive(Debug)]
pub struct Vitals {
    /// When it started.
    pub started_at: DateTime<Utc>,
    last_error: Mutex<Option<(DateTime<Utc>, &'static str)>>,
}

impl Vitals {
    /// A bot that started now.
    #[must_use]
    pub const fn new(started_at: DateTime<Utc>) -> Self {
        Self { started_at, last_error: Mutex::new(None) }
    }

    /// Something failed, under this label.
    pub fn failed(&self, at: DateTime<Utc>, label: &'static str) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, label));
    }

    /// What last failed, and when.
    #[must_use]
    pub fn last_error(&self) -> Option<(DateTime<Utc>, &'static str)> {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
