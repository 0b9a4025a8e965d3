//! What `message.md` and `tail.md` are rendered from: a question and what stands beside it.

use serde::Serialize;

/// What `message.md` is rendered from: one message of a person.
#[derive(Debug, Clone, Default, Hash, Serialize)]
pub struct MessageView {
    /// Telegram's id of the chat; `None` in a message of the history, which is of the same chat as the question.
    pub chat_id: Option<i64>,
    /// `group` or `channel`; empty in a private chat.
    pub chat_type: &'static str,
    /// The title of a group or channel; `None` in a private chat.
    pub chat_title: Option<String>,
    /// The id of the forum topic; `None` outside of topics.
    pub topic_id: Option<i64>,
    /// The writer's name, which everybody chooses for themselves.
    pub from: String,
    /// The writer's username, without `@`: nobody else has it.
    pub username: Option<String>,
    /// The writer's id as tools take it: at Telegram the number alone. Empty in a private chat, whose id it is.
    pub user_id: String,
    /// Telegram's id of the message in its chat; `None` outside Telegram.
    pub message_id: Option<i64>,
    /// Date and time at which it was sent, in the chat's zone. Empty for the question of a private chat that has just come.
    pub sent: String,
    /// Whether it stands in a group: only there `mentioned` and `reply_to_bot` are told.
    pub group: bool,
    /// Whether it names the bot.
    pub mentioned: bool,
    /// Whether it is a reply to a message of the bot.
    pub reply_to_bot: bool,
    /// The name of the person or chat that it was forwarded from; `None` if the writer's own.
    pub forwarded_from: Option<String>,
    /// The message that it replies to.
    pub quotes: Option<QuoteView>,
    /// The text of the message.
    pub text: String,
    /// Its pictures, files and all else that is not text.
    pub attachments: Vec<AttachmentView>,
    /// Whether it is the prompt of a task: then `task.md` is rendered from it instead.
    #[serde(skip)]
    pub task: bool,
}

/// A message that a person replied to.
#[derive(Debug, Clone, Hash, Serialize)]
pub struct QuoteView {
    /// Telegram's id of it, if it is in the same chat.
    pub message: Option<i64>,
    /// The id of the task that it shows or asks about.
    pub task: Option<String>,
    /// The name of its writer, where it is known.
    pub author: Option<String>,
    /// The whole text of the message.
    pub text: String,
    /// The part of the text that the person marked for the reply.
    pub excerpt: Option<String>,
    /// Its pictures, files and all else that is not text.
    pub attachments: Vec<AttachmentView>,
}

/// Something in a message that is not text.
#[derive(Debug, Clone, Hash, Serialize)]
pub struct AttachmentView {
    /// The kind in a word, such as `photo`.
    pub kind: String,
    /// What tells it apart, such as a file's name or a poll's question.
    pub name: Option<String>,
    /// Why the model does not see a picture that it could have seen; `None` if it does, or could not.
    pub missing: Option<String>,
}

/// A message that was not addressed to the bot.
#[derive(Debug, Clone, Serialize)]
pub struct BackgroundView {
    /// The display name of whoever wrote it.
    pub from: String,
    /// Their username, without `@`.
    pub username: Option<String>,
    /// The id of whoever wrote it.
    pub user_id: String,
    /// The name of the first writer, if it was forwarded.
    pub forwarded_from: Option<String>,
    /// The text of the message.
    pub text: String,
    /// Its pictures, files and all else that is not text.
    pub attachments: Vec<AttachmentView>,
}

/// Whoever asks, as far as their message does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PersonView {
    /// The name that they asked to be called by.
    pub called: Option<String>,
    /// The language that they asked to be answered in, in free words.
    pub language: Option<String>,
    /// Their own time zone, where it is another than the chat's.
    pub time_zone: Option<String>,
    /// The day of the week and the time there.
    pub local_time: Option<String>,
    /// `true` for an owner of the bot.
    pub owner: bool,
}

/// What `tail.md` is rendered from: everything that changes from question to question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TailView {
    /// What is kept of before and is not told at the beginning, rendered; empty for none.
    pub kept: String,
    /// The rendered older messages that bear on the question; empty for none.
    pub older: String,
    /// Messages before the question that were not addressed to the bot, oldest first. The template knows them by their
    /// earlier name.
    #[serde(rename = "overheard")]
    pub background: Vec<BackgroundView>,
    /// Whoever asks; `None` where there is nothing to say beside their message.
    pub person: Option<PersonView>,
    /// Records of the chat that bear on the question, a line each.
    pub records: Vec<String>,
    /// The chat's notes, a line each, grouped by key.
    pub notes: Vec<String>,
    /// Date and time in the chat's zone.
    pub now: String,
    /// `true` if a task asks, and no person.
    pub task: bool,
    /// The messages of the question, each rendered by `message.md` or `task.md`.
    pub question: String,
}
