//! Views for `message.md` and `tail.md`: a question and its context.

use serde::Serialize;

/// View for `message.md`: one message of a person.
#[derive(Debug, Clone, Default, Hash, Serialize)]
pub struct PromptMessageView {
    /// Telegram id of the chat; `None` in a message of the history, which is of the same chat as the question.
    pub chat_id: Option<i64>,
    /// `group` or `channel`; empty in a private chat.
    pub chat_type: &'static str,
    /// Title of a group or channel; `None` in a private chat.
    pub chat_title: Option<String>,
    /// Id of the forum topic; `None` outside of topics.
    pub topic_id: Option<i64>,
    /// Name of the writer, which everybody chooses freely.
    pub from: String,
    /// Username of the writer, without `@`; unique.
    pub username: Option<String>,
    /// Id of the writer as tools take it: at Telegram the number alone. Empty in a private chat, which has the same id.
    pub user_id: String,
    /// Telegram id of the message in its chat; `None` outside Telegram.
    pub message_id: Option<i64>,
    /// Date and time of sending, in the chat's zone. Empty for a new question in a private chat.
    pub sent: String,
    /// `true` in a group; only then `mentioned` and `reply_to_bot` are shown.
    pub group: bool,
    /// `true` if the message names the bot.
    pub mentioned: bool,
    /// `true` for a reply to a message of the bot.
    pub reply_to_bot: bool,
    /// Name of the person or chat that it was forwarded from; `None` if it is the writer's own.
    pub forwarded_from: Option<String>,
    /// Message that it replies to.
    pub quotes: Option<PromptQuoteView>,
    /// Text of the message; empty without one.
    pub text: String,
    /// Its pictures, files and other content besides text.
    pub attachments: Vec<AttachmentView>,
    /// `true` for the prompt of a task, which is rendered from `task.md` instead.
    #[serde(skip)]
    pub task: bool,
}

/// A message that a person replied to.
#[derive(Debug, Clone, Hash, Serialize)]
pub struct PromptQuoteView {
    /// Its Telegram id, if it is in the same chat.
    pub message: Option<i64>,
    /// Id of the task that it shows or asks about.
    pub task: Option<String>,
    /// Name of its writer, if known.
    pub author: Option<String>,
    /// Whole text of the message.
    pub text: String,
    /// Part of the text that the person marked for the reply.
    pub excerpt: Option<String>,
    /// Its pictures, files and other content besides text.
    pub attachments: Vec<AttachmentView>,
}

/// Content of a message other than text.
#[derive(Debug, Clone, Hash, Serialize)]
pub struct AttachmentView {
    /// Kind in a word, such as `photo`.
    pub kind: String,
    /// Distinctive name, such as a file's name or a poll's question.
    pub name: Option<String>,
    /// Reason why the model does not see a picture it could have seen; `None` if it does, or could not.
    pub missing: Option<String>,
    /// `true` if its words, as a model heard them, are part of the text.
    pub heard: bool,
}

/// A document of the chat, whole or in part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DocumentView {
    /// Id that the tools for documents take.
    pub id: String,
    /// Name of the file.
    pub name: String,
    /// Size in words, such as `12 pages`; empty if the format has no such parts.
    pub size: String,
    /// Address, if it is a web page that the message is about; empty otherwise.
    pub url: String,
    /// `true` if all of its text is shown.
    pub whole: bool,
    /// Passages, in their order.
    pub passages: Vec<PassageView>,
}

/// A passage of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassageView {
    /// Place in the document, such as `page 3`; empty if the format has none.
    pub place: String,
    /// Text of the passage, or the reason in brackets why there is none.
    pub text: String,
}

/// A message that was not addressed to the bot.
#[derive(Debug, Clone, Serialize)]
pub struct BackgroundView {
    /// Display name of the writer.
    pub from: String,
    /// Username of the writer, without `@`.
    pub username: Option<String>,
    /// Id of the writer; empty for the bot itself.
    pub user_id: String,
    /// Name of the original writer, if it was forwarded.
    pub forwarded_from: Option<String>,
    /// Text of the message; empty without one.
    pub text: String,
    /// Its pictures, files and other content besides text.
    pub attachments: Vec<AttachmentView>,
    /// Id and time of the message, if the question asks about it.
    pub sent: Option<SentView>,
}

/// Id and time of a message that a question asks about.
#[derive(Debug, Clone, Serialize)]
pub struct SentView {
    /// Telegram id of the message in its chat.
    pub id: i64,
    /// Date and time of sending, in the chat's zone.
    pub at: String,
}

/// Facts about the asker that their message does not show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PersonView {
    /// Name by which they want to be called.
    pub called: Option<String>,
    /// Language in which they want answers, in free words.
    pub language: Option<String>,
    /// Their own time zone, if it differs from the chat's.
    pub time_zone: Option<String>,
    /// Day of the week and time there.
    pub local_time: Option<String>,
    /// `true` for an owner of the bot.
    pub owner: bool,
}

/// View for `tail.md`: everything that changes from question to question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TailView {
    /// Rendered pins, memories and summaries that are not shown at the beginning; empty for none.
    pub kept: String,
    /// Rendered older messages relevant to the question; empty for none.
    pub older: String,
    /// Messages before the question that were not addressed to the bot, oldest first. Templates use the earlier name of
    /// this field.
    #[serde(rename = "overheard")]
    pub background: Vec<BackgroundView>,
    /// `true` if the question asks about these messages, which then include those of the conversation.
    pub asks_about: bool,
    /// Address of these messages, without their id; `None` if they have none.
    pub links: Option<String>,
    /// The asker; `None` if there is nothing to add to their message.
    pub person: Option<PersonView>,
    /// Records of the chat relevant to the question, one per line.
    pub records: Vec<String>,
    /// Documents of the chat with passages for the question.
    pub documents: Vec<DocumentView>,
    /// Notes of the chat, one per line, grouped by key.
    pub notes: Vec<String>,
    /// Date and time in the chat's zone.
    pub now: String,
    /// `true` if a task asks, not a person.
    pub task: bool,
    /// Messages of the question, each rendered by `message.md` or `task.md`.
    pub question: String,
}
