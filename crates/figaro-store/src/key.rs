//! Keys of records. Their byte order is the order of their parts, so a range of keys is a range in time, in a session or
//! in a chat.

use std::fmt::Display;

use chrono::{DateTime, Datelike, NaiveDate, Utc};

use figaro_base::ids::{
    BotId, ChatId, ConnectionId, DocumentId, MessageId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId,
    TaskId, UpdateId, UserId,
};
use figaro_domain::budget::BudgetAxis;
use figaro_domain::conversation::{ConversationId, EntryKey};
use figaro_domain::usage::Spending;

/// Length of a ULID as text.
const ULID_CHARS: usize = 26;

pub(super) fn update(bot: BotId, update: UpdateId) -> Vec<u8> {
    KeyBytes::default().number(bot.0).number(update.0).0
}

/// Key of an update of a bot, ordered by time.
pub(super) fn update_at(bot: BotId, at: DateTime<Utc>, update: UpdateId) -> Vec<u8> {
    KeyBytes(updates_from(bot, at)).number(update.0).0
}

/// Returns the start of [`update_at`] keys from this time on.
pub(super) fn updates_from(bot: BotId, at: DateTime<Utc>) -> Vec<u8> {
    KeyBytes::default().number(bot.0).number(at.timestamp_millis()).0
}

/// Returns the update id at the end of an [`update_at`] key.
pub(super) fn update_of(key: &[u8]) -> Option<UpdateId> {
    key.last_chunk().map(|bytes| UpdateId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// Prefix of all updates of a bot.
pub(super) fn bot(bot: BotId) -> Vec<u8> {
    KeyBytes::default().number(bot.0).0
}

/// Key of a conversation. Its length is fixed, so that none is the prefix of another.
pub(super) fn conversation(conversation: ConversationId) -> Vec<u8> {
    let topic = conversation.topic.map_or(0, |topic| topic.0);
    let mut key = KeyBytes::default().number(conversation.chat.0);
    key.0.push(u8::from(conversation.topic.is_some()));
    key.number(topic).0
}

/// Key of a session, after its conversation.
pub(super) fn session_of(place: ConversationId, session: SessionId) -> Vec<u8> {
    KeyBytes(conversation(place)).id(session).0
}

/// Returns the chat at the start of a [`session_of`] key.
pub(super) fn chat_in(key: &[u8]) -> Option<ChatId> {
    session_in(key)?;
    key.first_chunk().map(|bytes| ChatId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// Returns the conversation key at the start of a [`session_of`] key.
pub(super) fn conversation_in(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(ULID_CHARS)]
}

/// Returns the session at the end of a [`session_of`] key.
pub(super) fn session_in(key: &[u8]) -> Option<SessionId> {
    std::str::from_utf8(key.last_chunk::<ULID_CHARS>()?).ok()?.parse().ok()
}

/// Key of a background message of a conversation, ordered by time.
pub(super) fn background(place: ConversationId, sent_at: DateTime<Utc>, message: MessageId) -> Vec<u8> {
    KeyBytes(conversation(place)).number(sent_at.timestamp_millis()).number(message.0).0
}

pub(super) fn message(session: SessionId, index: u32) -> Vec<u8> {
    KeyBytes(id(session)).index(index).0
}

/// Returns the session key at the start of a [`message`] key.
pub(super) fn session_of_message(key: &[u8]) -> Option<&[u8]> {
    key.get(..ULID_CHARS)
}

/// Key of a call of a turn, ordered by index.
pub(super) fn call(run: RunId, index: u32) -> Vec<u8> {
    KeyBytes(id(run)).index(index).0
}

/// Key of a child of a turn; ULIDs sort in the order in which children began.
pub(super) fn child(root: RunId, child: RunId) -> Vec<u8> {
    KeyBytes(id(root)).id(child).0
}

/// Key of a live message of a turn; the first one has the key of the turn alone, as when there was only one.
pub(super) fn live(run: RunId, index: u32) -> Vec<u8> {
    match index {
        0 => id(run),
        index => KeyBytes(id(run)).index(index).0,
    }
}

/// Key of a block of a chat's index, ordered by number.
pub(super) fn index_block(of: ChatId, number: u32) -> Vec<u8> {
    KeyBytes(chat(of)).index(number).0
}

/// Key of an edited message of a chat.
pub(super) fn index_edit(of: ChatId, session: SessionId, index: u32) -> Vec<u8> {
    KeyBytes(chat(of)).id(session).index(index).0
}

/// Returns the message that an [`index_edit`] key names.
pub(super) fn edited_in(key: &[u8]) -> Option<EntryKey> {
    let index = index_of(key)?;
    Some(EntryKey { session: session_in(key.get(..key.len().checked_sub(size_of::<u32>())?)?)?, index })
}

pub(super) fn chat(chat: ChatId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).0
}

/// Replaces the chat at the start of a key.
pub(super) fn moved(key: &[u8], to: ChatId) -> Vec<u8> {
    [&chat(to), key.get(size_of::<i64>()..).unwrap_or_default()].concat()
}

pub(super) fn person(of: ChatId, user: &UserId) -> Vec<u8> {
    KeyBytes(chat(of)).id(user).0
}

pub(super) fn note(chat: ChatId, note: NoteId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(note).0
}

pub(super) fn document(chat: ChatId, document: DocumentId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(document).0
}

/// Key of a passage of a document, ordered by index.
pub(super) fn passage(chat: ChatId, of: DocumentId, index: u32) -> Vec<u8> {
    KeyBytes(document(chat, of)).index(index).0
}

pub(super) fn record(chat: ChatId, record: RecordId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(record).0
}

/// Key of a persona written in a chat.
pub(super) fn persona(chat: ChatId, persona: PersonaId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(persona).0
}

pub(super) fn pin(chat: ChatId, pin: PinId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(pin).0
}

pub(super) fn telegram(chat: ChatId, message: MessageId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).number(message.0).0
}

/// Returns the chat part of a [`telegram`] key.
pub(super) fn place(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(size_of::<i64>())]
}

