//! Why a run of a task failed: kept as what it is, so that each reader is told in their own words.

use serde::{Deserialize, Serialize};

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The day's budget was used up.
    Budget {
        /// When it resets, as a clock shows it.
        time: String,
        /// The zone of that clock.
        zone: String,
    },
    /// The model cannot be used: only the owner can mend that.
    Model,
    /// The model could not be reached, or did not finish.
    Busy,
    /// The model refused.
    Refused,
    /// The model had nothing to say.
    Empty,
    /// Figaro itself failed.
    Internal,
    /// A crash broke it off after it had done something.
    Interrupted,
    /// Telegram did not take its words.
    Undelivered,
    /// Nobody knows whether Telegram has taken its words.
    Unclear,
}

impl Reason {
    /// Whether the task itself may be at fault, so that it is paused after enough of them.
    #[must_use]
    pub const fn counts(&self) -> bool {
        !matches!(self, Self::Budget { .. })
    }

    /// Whether it may be over in some minutes.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Busy | Self::Empty | Self::Internal)
    }
}
