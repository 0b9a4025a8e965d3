//! What the runs of a task may do without asking anybody: a person has approved it with the task.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, UserId};

/// The most standing rules of a task.
pub const MAX_STANDING: usize = 10;
/// The most calls that one lets a run make.
pub const MAX_CALLS: u32 = 20;
/// What stands in the place of a method's name where a person is asked to approve such a rule.
pub const STANDING_RULE: &str = "standing_rule";

/// A leave for the runs of one task. It ends with the task, and when the task gets another prompt or schedule: the person who
/// approved it knew these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRule {
    /// The Bot API method that may be called.
    pub method: String,
    /// The one chat that the calls may act on.
    pub chat: ChatId,
    /// The most calls in one run, from 1 to [`MAX_CALLS`].
    pub times: u32,
    /// The rule that asked about it, by its name: what another rule asks about is not let go.
    pub rule: String,
    /// Who approved it. They must still be allowed to whenever it is used.
    pub by: UserId,
}

/// A change of what the runs of a task may do.
#[derive(Debug, Clone, PartialEq)]
pub enum StandingChange {
    /// They may do this, which a person has approved of the task as it was last changed at this time, UTC. Nothing happens if it
    /// was changed since, or if there is no room.
    Permit {
        /// What they may do.
        rule: StandingRule,
        /// When the task was last changed.
        as_of: DateTime<Utc>,
    },
    /// They may not call this method for this chat any more without asking.
    Forbid(String, ChatId),
}
