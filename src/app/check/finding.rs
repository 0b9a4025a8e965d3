//! Result of one check.

use std::time::Duration;

use crate::app::terminal::say;

/// Timeout for a service to respond at all.
pub(super) const REACH: Duration = Duration::from_secs(5);

pub(super) struct Finding {
    pub(super) what: &'static str,
    /// Description if the check passes; fault and remedy if it fails.
    pub(super) result: Result<String, String>,
    pub(super) note: Option<String>,
    /// Next step of the owner if all checks pass, where it is not to start the bot.
    pub(super) next: Option<&'static str>,
}

impl Finding {
    pub(super) const fn new(what: &'static str, result: Result<String, String>) -> Self {
        Self { what, result, note: None, next: None }
    }

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
