//! Messages that a question asks about, such as those since the asker's last one. [`said_since`](crate::said_since) chooses
//! them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::MessageId;

/// Number of messages not addressed to the bot that are kept per conversation. Older ones are dropped.
pub const KEPT_BACKGROUND: usize = 100;

/// Range of the messages of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatchUp {
    /// Only messages after this one count; `None` for no limit.
    pub after: Option<SentAt>,
    /// Maximum number of messages. The newest count.
    pub newest: usize,
    /// Public username of the chat, for links; `None` for a private one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

/// Position of a message in its chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SentAt {
    /// Time of sending, UTC, in whole seconds.
    pub at: DateTime<Utc>,
    /// Orders the messages of one second.
    pub message: MessageId,
}

impl SentAt {
    /// Returns the position before all messages of this second.
    #[must_use]
    pub const fn before(at: DateTime<Utc>) -> Self {
        Self { at, message: MessageId(0) }
    }
}
