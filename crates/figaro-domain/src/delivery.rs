//! An answer on its way to the chat: written with the answer, removed when Telegram has confirmed it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chat::Place;
use figaro_base::ids::{
    ChatId, DeliveryId, EntryId, MemoryId, MessageId, NoteId, RecordId, RunId, SessionId, TaskId,
};

/// A reply that Telegram has not confirmed in full yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingDelivery {
    /// The id of the delivery, unique for ever.
    pub id: DeliveryId,
    /// The turn that wrote it.
    pub run: RunId,
    /// The stored answer; none for words that are not part of the conversation, such as an apology.
    pub entry: Option<EntryId>,
    /// The chat and topic that it is sent to.
    pub place: Place,
    /// The message it answers; quoted in groups, and in private chats where other messages have come in between.
    pub reply_to: Option<MessageId>,
    /// The answer in Markdown.
    pub markdown: String,
    /// The address in it that may be shown with a preview of its page; no other one is.
    #[serde(default)]
    pub preview: Option<String>,
    /// When it was written, UTC: it is tried for a day from then.
    pub created_at: DateTime<Utc>,
    /// The parts that Telegram has confirmed, in order; delivery goes on after them.
    #[serde(default)]
    pub confirmed: Vec<MessageId>,
    /// How often the part after those has been sent again because nobody knew whether Telegram had taken it.
    #[serde(default)]
    pub repeats: u32,
    /// The IETF tag of the language to speak to the person in, for words on buttons; that of the chat counts first.
    #[serde(default)]
    pub language: Option<String>,
    /// The buttons under its last part, by which the person may act on it.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// It is a part of the conversation, but Figaro speaks in it: what is to be approved. The model may not change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_card: bool,
    /// Answers to the question that it asks, a button each; its turn waits for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The task whose run wrote it: the run ends when it is delivered.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// The card to be sent in place of Markdown, which is empty then. It is made from stored data when it is sent.
    #[serde(default)]
    pub card: Option<Card>,
    /// Cards that stand below the words, in the same message where they fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Card>,
    /// The turn ended before its answer: messages of it that do not begin these words stay, and the words come behind.
    #[serde(default)]
    pub early: bool,
    /// Where it goes instead if Telegram will not take it there.
    #[serde(default)]
    pub otherwise: Option<Place>,
}

impl PendingDelivery {
    /// A card that a turn sends behind its answer, made from stored data when it is sent.
    #[must_use]
    pub fn of_card(run: RunId, place: Place, card: Card, created_at: DateTime<Utc>) -> Self {
        Self { card: Some(card), ..Self::new(run, place, String::new(), created_at) }
    }

    /// Who speaks: the model in what is part of the conversation, Figaro in cards, notices and apologies.
    #[must_use]
    pub const fn author(&self) -> Author {
        if self.entry.is_some() && !self.is_card { Author::Model } else { Author::Figaro }
    }

    /// Counts one more repeat of the part under way.
    pub const fn count_repeat(&mut self) {
        self.repeats = self.repeats.saturating_add(1);
    }

    /// Records that Telegram has confirmed the part under way as this message; the next one has not been repeated yet.
    /// Gives whether that is new.
    pub fn confirm(&mut self, message: MessageId) -> bool {
        let is_new = !self.confirmed.contains(&message);
        if is_new {
            self.confirmed.push(message);
            self.repeats = 0;
        }
        is_new
    }

    /// Words of a turn for a place, with nothing else.
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
            otherwise: None,
        }
    }
}

/// Who speaks in a message of the bot. The model may change and delete its own messages, never Figaro's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Figaro: cards, notices, answers to commands. Also where the author was not recorded.
    #[default]
    Figaro,
    /// The model: its answers, and what its tools sent.
    Model,
    /// Figaro, who asks for a new name of this session: a reply gives it.
    Rename(SessionId),
    /// Figaro, who asks for other words for this memory: a reply gives them.
    Reword(MemoryId),
    /// Figaro, who asks for the instructions of the chat: a reply gives them.
    Instructions,
    /// Figaro, who asks how the model of the chat should write: a reply gives a parameter and its value.
    Writing,
}

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// Telegram has confirmed all parts.
    Whole,
    /// A person stopped it: the parts confirmed by then stay.
    Stopped,
    /// Telegram refused it for good: trying again would not help.
    Refused,
    /// It is not known whether Telegram has taken the part under way, and it is not repeated any more.
    Unclear,
}

/// A message that shows what is stored when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Card {
    /// A task, with its next times and buttons.
    Task(TaskId),
    /// The question which time zone the chat is in.
    Zone,
    /// What the model changed of the chat's settings in this turn.
    Settings,
    /// What the turn did that can be taken back, where it says nothing.
    Undo,
}

/// What a button under an answer or a notice does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Has the answer go on where it ended.
    GoOn,
    /// Asks the question of the answer again.
    Retry,
    /// Shows the models to choose from, and asks the question again with the one chosen.
    OtherModel,
    /// Asks whether the answer is to be pinned.
    Pin,
    /// Has the bot remind of the record.
    Remind(RecordId),
    /// Shows the list with this note, in a message of its own.
    ShowNotes(NoteId),
    /// Removes this note, the one that the turn added.
    DropNote(NoteId),
    /// Removes the notes that the turn added.
    DropNotes,
    /// Runs the task now; its schedule stays as it is.
    RunTask(TaskId),
    /// Skips the missed run of the task that the notice asks about.
    SkipTask(TaskId),
    /// Resumes the paused task at its next due time.
    ResumeTask(TaskId),
    /// Cancels the task for good, but for a minute in which that can be undone.
    CancelTask(TaskId),
    /// Has the call made that waits, this once.
    ApproveOnce,
    /// Has it made, and the same for the next hour.
    ApproveHour,
    /// Has it not made.
    ApproveDeny,
    /// Shows the call with all its arguments.
    ApproveDetails,
    /// Takes back what the turn did in chats.
    Undo,
    /// What the task reminded of is done.
    TaskDone(TaskId),
    /// Has the task come again in ten minutes.
    TaskLater(TaskId),
    /// Has the task come again tomorrow at its time.
    TaskTomorrow(TaskId),
}

/// A message of an answer that is there before the answer is whole: in a group the one in which it grows, in a private
/// chat each full part. It becomes the part with its index, or is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveMessage {
    /// The turn whose answer it shows.
    pub run: RunId,
    /// Which part of the answer it is, from 0 on.
    #[serde(default)]
    pub index: u32,
    /// The chat that the message is in.
    pub chat: ChatId,
    /// The id of the message in that chat.
    pub message: MessageId,
    /// A hash of what it shows; none while that is not certain, as in one that grows.
    #[serde(default)]
    pub shown: Option<u64>,
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
