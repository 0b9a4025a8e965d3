//! Warnings and errors of a log, counted by what happened.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::entry::{LogEntry, LogLevel};
use figaro_base::text::one_line;

/// Maximum number of kinds that are counted. Messages of other programs may all differ.
const KINDS: usize = 1_000;
/// Maximum number of characters of an example.
const EXAMPLE: usize = 300;

/// Warnings and errors of a log.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// Number of lines, also of calm ones.
    pub(super) lines: usize,
    kinds: HashMap<String, LoggedTrouble>,
}

/// Lines with the same message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoggedTrouble {
    pub(super) level: LogLevel,
    pub(super) message: String,
    pub(super) count: usize,
    pub(super) last: DateTime<Utc>,
    /// The last of them, with its details.
    pub(super) example: String,
}

impl Troubles {
    /// Counts a line of the log. A calm one counts as read only.
    pub(super) fn add(&mut self, entry: LogEntry) {
        self.lines += 1;
        if entry.level == LogLevel::Calm {
            return;
        }
        // Numbers differ from time to time.
        let kind: String = entry.message.chars().filter(|c| !c.is_ascii_digit()).collect();
        if !self.kinds.contains_key(&kind) && self.kinds.len() >= KINDS {
            return;
        }
        let LogEntry { at, level, message, whole } = entry;
        let fresh = || LoggedTrouble { level, message, count: 0, last: at, example: String::new() };
        let trouble = self.kinds.entry(kind).or_insert_with(fresh);
        trouble.count += 1;
        if at >= trouble.last {
            (trouble.last, trouble.level) = (at, level.max(trouble.level));
            // Words of other programs must not steer a terminal.
            let plain = whole.replace(|c: char| c.is_control(), " ");
            trouble.example = one_line(&plain, EXAMPLE);
        }
    }

    /// Returns all kinds: errors before warnings, then the most frequent first.
    pub(super) fn worst_first(&self) -> Vec<&LoggedTrouble> {
        let mut all: Vec<&LoggedTrouble> = self.kinds.values().collect();
        all.sort_by_key(|trouble| (Reverse((trouble.level, trouble.count, trouble.last)), &trouble.message));
        all
    }
}
