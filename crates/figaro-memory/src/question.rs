//! Query for older messages.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::usage::Payer;

/// A question and its context.
#[derive(Debug, Clone)]
pub struct RecallQuery<'a> {
    /// Chat to search.
    pub chat: ChatId,
    /// Searches only this session, apart from vital messages: a new session is a new start. `None` for the whole chat.
    pub session: Option<SessionId>,
    /// Text of the question.
    pub text: &'a str,
    /// Text said right before, to complete a question of few words.
    pub before: Option<&'a str>,
    /// Time of the question, which resolves dates such as "last May".
    pub asked_at: DateTime<Utc>,
    /// Time zone of the chat.
    pub zone: Tz,
    /// Messages of this session from this index on are in the context anyway.
    pub shown: Option<EntryKey>,
    /// Token limit of the results.
    pub tokens: usize,
    /// Payer of the vector of the question.
    pub payer: Payer,
}

impl RecallQuery<'_> {
    /// Returns `true` if a message is in the context anyway.
    pub(super) fn shows(&self, key: EntryKey) -> bool {
        self.shown.is_some_and(|shown| shown.session == key.session && key.index >= shown.index)
    }
}
