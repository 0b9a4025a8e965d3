//! Reasons of failed runs. They are stored as data; the text is made for each reader.

use serde::{Deserialize, Serialize};

/// Reason why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The day's budget was used up.
    Budget {
        /// Time of the reset, as a clock shows it.
        time: String,
        /// IANA time zone of that time.
        zone: String,
    },
    /// The model cannot be used. Only the owner can fix that.
    Model,
    /// The agent of the task no longer exists.
    Agent {
        /// Name of the agent.
        agent: String,
    },
    /// The model could not be reached, or did not finish.
    Busy,
    /// The model, or its provider's filter, refused to answer.
    Refused,
    /// The model returned an empty answer.
    Empty,
    /// The model used up its tokens on reasoning, without an answer.
    Spent,
    /// The answer did not match the schema of its agent.
    Misfit,
    /// An internal fault, such as a failing store.
    Internal,
    /// A crash interrupted the run after it had an effect.
    Interrupted,
    /// Telegram refused the messages of the run.
    Undelivered,
    /// It is unknown whether Telegram has accepted the messages.
    Unclear,
}

impl Reason {
    /// Returns `true` if the task itself may be at fault. After enough such failures it is paused.
    #[must_use]
    pub(crate) const fn counts(&self) -> bool {
        !matches!(self, Self::Budget { .. })
    }

    /// Returns `true` if the fault may be gone after some minutes.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Busy | Self::Empty | Self::Spent | Self::Internal)
    }
}
