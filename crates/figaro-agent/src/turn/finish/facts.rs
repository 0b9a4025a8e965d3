//! Facts for the decision on a turn's end: loaded by `turn::end`, read by the rules of this folder.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::question::Question;
use figaro_domain::delivery::CardKind;
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::ActiveTurn;
use figaro_prompts::texts::Texts;

/// Facts for the decision on a turn's end, besides its outcome.
#[derive(Debug)]
pub(crate) struct TurnEndFacts<'a> {
    /// Record of the turn that ends.
    pub(crate) turn: &'a ActiveTurn,
    pub(crate) question: &'a Question,
    /// Texts in the language of the person who asked.
    pub(crate) texts: &'a Texts,
    /// Time of the end, in UTC.
    pub(crate) now: DateTime<Utc>,
    /// Time zone of the chat, for times in texts.
    pub(crate) zone: Tz,
    /// `true` if people have seen text of the answer in a message that stays.
    pub(crate) has_shown: bool,
    /// `true` if the turn may have made a call that must not be repeated, such as one that sends or deletes something.
    pub(crate) has_acted: bool,
    /// `true` if a model other than the failed one can be chosen.
    pub(crate) has_other_model: bool,
    /// `true` if the turn made changes in chats that can be undone.
    pub(crate) can_undo: bool,
    /// Number of attempts at the question that stand in the chat, with this one.
    pub(crate) attempts: usize,
    /// `true` if the chat has its answers spoken.
    pub(crate) speaks: bool,
    /// `true` if the answer may go out as rich messages.
    pub(crate) is_rich: bool,
    /// Approved calls that were not made, or may not have been made.
    pub(crate) called_off: Vec<ToolCall>,
    /// Cards that follow the answer, in this order.
    pub(crate) cards: Vec<CardKind>,
    /// Lines under the answer about its cost and about limits on spending.
    pub(crate) spending: Vec<String>,
}
