//! Replies on their way to the chat. They are stored with the answer and removed once Telegram has confirmed them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::Place;
use figaro_base::ids::{
    ChatId, DeliveryId, EntryId, MemoryId, MessageId, NoteId, RecordId, RunId, SessionId, TaskId, UserId,
};

/// A reply that Telegram has not fully confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingDelivery {
    /// Unique id, never reused.
    pub id: DeliveryId,
    /// Turn that wrote the reply.
    pub run: RunId,
    /// Stored answer; `None` for text outside the conversation, such as an apology.
    pub entry: Option<EntryId>,
    /// Chat and topic that the reply is sent to.
    pub place: Place,
    /// Message that is answered. It is quoted in groups, and in private chats if other messages came in between.
    pub reply_to: Option<MessageId>,
    /// Text of the reply, in Markdown.
    pub markdown: String,
    /// Only URL in the text that may be shown with a preview of its page.
    #[serde(default)]
    pub preview: Option<String>,
    /// Creation time, UTC. Delivery is tried for a day.
    pub created_at: DateTime<Utc>,
    /// Parts confirmed by Telegram, in order. Delivery continues after them.
    #[serde(default)]
    pub confirmed: Vec<MessageId>,
    /// Number of repeats of the next part, made when it was unknown whether Telegram had accepted it.
    #[serde(default)]
    pub repeats: u32,
    /// IETF tag of the person's language, for button labels. The language of the chat takes precedence.
    #[serde(default)]
    pub language: Option<String>,
    /// Buttons under the last part, for actions of the person.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// `true` if the reply is part of the conversation but written by Figaro, such as an approval card. The model may not
    /// change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_card: bool,
    /// Possible answers to the question in the reply, one button each. The turn waits for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Task whose run wrote the reply. The run ends with the delivery.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Card sent instead of Markdown, which is then empty, except for a spoken answer. It is built when sent.
    #[serde(default)]
    pub card: Option<CardKind>,
    /// Cards below the text, in the same message if they fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<CardKind>,
    /// `true` if the turn ended before its answer. Messages of the turn that are not a beginning of this text stay, and the
    /// text is sent after them.
    #[serde(default)]
    pub early: bool,
    /// `true` if the text may go out as rich messages. Fixed when the reply is stored, since the number of its parts
    /// depends on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rich: bool,
    /// Person who pays for a spoken answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spoken_for: Option<UserId>,
    /// Fallback place if Telegram refuses the first one.
    #[serde(default)]
    pub otherwise: Option<Place>,
}

impl PendingDelivery {
    /// Creates a card that a turn sends after its answer. It is built from stored data when sent.
    #[must_use]
    pub fn of_card(run: RunId, place: Place, card: CardKind, created_at: DateTime<Utc>) -> Self {
        Self { card: Some(card), ..Self::new(run, place, String::new(), created_at) }
    }

    /// Returns the author: the model for parts of the conversation, Figaro for cards, notices and apologies.
    #[must_use]
    pub const fn author(&self) -> Author {
        if self.entry.is_some() && !self.is_card { Author::Model } else { Author::Figaro }
    }

    /// Counts one more repeat of the current part.
    pub const fn count_repeat(&mut self) {
        self.repeats = self.repeats.saturating_add(1);
    }

    /// Records that Telegram has confirmed the current part as this message, and resets the repeats. Returns `true` if the
    /// message is new.
    pub fn confirm(&mut self, message: MessageId) -> bool {
        let is_new = !self.confirmed.contains(&message);
        if is_new {
            self.confirmed.push(message);
            self.repeats = 0;
        }
        is_new
    }

    /// Creates a delivery with only a text and a place.
    #[must_use]
    pub fn new(run: RunId, place: Place, markdown: String, created_at: DateTime<Utc>) -> Self {
        Self {
            id: DeliveryId::new(),
            run,
            entry: None,
            place,
            reply_to: None,
            markdown,
            preview: None,
            created_at,
            confirmed: Vec::new(),
            repeats: 0,
            language: None,
            actions: Vec::new(),
            is_card: false,
            options: Vec::new(),
            task: None,
            card: None,
            attached: Vec::new(),
            early: false,
            rich: false,
            spoken_for: None,
            otherwise: None,
        }
    }
}

