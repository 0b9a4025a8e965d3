//! What became of a message that came in, so that people can be told why it was or was not answered: ids and names of
//! cases, never words. The router and the turns note it, and it is kept for a short while.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::task::Reason;
use figaro_base::ids::{PinId, RunId, UserId};

/// So many messages of a chat are remembered, the newest.
pub const KEPT_IN_CHAT: usize = 200;
/// And so long.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(7);

/// What was decided about a message when it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reception {
    /// It is a question, and waits for its turn.
    Asked,
    /// It was a command, or an answer to what a card or a turn asked for.
    Taken,
    /// The group may not use the bot.
    GroupNotAllowed,
    /// Its writer was shut out.
    Denied,
    /// Its writer is not let in.
    Stranger,
    /// In a group it neither named the bot nor replied to it.
    NotAddressed,
    /// The group has the bot answer commands alone.
    Off,
    /// It was a command for another bot.
    OtherBot,
    /// No person wrote it, or it has neither words nor anything that is read.
    NoPerson,
    /// Another bot wrote it, and the two had answered only each other, or too often.
    BotsLoop,
    /// Too much was waiting already.
    NoRoom,
}

impl Reception {
    /// Whether it says nothing of its writer alone: everybody in the group may be told.
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

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The model's answer was delivered.
    Answered,
    /// A tool said what there was to say, or there was nothing.
    Silent,
    /// With words of Figaro's own, such as that it cannot read a file.
    Told,
    /// A person stopped it.
    Stopped,
    /// It waits for a person.
    Waits,
    /// It failed.
    Failed {
        /// The reason, as people are told it.
        reason: Reason,
        /// The short stable name of the error, for owners.
        label: String,
    },
}

/// The turn that a message led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTrace {
    /// The id of the turn that the message led to.
    pub run: RunId,
    /// The agent that it was prepared for; `None` for Figaro itself.
    #[serde(default)]
    pub agent: Option<String>,
    /// The pins that it was told.
    #[serde(default)]
    pub pins: Vec<PinId>,
    /// How it ended; `None` while it is at work.
    #[serde(default)]
    pub ending: Option<Ending>,
}

impl TurnTrace {
    /// A turn that has begun.
    #[must_use]
    pub const fn begun(run: RunId, agent: Option<String>, pins: Vec<PinId>) -> Self {
        Self { run, agent, pins, ending: None }
    }

    /// A turn that has ended like this.
    #[must_use]
    pub const fn ended(run: RunId, ending: Ending) -> Self {
        Self { run, agent: None, pins: Vec::new(), ending: Some(ending) }
    }

    /// What is known of the turn with what is told of it later; a further try takes its place.
    fn with(self, later: Self) -> Self {
        if self.run != later.run {
            return later;
        }
        let pins = if later.pins.is_empty() { self.pins } else { later.pins };
        Self { run: self.run, agent: later.agent.or(self.agent), pins, ending: later.ending.or(self.ending) }
    }
}

/// A message that came in, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// When it came in, UTC.
    pub at: DateTime<Utc>,
    /// Whoever wrote it.
    pub user: UserId,
    /// What was decided when it came in.
    pub what: Reception,
    /// The turn that it led to.
    #[serde(default)]
    pub turn: Option<TurnTrace>,
}

impl Received {
    /// What is known with what is told later. What was decided first stays, as an update may be taken in once more.
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

    fn received(what: Reception, turn: Option<TurnTrace>) -> Received {
        Received { at: DateTime::UNIX_EPOCH, user: UserId::telegram(1), what, turn }
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
