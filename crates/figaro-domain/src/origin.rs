//! The channel that a message came through, with the ids that only this channel knows. Whoever settles, quotes or repeats a message
//! asks its origin.

use serde::{Deserialize, Serialize};

use figaro_base::ids::{MessageId, RequestId, UpdateId};

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A message or a press in Telegram.
    Telegram {
        /// The update that told of it. It is settled once the message is dealt with.
        update: UpdateId,
        /// The message in its chat; for a press, the message with the button, where that counts.
        message: Option<MessageId>,
    },
    /// A question over HTTP.
    Http {
        /// The id of the question.
        request: RequestId,
    },
    /// A question in the terminal.
    Terminal {
        /// The id of the question.
        request: RequestId,
    },
    /// The prompt of a scheduled task: nobody sent it.
    Task,
}

impl Origin {
    /// A message in Telegram.
    #[must_use]
    pub const fn telegram(update: UpdateId, message: MessageId) -> Self {
        Self::Telegram { update, message: Some(message) }
    }

    /// The update to settle; `None` outside Telegram.
    #[must_use]
    pub const fn update(self) -> Option<UpdateId> {
        match self {
            Self::Telegram { update, .. } => Some(update),
            Self::Http { .. } | Self::Terminal { .. } | Self::Task => None,
        }
    }

    /// The message in its Telegram chat; `None` outside Telegram.
    #[must_use]
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Telegram { message, .. } => message,
            Self::Http { .. } | Self::Terminal { .. } | Self::Task => None,
        }
    }

    /// The id of a question over HTTP.
    pub(crate) const fn request(self) -> Option<RequestId> {
        match self {
            Self::Http { request } => Some(request),
            Self::Telegram { .. } | Self::Terminal { .. } | Self::Task => None,
        }
    }

    /// The same origin for another message of its chat. Outside Telegram nothing changes.
    #[must_use]
    pub const fn of_message(self, message: MessageId) -> Self {
        match self {
            Self::Telegram { update, .. } => Self::telegram(update, message),
            Self::Http { .. } | Self::Terminal { .. } | Self::Task => self,
        }
    }
}
