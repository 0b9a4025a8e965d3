//! What a look at one thing has found.

use std::time::Duration;

use crate::app::terminal::say;

/// How long anything may take of which nothing is heard.
pub(super) const REACH: Duration = Duration::from_secs(5);

/// What was found.
pub(super) struct Finding {
    pub(super) what: &'static str,
    /// What is there, or what is wrong and to be done.
    pub(super) result: Result<String, String>,
    /// What else is worth a word.
    pub(super) note: Option<String>,
}

impl Finding {
    /// A finding without a note.
    pub(super) const fn new(what: &'static str, result: Result<String, String>) -> Self {
        Self { what, result, note: None }
    }

    /// Prints it.
    pub(super) fn say(&self) {
        match &self.result {
            Ok(words) => say(&format!("✓ {}: {words}", self.what)),
            Err(words) => say(&format!("✗ {}: {words}", self.what)),
        }
        if let Some(note) = &self.note {
            say(&format!("! {note}"));
        }
    }
}
