//! The port to where people talk: who is in a chat, the titles of its topics, questions to people, the files that they sent. Turns
//! and what works beside them call it. Telegram implements it; the HTTP gateway and the terminal have no chats and leave it to
//! the defaults.

use async_trait::async_trait;

use figaro_base::ids::UserId;
use figaro_domain::conversation::Conversation;
use figaro_policy::access::Admins;

/// Where people talk with the bot. The defaults are those of a channel without chats: nothing can be sent there, and no file
/// comes from there.
#[async_trait]
pub trait Channel: Admins {
    /// Gives a topic this title; `false` if that is not possible, not allowed or does not work, which is only logged.
    async fn set_title(&self, _topic: Conversation, _title: &str) -> bool {
        false
    }

    /// Asks a person in their private chat whether facts about them may be remembered; `false` if the question could not be sent,
    /// which is only logged.
    async fn ask_consent(&self, _user: &UserId) -> bool {
        false
    }

    /// The content of a file, by the handle its message came with, if it has at most so many bytes.
    async fn fetch(&self, _file_id: &str, _max_bytes: usize) -> Result<Vec<u8>, FileError> {
        Err(FileError::Gone("no files are sent here".to_owned()))
    }
}

/// Why a file is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It has more bytes than were asked for.
    #[error("it is too big")]
    TooBig,
    /// It is gone, or was never one.
    #[error("it is gone ({0})")]
    Gone(String),
    /// It cannot be had now.
    #[error("it cannot be fetched now ({0})")]
    Unavailable(String),
}
