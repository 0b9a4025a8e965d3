//! A question that older messages are looked for.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use figaro_base::ids::{ChatId, SessionId, UserId};
use figaro_domain::conversation::EntryKey;

/// What is asked, and where.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The chat whose messages are looked through, and those of no other.
    pub chat: ChatId,
    /// Only messages of this session, apart from vital ones: who begins another one wants to begin anew. `None` for all of the
    /// chat.
    pub session: Option<SessionId>,
    /// The words of the question.
    pub text: &'a str,
    /// What was said right before, for a question of few words.
    pub before: Option<&'a str>,
    /// When it is asked: "last May" is told by it.
    pub asked_at: DateTime<Utc>,
    /// The zone of the chat.
    pub zone: Tz,
    /// The messages of this session from this index on are in the context anyway.
    pub shown: Option<EntryKey>,
    /// How many tokens what is found may take.
    pub tokens: usize,
    /// The payer of the question's vector: whoever asks.
    pub user: UserId,
}

impl Question<'_> {
    /// Whether a message is in the context anyway.
    pub(super) fn shows(&self, key: EntryKey) -> bool {
        self.shown.is_some_and(|shown| shown.session == key.session && key.index >= shown.index)
    }
}
