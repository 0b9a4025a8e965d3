//! Keys of records. Their byte order is the order of what they are made of, so that a range of keys is a range in time,
//! in a session or in a chat.

use std::fmt::Display;

use chrono::{DateTime, Datelike, NaiveDate, Utc};

use figaro_base::ids::{
    BotId, ChatId, MessageId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId, TaskId, UpdateId, UserId,
};
use figaro_domain::conversation::{Conversation, EntryKey};
use figaro_domain::usage::{Purpose, Spending};

/// The length of a ULID as text.
const ULID_CHARS: usize = 26;

/// An update of a bot.
pub(super) fn update(bot: BotId, update: UpdateId) -> Vec<u8> {
    Key::default().number(bot.0).number(update.0).0
}

/// An update of a bot among all its others, by time.
pub(super) fn update_at(bot: BotId, at: DateTime<Utc>, update: UpdateId) -> Vec<u8> {
    Key(updates_from(bot, at)).number(update.0).0
}

/// Where the keys of [`update_at`] from this time on begin.
pub(super) fn updates_from(bot: BotId, at: DateTime<Utc>) -> Vec<u8> {
    Key::default().number(bot.0).number(at.timestamp_millis()).0
}

/// The id of the update that a key from [`update_at`] ends in.
pub(super) fn update_of(key: &[u8]) -> Option<UpdateId> {
    key.last_chunk().map(|bytes| UpdateId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// All updates of a bot.
pub(super) fn bot(bot: BotId) -> Vec<u8> {
    Key::default().number(bot.0).0
}

/// A conversation. Always equally long, so that none is the beginning of another.
pub(super) fn conversation(conversation: Conversation) -> Vec<u8> {
    let topic = conversation.topic.map_or(0, |topic| topic.0);
    let mut key = Key::default().number(conversation.chat.0);
    key.0.push(u8::from(conversation.topic.is_some()));
    key.number(topic).0
}

/// A session of a conversation, among its others.
pub(super) fn session_of(place: Conversation, session: SessionId) -> Vec<u8> {
    Key(conversation(place)).id(session).0
}

/// The chat that a key from [`session_of`] begins with.
pub(super) fn chat_in(key: &[u8]) -> Option<ChatId> {
    session_in(key)?;
    key.first_chunk().map(|bytes| ChatId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// The key of the conversation that a key from [`session_of`] begins with.
pub(super) fn conversation_in(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(ULID_CHARS)]
}

/// The session that a key from [`session_of`] ends in.
pub(super) fn session_in(key: &[u8]) -> Option<SessionId> {
    std::str::from_utf8(key.last_chunk::<ULID_CHARS>()?).ok()?.parse().ok()
}

/// A background message of a conversation at a time.
pub(super) fn background(place: Conversation, sent_at: DateTime<Utc>, message: MessageId) -> Vec<u8> {
    Key(conversation(place)).number(sent_at.timestamp_millis()).number(message.0).0
}

/// A message of a session.
pub(super) fn message(session: SessionId, index: u32) -> Vec<u8> {
    Key(id(session)).index(index).0
}

/// The key of the session that a key from [`message`] begins with.
pub(super) fn session_of_message(key: &[u8]) -> Option<&[u8]> {
    key.get(..ULID_CHARS)
}

/// A call of a turn: the first, the second, …
pub(super) fn call(run: RunId, index: u32) -> Vec<u8> {
    Key(id(run)).index(index).0
}

/// A child of a turn, among its others: the text of ULIDs sorts as they began.
pub(super) fn child(root: RunId, child: RunId) -> Vec<u8> {
    Key(id(root)).id(child).0
}

/// A live message of a turn; the first one is named by the turn alone, as when there was only one.
pub(super) fn live(run: RunId, index: u32) -> Vec<u8> {
    match index {
        0 => id(run),
        index => Key(id(run)).index(index).0,
    }
}

/// A block of a chat's index: the first, the second, …
pub(super) fn index_block(of: ChatId, number: u32) -> Vec<u8> {
    Key(chat(of)).index(number).0
}

/// An edited message of a chat, among its others.
pub(super) fn index_edit(of: ChatId, session: SessionId, index: u32) -> Vec<u8> {
    Key(chat(of)).id(session).index(index).0
}

/// The message that a key from [`index_edit`] names.
pub(super) fn edited_in(key: &[u8]) -> Option<EntryKey> {
    let index = index_of(key)?;
    Some(EntryKey { session: session_in(key.get(..key.len().checked_sub(size_of::<u32>())?)?)?, index })
}

/// The key of a chat.
pub(super) fn chat(chat: ChatId) -> Vec<u8> {
    Key::default().number(chat.0).0
}

/// A key that begins with a chat, with another chat in its place.
pub(super) fn moved(key: &[u8], to: ChatId) -> Vec<u8> {
    [&chat(to), key.get(size_of::<i64>()..).unwrap_or_default()].concat()
}

/// A person of a chat.
pub(super) fn person(of: ChatId, user: &UserId) -> Vec<u8> {
    Key(chat(of)).id(user).0
}

/// A note of a chat.
pub(super) fn note(chat: ChatId, note: NoteId) -> Vec<u8> {
    Key::default().number(chat.0).id(note).0
}

/// A record of a chat.
pub(super) fn record(chat: ChatId, record: RecordId) -> Vec<u8> {
    Key::default().number(chat.0).id(record).0
}

/// A persona of a chat's own.
pub(super) fn persona(chat: ChatId, persona: PersonaId) -> Vec<u8> {
    Key::default().number(chat.0).id(persona).0
}

/// A pin of a chat.
pub(super) fn pin(chat: ChatId, pin: PinId) -> Vec<u8> {
    Key::default().number(chat.0).id(pin).0
}

/// The key of a Telegram message.
pub(super) fn telegram(chat: ChatId, message: MessageId) -> Vec<u8> {
    Key::default().number(chat.0).number(message.0).0
}

/// What a key from [`telegram`] has in front of its message: its chat.
pub(super) fn place(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(size_of::<i64>())]
}

/// The message that a key from [`telegram`] ends in.
pub(super) fn message_in(key: &[u8]) -> Option<MessageId> {
    key.last_chunk().map(|bytes| MessageId(i64::from_be_bytes(*bytes) ^ i64::MIN))
}

/// A Telegram message among all others, by time.
pub(super) fn telegram_at(at: DateTime<Utc>, chat: ChatId, message: MessageId) -> Vec<u8> {
    Key(time(at)).number(chat.0).number(message.0).0
}

/// Where the keys of [`telegram_at`] from this time on begin.
pub(super) fn time(at: DateTime<Utc>) -> Vec<u8> {
    Key::default().number(at.timestamp_millis()).0
}

/// The key of [`telegram`] inside one of [`telegram_at`].
pub(super) fn telegram_of(key: &[u8]) -> &[u8] {
    key.get(size_of::<i64>()..).unwrap_or_default()
}

/// A record named by a ULID alone, and the beginning of all that belong to it. The text of ULIDs sorts as they do.
pub(super) fn id(id: impl Display) -> Vec<u8> {
    Key::default().id(id).0
}

/// An entry of the audit log, by its place.
pub(super) fn audit(seq: u64) -> Vec<u8> {
    seq.to_be_bytes().to_vec()
}

/// The key of a day.
pub(super) fn day(day: NaiveDate) -> Vec<u8> {
    Key::default().number(i64::from(day.num_days_from_ce())).0
}

/// What a person spent on a day in a chat with a model, in turns or in the background.
pub(super) fn spending(spending: &Spending) -> Vec<u8> {
    let Spending { chat, user, model, purpose, .. } = spending;
    let key = Key(day(spending.day)).number(chat.0).id(user).id('\0').id(model);
    match purpose {
        Purpose::Turn => key.0,
        Purpose::Background => key.id('\0').id("background").0,
    }
}

/// A task of a chat, among the others of the chat.
pub(super) fn chat_task(chat: ChatId, task: TaskId) -> Vec<u8> {
    Key::default().number(chat.0).id(task).0
}

/// Where the keys of [`user_task`] of a person begin.
pub(super) fn user(user: &UserId) -> Vec<u8> {
    Key::default().id(user).id('\0').0
}

/// A task of a person, among their others.
pub(super) fn user_task(of: &UserId, task: TaskId) -> Vec<u8> {
    Key(user(of)).id(task).0
}

/// A memory of a person, or a message of theirs, among their others.
pub(super) fn of_user(of: &UserId, one: impl Display) -> Vec<u8> {
    Key(user(of)).id(one).0
}

/// A task, among all others by time.
pub(super) fn wake(at: DateTime<Utc>, task: TaskId) -> Vec<u8> {
    Key(time(at)).id(task).0
}

/// The time that a key from [`wake`] begins with.
pub(super) fn time_of(key: &[u8]) -> Option<DateTime<Utc>> {
    let number = i64::from_be_bytes(*key.first_chunk()?) ^ i64::MIN;
    DateTime::from_timestamp_millis(number)
}

/// The id of the task that a key from [`chat_task`], [`user_task`], [`wake`] or of a table by task ends in.
pub(super) fn task_of(key: &[u8]) -> Option<TaskId> {
    std::str::from_utf8(key.last_chunk::<ULID_CHARS>()?).ok()?.parse().ok()
}

/// A run of a task: the first, the second, …
pub(super) fn task_run(task: TaskId, index: u32) -> Vec<u8> {
    Key(id(task)).index(index).0
}

/// The index that a key from [`message`] or [`call`] ends in.
pub(super) fn index_of(key: &[u8]) -> Option<u32> {
    key.last_chunk().copied().map(u32::from_be_bytes)
}

#[derive(Default)]
struct Key(Vec<u8>);

impl Key {
    /// Flips the sign bit: otherwise negative numbers would come after the positive ones.
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
            .map(|topic| conversation(Conversation { chat, topic }));
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
