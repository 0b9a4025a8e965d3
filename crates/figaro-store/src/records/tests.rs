//! Each table by chat follows its chat: to a new id, and out of the store.

use chrono::DateTime;
use serde_json::Value;

use super::super::key;
use super::super::table::Table;
use super::super::tables::{KEYED, KeyedBy};
use crate::Store;
use figaro_base::ids::{BotId, ChatId, NoteId, UserId};
use figaro_domain::chat::ConfigPatch;
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::erasure::{Erasure, Forgotten};

const CHAT: ChatId = ChatId(-5);
const NEW: ChatId = ChatId(-1_005);

/// Tables that keep records of a chat's old id, with the reason.
const NOT_MOVED: [(&str, &str); 5] = [
    ("untitled", "a chat with topics gets no new id"),
    ("runs", "a turn in progress ends under the old id"),
    ("own", "the messages of the old group have other ids; the records expire"),
    ("external_names", "no conversation outside Telegram gets a new id"),
    ("tasks_of_chat", "an index over `tasks`, which moves with each task"),
];

/// A store with a record of [`CHAT`] in every table by chat: those of a session and of settings, and raw records in the
/// other tables. An operation that reads a raw record moves it to the quarantine.
async fn filled(but: &[&str]) -> Store {
    let (store, now) = (Store::in_memory(BotId(1)), DateTime::UNIX_EPOCH);
    let conversation = ConversationId { chat: CHAT, topic: None };
    let session = store.conversations().session(conversation, now).unwrap();
    let words = Message::new(session.id, MessageRole::User, "hello".to_owned(), now);
    store.conversations().append(words).unwrap();
    let german = ConfigPatch { language: Some(Some("German".to_owned())), ..ConfigPatch::default() };
    store.settings().change_chat_config(CHAT, german).await.unwrap();
    for name in by_chat().filter(|name| !but.contains(name)) {
        let put = store.change("put a raw record", move |tables, changes| {
            let table: Table<'_, Value> = Table::new(name, tables.snapshot);
            if table.keys_of(&key::chat(CHAT))?.next().is_none() {
                changes.put(&table, key::note(CHAT, NoteId::new()), &Value::from("raw"))?;
            }
            Ok(())
        });
        put.unwrap();
    }
    assert_eq!(
        of_chat(&store, keyed_by(&[KeyedBy::Other])),
        [""; 0],
        "the keys of these begin with a chat, too"
    );
    store
}

fn by_chat() -> impl Iterator<Item = &'static str> {
    keyed_by(&[KeyedBy::Chat, KeyedBy::LastingChat])
}

fn keyed_by(any: &'static [KeyedBy]) -> impl Iterator<Item = &'static str> {
    KEYED.iter().filter(|(_, by)| any.contains(by)).map(|(name, _)| *name)
}

/// Returns the tables, among these, with a key that begins with [`CHAT`].
fn of_chat(store: &Store, among: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let among: Vec<&'static str> = among.collect();
    let found = store.read("look for a chat", move |tables| {
        let has = |name: &&'static str| {
            let table: Table<'_, Value> = Table::new(name, tables.snapshot);
            table.keys_of(&key::chat(CHAT)).is_ok_and(|mut keys| keys.next().is_some())
        };
        Ok(among.into_iter().filter(has).collect())
    });
    found.unwrap()
}

#[tokio::test]
async fn every_table_moves_with_its_chat() {
    let store = filled(&[]).await;
    store.settings().migrate_chat(CHAT, NEW).await.unwrap();
    assert_eq!(of_chat(&store, by_chat()), NOT_MOVED.map(|(name, _)| name), "see records/migration.rs");
}

#[tokio::test]
async fn every_table_is_erased_with_its_chat() {
    // Nothing is erased during a turn.
    let store = filled(&["runs"]).await;
    let all = Erasure::Chat(CHAT, UserId::telegram(1));
    let forgotten = store.erasures().erase(&all, DateTime::UNIX_EPOCH).await.unwrap();
    assert!(matches!(forgotten, Forgotten::Done(_)), "{forgotten:?}");
    let kept: Vec<&str> = keyed_by(&[KeyedBy::LastingChat]).collect();
    assert_eq!(of_chat(&store, by_chat()), kept, "see `KeyedBy`");
}
