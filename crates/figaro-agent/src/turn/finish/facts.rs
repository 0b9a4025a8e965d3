//! What the end of a turn is decided from: looked up by `turn::end`, read by the rules of this folder.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::question::Question;
use figaro_domain::delivery::Card;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::ActiveTurn;
use figaro_prompts::texts::Texts;

/// What the end of a turn is decided from, beside its outcome.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// The record of the turn that ends.
    pub(crate) turn: &'a ActiveTurn,
    /// The question that it answers.
    pub(crate) question: &'a Question,
    /// The texts for people, in the language of whoever asked.
    pub(crate) texts: &'a Texts,
    /// The time of the end, UTC.
    pub(crate) now: DateTime<Utc>,
    /// The zone of the chat, by whose clocks times are told.
    pub(crate) zone: Tz,
    /// Whether people have seen words of its answer in a message that stays.
    pub(crate) has_shown: bool,
    /// Whether it may have made a call that is not to be made twice, such as one that sends or deletes something.
    pub(crate) has_acted: bool,
    /// Whether another model than the one that failed can be chosen.
    pub(crate) has_other_model: bool,
    /// Whether it did something in chats that can be taken back.
    pub(crate) can_undo: bool,
    /// The calls that a person has approved and that were not made, or of which nobody knows whether they were.
    pub(crate) called_off: Vec<ToolCall>,
    /// The cards that are sent after its answer, in this order.
    pub(crate) cards: Vec<Card>,
}