/// Author of a message of the bot. The model may change and delete its own messages, never Figaro's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Figaro: cards, notices, answers to commands. Also used if the author was not recorded.
    #[default]
    Figaro,
    /// The model: its answers, and messages sent by its tools.
    Model,
    /// Figaro, asking for a new name of this session. A reply gives it.
    Rename(SessionId),
    /// Figaro, asking for a new text of this memory. A reply gives it.
    Reword(MemoryId),
    /// Figaro, asking for the instructions of the chat. A reply gives them.
    Instructions,
    /// Figaro, asking for a parameter of the chat's model. A reply gives its name and value.
    Writing,
}

/// Result of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// All parts were confirmed by Telegram.
    Whole,
    /// A person stopped the delivery. Parts confirmed before stay.
    Stopped,
    /// Telegram refused the message permanently; a retry would not help.
    Refused,
    /// It is unknown whether Telegram has the current part, and it is not repeated again.
    Unclear,
}

/// A message built from stored data when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    /// A task, with its next times and buttons.
    Task(TaskId),
    /// The question about the time zone of the chat.
    Zone,
    /// Changes of the chat's settings that the model made in this turn.
    Settings,
    /// Actions of the turn that can be undone, for a turn without an answer.
    Undo,
    /// The Markdown of the delivery as a voice message.
    Spoken,
}

/// Action of a button under an answer or a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Continues the answer from where it ended.
    GoOn,
    /// Asks the question of the answer again.
    Retry,
    /// Shows a choice of models, and asks the question again with the chosen one.
    OtherModel,
    /// Asks whether to pin the answer.
    Pin,
    /// Adds a reminder of the record.
    Remind(RecordId),
    /// Shows the list with this note in a separate message.
    ShowNotes(NoteId),
    /// Removes the one note that the turn added.
    DropNote(NoteId),
    /// Removes all notes that the turn added.
    DropNotes,
    /// Runs the task now. Its schedule does not change.
    RunTask(TaskId),
    /// Skips the missed run of the task in the notice.
    SkipTask(TaskId),
    /// Resumes the paused task at its next due time.
    ResumeTask(TaskId),
    /// Cancels the task. This can be undone for a minute.
    CancelTask(TaskId),
    /// Approves the waiting call, for this time only.
    ApproveOnce,
    /// Approves the waiting call, and the same method for the next hour.
    ApproveHour,
    /// Refuses the waiting call.
    ApproveDeny,
    /// Shows the waiting call with all its arguments.
    ApproveDetails,
    /// Undoes the actions of the turn in chats.
    Undo,
    /// Shows the attempts at the question before and after this one. The first number counts this attempt, the second
    /// all of them.
    Versions(u8, u8),
    /// Marks the task's reminder as done.
    TaskDone(TaskId),
    /// Repeats the task's reminder in ten minutes.
    TaskLater(TaskId),
    /// Repeats the task's reminder tomorrow at its usual time.
    TaskTomorrow(TaskId),
}

/// Message of an answer that is not complete yet: in a group the growing message, in a private chat each full part. It
/// becomes the part with its index, or is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveMessage {
    /// Turn whose answer the message shows.
    pub run: RunId,
    /// Index of the part in the answer, from 0.
    #[serde(default)]
    pub index: u32,
    /// Chat of the message.
    pub chat: ChatId,
    /// Id of the message in that chat.
    pub message: MessageId,
    /// Hash of the shown text; `None` while it is uncertain, as for a growing message.
    #[serde(default)]
    pub shown: Option<u64>,
}

impl LiveMessage {
    /// In place of a hash: the message still shows an earlier answer to the question, which this turn's answer replaces.
    const EARLIER: u64 = 0;

    /// Makes the messages of an earlier answer, in their order, those of another turn's answer.
    pub(crate) fn taken_over(run: RunId, chat: ChatId, messages: &[MessageId]) -> Vec<Self> {
        let one = |(index, message): (u32, &MessageId)| Self {
            run,
            index,
            chat,
            message: *message,
            shown: Some(Self::EARLIER),
        };
        (0..).zip(messages).map(one).collect()
    }

    /// Returns `true` if the message still shows an earlier answer.
    #[must_use]
    pub fn is_earlier(&self) -> bool {
        self.shown == Some(Self::EARLIER)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_older_versions_stored_of_a_live_message_is_the_first_part() {
        let run = RunId::new();
        let live: LiveMessage = serde_json::from_value(json!({"run": run, "chat": 5, "message": 7})).unwrap();
        let wanted = LiveMessage { run, index: 0, chat: ChatId(5), message: MessageId(7), shown: None };
        assert_eq!(live, wanted);
    }
}
