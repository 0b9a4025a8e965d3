//! Explanation of a message, and its reader.

use chrono::{DateTime, Utc};
use serde::Serialize;

use figaro_base::ids::{ChatId, UserId};
use figaro_prompts::texts::Texts;

/// Reader of an explanation.
#[derive(Debug, Clone, Copy)]
pub struct ExplanationReader<'a> {
    pub user: &'a UserId,
    pub is_owner: bool,
    /// `true` if nobody else reads along.
    pub is_alone: bool,
    /// Chat that the reader asks about, or asks in.
    pub chat: ChatId,
    pub texts: &'a Texts,
    /// Maximum length of a memory or pin, in characters.
    pub chars: usize,
}

/// Explanation of a message in the language of its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Time of the message, UTC.
    pub began: DateTime<Utc>,
    /// Words of the message, if the reader wrote it.
    pub question: Option<String>,
    /// Sentence about the decision: answered, or why not.
    pub reason: String,
    /// Calls, rules, memories, pins and cost of the answer. Empty for those who may not see them.
    pub sections: Vec<ExplainedSection>,
    /// `true` if there is an answer, which changes no more.
    pub is_answered: bool,
}

/// Part of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedSection {
    /// Heading; empty for lines that need none.
    pub heading: String,
    pub lines: Vec<String>,
}

impl ExplainedSection {
    pub(super) fn new(heading: &str, lines: Vec<String>) -> Self {
        Self { heading: heading.to_owned(), lines }
    }

    pub(super) fn sentence(words: String) -> Self {
        Self { heading: String::new(), lines: vec![words] }
    }
}
