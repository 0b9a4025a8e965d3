//! Fate of an incoming message, so that people can be told why it was or was not answered. Holds ids and named cases, and
//! of words only the error of a model. The router and the turns record it; it is kept for a short time.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::task::Reason;
use figaro_base::ids::{PinId, RunId, UserId};

/// Number of the newest messages of a chat whose fate is kept.
pub const KEPT_IN_CHAT: usize = 200;
/// Time for which the fate of a message is kept.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(7);

/// Decision about an incoming message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reception {
    /// A question that waits for its turn.
    Asked,
    /// A command, or an answer to a card or a turn.
    Taken,
    /// The group may not use the bot.
    GroupNotAllowed,
    /// The writer is denied or banned.
    Denied,
    /// The writer is not allowed to use the bot.
    Stranger,
    /// A message in a group that neither named the bot nor replied to it.
    NotAddressed,
    /// The bot answers only commands in this group.
    Off,
    /// A command for another bot.
    OtherBot,
    /// No person wrote the message, or it has no readable content.
    NoPerson,
    /// Another bot wrote the message, and the two bots had answered only each other, or too often.
    BotsLoop,
    /// The queue was full.
    NoRoom,
}

impl Reception {
    /// Returns `true` if the decision reveals nothing about the writer, so that everybody in the group may see it.
    #[must_use]
    pub const fn is_public(self) -> bool {
        match self {
            Self::GroupNotAllowed
            | Self::NotAddressed
            | Self::Off
            | Self::OtherBot
            | Self::BotsLoop
            | Self::NoPerson => true,
            Self::Asked | Self::Taken | Self::Denied | Self::Stranger | Self::NoRoom => false,
        }
    }
}

/// Result of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The model's answer was delivered.
    Answered,
    /// A tool sent everything, or there was nothing to say.
    Silent,
    /// Figaro replied itself, for example that it cannot read a file.
    Told,
    /// A person stopped the turn.
    Stopped,
    /// The turn waits for a person.
    Waits,
    /// The turn failed with an error.
    Failed {
        /// Reason shown to people.
        reason: Reason,
        /// Short stable name of the error, for owners.
        label: String,
        /// Error of the model with its remedy, for owners; `None` for other errors.
        #[serde(default)]
        error: Option<String>,
    },
}

/// Turn that a message led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTrace {
    /// Id of the turn.
    pub run: RunId,
    /// Agent that the turn was prepared for; `None` for Figaro itself.
    #[serde(default)]
    pub agent: Option<String>,
    /// Pins in the prompt of the turn.
    #[serde(default)]
    pub pins: Vec<PinId>,
    /// Result of the turn; `None` while it runs.
    #[serde(default)]
    pub ending: Option<Ending>,
}

impl TurnTrace {
    /// Creates the trace of a turn that has begun.
    #[must_use]
    pub const fn begun(run: RunId, agent: Option<String>, pins: Vec<PinId>) -> Self {
        Self { run, agent, pins, ending: None }
    }

    /// Creates the trace of a turn with this result.
    #[must_use]
    pub const fn ended(run: RunId, ending: Ending) -> Self {
        Self { run, agent: None, pins: Vec::new(), ending: Some(ending) }
    }

    /// Merges later data into the trace. A further attempt, with another id, replaces it.
    fn with(self, later: Self) -> Self {
        if self.run != later.run {
            return later;
        }
        let pins = if later.pins.is_empty() { self.pins } else { later.pins };
        Self { run: self.run, agent: later.agent.or(self.agent), pins, ending: later.ending.or(self.ending) }
    }
}

/// An incoming message and its fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedMessage {
    /// Time of arrival, UTC.
    pub at: DateTime<Utc>,
    /// Writer of the message.
    pub user: UserId,
    /// Decision made on arrival.
    pub what: Reception,
    /// Turn that the message led to.
    #[serde(default)]
    pub turn: Option<TurnTrace>,
}

impl ReceivedMessage {
    /// Merges later data into the entry. The first decision stays, since an update may be processed twice.
    #[must_use]
    pub fn with(self, later: Self) -> Self {
        let turn = match (self.turn, later.turn) {
            (Some(known), Some(later)) => Some(known.with(later)),
            (known, later) => later.or(known),
        };
        Self { at: self.at, user: self.user, what: self.what, turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(what: Reception, turn: Option<TurnTrace>) -> ReceivedMessage {
        ReceivedMessage { at: DateTime::UNIX_EPOCH, user: UserId::telegram(1), what, turn }
    }

    #[test]
    fn what_is_told_later_is_added_and_a_further_try_counts_alone() {
        let (run, other, pin) = (RunId::new(), RunId::new(), PinId::new());
        let begun = TurnTrace::begun(run, Some("cook".to_owned()), vec![pin]);
        let ended = TurnTrace::ended(run, Ending::Answered);
        let whole = TurnTrace { ending: Some(Ending::Answered), ..begun.clone() };
        let cases = [
            (None, None, None),
            (None, Some(begun.clone()), Some(begun.clone())),
            (Some(begun.clone()), None, Some(begun.clone())),
            (Some(begun.clone()), Some(ended.clone()), Some(whole.clone())),
            (Some(ended.clone()), Some(begun.clone()), Some(whole.clone())),
            (
                Some(whole),
                Some(TurnTrace::ended(other, Ending::Stopped)),
                Some(TurnTrace::ended(other, Ending::Stopped)),
            ),
        ];
        for (known, later, wanted) in cases {
            let merged = received(Reception::Asked, known).with(received(Reception::Taken, later));
            assert_eq!(merged, received(Reception::Asked, wanted));
        }
    }
}
