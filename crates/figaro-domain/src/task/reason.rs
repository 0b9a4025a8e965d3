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
        /// The IANA time zone of that time.
        zone: String,
    },
    /// The model cannot be used: only the owner can mend that.
    Model,
    /// The agent that carries it out is not there any more.
    Agent {
        /// Its name.
        agent: String,
    },
    /// The model could not be reached, or did not finish.
    Busy,
    /// The model, or its provider's filter, refused to answer.
    Refused,
    /// The model gave an empty answer.
    Empty,
    /// The model has reasoned, and the answer ended before there was one.
    Spent,
    /// The answer did not fit the form that its agent has to keep to.
    Misfit,
    /// A fault within Figaro, such as a failing store.
    Internal,
    /// A crash broke it off after it had done something.
    Interrupted,
    /// Telegram refused its messages.
    Undelivered,
    /// Nobody knows whether Telegram has taken its words.
    Unclear,
}

impl Reason {
    /// Whether the task itself may be at fault, so that it is paused after enough of them.
    #[must_use]
    pub(crate) const fn counts(&self) -> bool {
        !matches!(self, Self::Budget { .. })
    }

    /// Whether it may be over in some minutes.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Busy | Self::Empty | Self::Spent | Self::Internal)
    }
}
