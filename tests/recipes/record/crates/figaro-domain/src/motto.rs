//! Mottos of chats.

use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, RunId, UserId};

/// A motto of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Motto {
    /// Chat of the motto.
    pub chat: ChatId,
    /// Turn that made the motto. The motto is forgotten with the question of that turn.
    pub turn: RunId,
    /// Person who asked for the motto.
    pub author: UserId,
    /// Words of the motto.
    pub words: String,
}