/// Returns the message at the end of a [`telegram`] key.
pub(super) fn message_in(key: &[u8]) -> Option<MessageId> {
    key.last_chunk().map(|bytes| MessageId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// Key of a Telegram message, ordered by time.
pub(super) fn telegram_at(at: DateTime<Utc>, chat: ChatId, message: MessageId) -> Vec<u8> {
    KeyBytes(time(at)).number(chat.0).number(message.0).0
}

/// Returns the start of [`telegram_at`] keys from this time on.
pub(super) fn time(at: DateTime<Utc>) -> Vec<u8> {
    KeyBytes::default().number(at.timestamp_millis()).0
}

/// Returns the [`telegram`] key inside a [`telegram_at`] key.
pub(super) fn telegram_of(key: &[u8]) -> &[u8] {
    key.get(size_of::<i64>()..).unwrap_or_default()
}

/// Key of a record named by a ULID, and prefix of all that belong to it. ULIDs sort as text in the order of their time.
pub(super) fn id(id: impl Display) -> Vec<u8> {
    KeyBytes::default().id(id).0
}

/// Key of an entry of the audit log, by its place.
pub(super) fn audit(seq: u64) -> Vec<u8> {
    seq.to_be_bytes().to_vec()
}

pub(super) fn day(day: NaiveDate) -> Vec<u8> {
    KeyBytes::default().number(i64::from(day.num_days_from_ce())).0
}

/// Key of a notice about a limit, after the first day of its period.
pub(super) fn told(start: NaiveDate, notice: &str) -> Vec<u8> {
    KeyBytes(day(start)).id(notice).0
}

/// Key of the limits of an axis.
pub(super) fn budget(axis: &BudgetAxis) -> Vec<u8> {
    KeyBytes::default().id(axis).0
}

/// Key of the spending of a person on a day, by chat and model, in turns or in the background, for a task, agents and a key.
pub(super) fn spending(spending: &Spending) -> Vec<u8> {
    let Spending { chat, user, task, agents, key, model, purpose, .. } = spending;
    let mut bytes = KeyBytes(day(spending.day)).number(chat.0).id(user).id('\0').id(model);
    if !purpose.is_turn() {
        bytes = bytes.id('\0').id("background");
    }
    let behind = task.map(BudgetAxis::Task).into_iter();
    let behind = behind.chain(agents.iter().cloned().map(BudgetAxis::Agent));
    for axis in behind.chain(key.clone().map(BudgetAxis::Key)) {
        bytes = bytes.id('\0').id(axis);
    }
    bytes.0
}

/// Key of a task, after its chat.
pub(super) fn chat_task(chat: ChatId, task: TaskId) -> Vec<u8> {
    KeyBytes::default().number(chat.0).id(task).0
}

/// Prefix of the [`user_task`] keys of a person.
pub(super) fn user(user: &UserId) -> Vec<u8> {
    KeyBytes::default().id(user).id('\0').0
}

/// Key of a task, after its person.
pub(super) fn user_task(of: &UserId, task: TaskId) -> Vec<u8> {
    KeyBytes(user(of)).id(task).0
}

/// Key of a person's memory or message.
pub(super) fn of_user(of: &UserId, one: impl Display) -> Vec<u8> {
    KeyBytes(user(of)).id(one).0
}

/// Key of an account that the bot is connected to, and prefix of its [`customer`] keys.
pub(super) fn connection(connection: &ConnectionId) -> Vec<u8> {
    KeyBytes::default().id(connection).id('\0').0
}

/// Key of a chat with a customer, after the connection of the account.
pub(super) fn customer(of: &ConnectionId, chat: ChatId) -> Vec<u8> {
    KeyBytes(connection(of)).number(chat.0).0
}

/// Key of a task, ordered by time.
pub(super) fn wake(at: DateTime<Utc>, task: TaskId) -> Vec<u8> {
    KeyBytes(time(at)).id(task).0
}

/// Returns the time at the start of a [`wake`] key.
pub(super) fn time_of(key: &[u8]) -> Option<DateTime<Utc>> {
    let number = i64::from_be_bytes(*key.first_chunk()?) ^ i64::MIN;
    DateTime::from_timestamp_millis(number)
}

/// Returns the task id at the end of a [`chat_task`], [`user_task`] or [`wake`] key, or of a key of a table by task.
pub(super) fn task_of(key: &[u8]) -> Option<TaskId> {
    std::str::from_utf8(key.last_chunk::<ULID_CHARS>()?).ok()?.parse().ok()
}

/// Key of a run of a task, ordered by index.
pub(super) fn task_run(task: TaskId, index: u32) -> Vec<u8> {
    KeyBytes(id(task)).index(index).0
}

/// Returns the index at the end of a [`message`] or [`call`] key.
pub(super) fn index_of(key: &[u8]) -> Option<u32> {
    key.last_chunk().copied().map(u32::from_be_bytes)
}

#[derive(Default)]
struct KeyBytes(Vec<u8>);

impl KeyBytes {
    /// Appends a number with its sign bit flipped: otherwise negative numbers would sort after positive ones.
    fn number(mut self, number: i64) -> Self {
        self.0.extend((number ^ i64::MIN).to_be_bytes());
        self
    }

    fn index(mut self, index: u32) -> Self {
        self.0.extend(index.to_be_bytes());
        self
    }

    fn id(mut self, id: impl Display) -> Self {
        self.0.extend(id.to_string().into_bytes());
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use figaro_base::ids::TopicId;

    proptest! {
        #[test]
        fn keys_sort_as_what_they_name(a: (i64, i64), b: (i64, i64)) {
            let key = |(bot, id)| update(BotId(bot), UpdateId(id));
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
            prop_assert_eq!(update_of(&update_at(BotId(a.0), DateTime::UNIX_EPOCH, UpdateId(a.1))), Some(UpdateId(a.1)));
        }
    }

    #[test]
    fn no_conversation_begins_another() {
        let chat = ChatId(-100);
        let keys = [None, Some(TopicId(0)), Some(TopicId(7))]
            .map(|topic| conversation(ConversationId { chat, topic }));
        for (i, a) in keys.iter().enumerate() {
            assert!(keys.iter().skip(i + 1).all(|b| !b.starts_with(a) && !a.starts_with(b)));
        }
    }

    #[test]
    fn ids_are_equally_long_and_end_in_their_index() {
        let session = SessionId::new();
        assert_eq!(message(session, 7).len(), 30);
        assert_eq!(index_of(&message(session, 70_000)), Some(70_000));
    }
}
