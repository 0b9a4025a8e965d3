//! Actions that the runs of a task may take without asking. A person has approved them with the task.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, UserId};

/// Maximum number of standing rules of a task.
pub const MAX_STANDING: usize = 10;
/// Maximum number of calls per run that a rule allows.
pub const MAX_CALLS: u32 = 20;
/// Name used in place of a method when a person is asked to approve a standing rule.
pub const STANDING_RULE: &str = "standing_rule";

/// A permission for the runs of one task. It ends with the task, and when the task gets another prompt, schedule or agent:
/// the approver knew the old ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRule {
    /// Bot API method that may be called.
    pub method: String,
    /// Only chat that the calls may act on.
    pub chat: ChatId,
    /// Maximum number of calls in one run, from 1 to [`MAX_CALLS`].
    pub times: u32,
    /// Name of the rule that demanded the approval. Calls that another rule matches still need their own.
    pub rule: String,
    /// Person who approved it. They must still have the right whenever it is used.
    pub by: UserId,
}

/// A change of a task's standing rules.
#[derive(Debug, Clone, PartialEq)]
pub enum StandingChange {
    /// Adds a rule that a person has approved. Nothing happens if the task was changed after `as_of`, or if there is no
    /// room.
    Permit {
        /// Permission to be added.
        rule: StandingRule,
        /// Time of the task's last change, UTC, as the person saw it.
        as_of: DateTime<Utc>,
    },
    /// Removes the permission for this method and chat.
    Forbid(String, ChatId),
}
