//! Stored form of a turn that waits for a person.

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
    /// Text of the question, in Markdown.
    pub text: String,
    /// Answers to choose from, one button each.
    pub options: Vec<String>,
    /// `true` if it may be answered in free text.
    pub is_free: bool,
    /// Minutes after which the waiting ends without an answer.
    pub expires_after_min: u32,
    /// Call to be approved. The text is then made from it when the turn is parked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
}

impl PersonQuestion {
    /// Returns `true` if this text can be the answer: any if free text is taken, otherwise what a button says, in any case and
    /// with any punctuation around it. An approval takes no text.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        // A button can say a sign alone, such as 👍.
        let plain = |text: &str| {
            let words = text.trim_matches(|c: char| !c.is_alphanumeric());
            (if words.is_empty() { text.trim() } else { words }).to_lowercase()
        };
        let text = plain(text);
        self.approval.is_none()
            && (self.is_free || !text.is_empty() && self.options.iter().any(|option| plain(option) == text))
    }
}

/// A turn that waits for a person. It is recorded by its id, and does not block other turns of its conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParkedTurn {
    /// The turn, with the state to continue from.
    pub turn: ActiveTurn,
    /// Index of the message with the question. The turn's other messages are before it, from its first index on.
    pub asked_at: u32,
    /// Call whose result is the answer.
    pub call: Call,
    /// Question to the person.
    pub question: PersonQuestion,
    /// Only person who may answer.
    pub asked: UserId,
    /// Chat and topic of the question.
    pub place: Place,
    /// IETF tag of the language of the person's client.
    pub language: Option<String>,
    /// Time of parking, UTC.
    pub parked_at: DateTime<Utc>,
    /// Time when the waiting ends without an answer, UTC.
    pub expires_at: DateTime<Utc>,
    /// Message or button press with the answer as its text. The turn continues as soon as its queue allows.
    #[serde(default)]
    pub answer: Option<Box<Inbound>>,
    /// Decision about the call to be approved. The recorded answer is in the name of the requester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
}

impl ParkedTurn {
    /// Returns the key of the stored message with the question.
    #[must_use]
    pub const fn question_key(&self) -> EntryKey {
        EntryKey { session: self.turn.session, index: self.asked_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_button_answer_in_any_case_and_a_sign_by_itself() {
        let question = PersonQuestion {
            text: "Shall I?".into(),
            options: vec!["Yes, please".into(), "👍".into()],
            is_free: false,
            expires_after_min: 5,
            approval: None,
        };
        for text in ["yes, please", "Yes, please!", " 👍 "] {
            assert!(question.takes(text), "{text}");
        }
        for text in ["yes", "👎", "", " ", "!"] {
            assert!(!question.takes(text), "{text}");
        }
    }
}
