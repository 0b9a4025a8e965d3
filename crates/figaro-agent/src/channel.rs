//! Port to the chat platform: members, topic titles, questions to people, files. Used by turns and background work.
//! Implemented by Telegram; the HTTP gateway and the terminal have no chats and keep the defaults.

use async_trait::async_trait;
use futures::TryStreamExt;
use futures::stream::BoxStream;

use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::chat::Place;
use figaro_domain::conversation::ConversationId;
use figaro_policy::access::Admins;

/// Chat platform of the bot. The defaults fit a channel without chats: nothing can be sent and no files exist.
#[async_trait]
pub trait Channel: Admins {
    /// Sets the title of a topic. Returns `false` if that is impossible, not allowed or fails; failures are only logged.
    async fn set_title(&self, _topic: ConversationId, _title: &str) -> bool {
        false
    }

    /// Returns the name of a chat or a person; `None` if none is known.
    async fn name_of(&self, _chat: ChatId) -> Option<String> {
        None
    }

    /// Asks a person in private whether facts about them may be remembered. Returns `false` if the question could not be
    /// sent; failures are only logged.
    async fn ask_consent(&self, _user: &UserId) -> bool {
        false
    }

    /// Shows the words of a sound under its message. Failures are only logged.
    async fn show_transcript(&self, _place: &Place, _message: MessageId, _words: &str) {}

    /// Sends a picture as the model's own message, with buttons to draw it again and to change it.
    async fn send_picture(&self, _place: &Place, _picture: NewPicture) -> Result<SentPicture, PictureError> {
        Err(PictureError::Refused("there is no chat to send it to".to_owned()))
    }

    /// Opens a file of at most `max_bytes`, by the file id of its message.
    async fn open(&self, _file_id: &str, _max_bytes: usize) -> Result<FileStream, FileError> {
        Err(FileError::Gone("no files are sent here".to_owned()))
    }

    /// Fetches a whole file of at most `max_bytes`, by the file id of its message.
    async fn fetch(&self, file_id: &str, max_bytes: usize) -> Result<Vec<u8>, FileError> {
        self.open(file_id, max_bytes).await?.try_concat().await
    }
}

/// A picture to send.
#[derive(Debug)]
pub struct NewPicture {
    /// Content of the file: PNG, JPEG or WebP.
    pub bytes: Vec<u8>,
    /// Message that it answers.
    pub reply_to: Option<MessageId>,
    /// IETF tag of the person's language, for the labels of buttons.
    pub language: Option<String>,
}

/// A picture that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPicture {
    /// Message with the picture.
    pub message: MessageId,
    /// Handle of the picture.
    pub file_id: String,
}

/// Reason why a picture was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// It was certainly not sent.
    #[error("it was refused ({0})")]
    Refused(String),
    /// It may have been sent.
    #[error("whether it was sent is not known ({0})")]
    Unclear(String),
}

/// Content of a file, piece by piece. It ends with an error once there is more than was asked for.
pub type FileStream = BoxStream<'static, Result<Vec<u8>, FileError>>;

/// Reason why a file is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The file is larger than the requested limit.
    #[error("it is too big")]
    TooBig,
    /// The file is gone or never existed.
    #[error("it is gone ({0})")]
    Gone(String),
    /// The file cannot be fetched at the moment; a later try may work.
    #[error("it cannot be fetched now ({0})")]
    Unavailable(String),
}
