//! A turn that waits for a person, as it is stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::active::ActiveTurn;
use crate::approval::{Approval, Ruling};
use crate::chat::Place;
use crate::conversation::EntryKey;
use crate::message::Inbound;
use crate::tool::Call;
use figaro_base::ids::UserId;

/// A question to a person, for which a turn waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonQuestion {
    /// The text of the question, in Markdown.
    pub text: String,
    /// Answers to choose from, a button each.
    pub options: Vec<String>,
    /// Whether it may be answered in free words.
    pub is_free: bool,
    /// The waiting ends without an answer after so many minutes.
    pub expires_after_min: u32,
    /// The call that is to be approved: then the text is made from it when the turn is put away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
}

/// A turn that waits for a person. It is on record by its id, and no turn of its conversation waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParkedTurn {
    /// The turn, with what its machine goes on with.
    pub turn: ActiveTurn,
    /// The index of the message that holds the question. Those of the turn stand before it, from the turn's first on.
    pub asked_at: u32,
    /// The call that the answer is the result of.
    pub call: Call,
    /// The question to the person.
    pub question: PersonQuestion,
    /// Who is asked: nobody else may answer.
    pub asked: UserId,
    /// The chat and topic of the question.
    pub place: Place,
    /// The IETF tag of the language that their client speaks.
    pub language: Option<String>,
    /// When it was put away.
    pub parked_at: DateTime<Utc>,
    /// When the waiting ends without an answer, UTC.
    pub expires_at: DateTime<Utc>,
    /// The message or press that answers, with the answer as its text; the turn goes on as soon as its queue lets it.
    #[serde(default)]
    pub answer: Option<Box<Inbound>>,
    /// What was said to the call that is to be approved; its answer is in the name of whoever asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
}

impl ParkedTurn {
    /// The key of the stored message that holds the question.
    #[must_use]
    pub const fn question_key(&self) -> EntryKey {
        EntryKey { session: self.turn.session, index: self.asked_at }
    }
}
