//! The stored records of a bot that has stopped, past the store: to look at them, to change their times, to damage them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figaro_base::ids::{BotId, ChatId};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::chat::{AnswerFormat, ConfigPatch};
use figaro_store::Store;
use figaro_store::engine::{self, Batch, Engine, KeyValue, Keys};
use serde_json::Value;

use super::World;
use super::postgres::PostgresServer;

/// What keeps the stores of all bots of this run: the default, or what the variable `FIGARO_TEST_STORE` names.
#[expect(clippy::disallowed_methods, reason = "a run of the tests is told by its environment")]
pub fn engine_kind() -> EngineKind {
    let Ok(name) = std::env::var("FIGARO_TEST_STORE") else { return EngineKind::ALL[0] };
    if name == POSTGRES {
        return EngineKind::ALL[0];
    }
    EngineKind::ALL.into_iter().find(|kind| kind.name() == name).expect("FIGARO_TEST_STORE names an engine")
}

/// Value of the variable for databases in place of folders.
const POSTGRES: &str = "postgres";

/// A store in this folder, as this run keeps stores.
#[expect(clippy::disallowed_methods, reason = "a run of the tests is told by its environment")]
pub fn store_url(folder: impl AsRef<Path>) -> StoreUrl {
    if std::env::var("FIGARO_TEST_STORE").is_ok_and(|name| name == POSTGRES) {
        return PostgresServer::get().expect("PostgreSQL is installed").url_for(folder.as_ref());
    }
    StoreUrl::new(engine_kind(), folder.as_ref())
}

/// The file that holds most of a store in this folder.
pub fn data_file(folder: &Path) -> PathBuf {
    folder.join(match engine_kind() {
        EngineKind::Redb => "store.redb",
        EngineKind::Sled => "db",
    })
}

/// The engine of a closed store.
pub struct Records(Box<dyn Engine>);

impl Records {
    /// Of a store that is closed.
    pub fn of(url: &StoreUrl) -> Self {
        Self(engine::open(url).unwrap())
    }

    /// Of a new store with these tables.
    pub fn new(url: &StoreUrl, tables: &[&'static str]) -> Self {
        let mut engine = engine::open(url).unwrap();
        engine.create_tables(tables).unwrap();
        Self(engine)
    }

    /// All records of all tables that have any, without the count of commits, which each store has of its own.
    pub fn everything(&self) -> BTreeMap<String, Vec<KeyValue>> {
        let tables = self.0.tables().unwrap().into_iter();
        let counts = |table: &str, key: &[u8]| table == "meta" && key == b"mark";
        let records = |table: &str| {
            self.all(table).into_iter().filter(|(key, _)| !counts(table, key)).collect::<Vec<_>>()
        };
        tables.map(|table| (table.clone(), records(&table))).filter(|(_, all)| !all.is_empty()).collect()
    }

    /// All records of a table, by their keys.
    pub fn all(&self, table: &str) -> Vec<KeyValue> {
        let view = self.0.view().unwrap();
        view.scan(table, &Keys::beginning_with([])).unwrap().map(Result::unwrap).collect()
    }

    /// Puts a value in the place of a record, or makes one.
    pub fn put(&self, table: &'static str, key: &[u8], value: impl Into<Vec<u8>>) {
        let mut batch = Batch::default();
        batch.put(table, key.to_vec(), value.into());
        self.0.write(&batch).unwrap();
    }

    /// Removes a record.
    pub fn remove(&self, table: &'static str, key: &[u8]) {
        let mut batch = Batch::default();
        batch.remove(table, key.to_vec());
        self.0.write(&batch).unwrap();
    }

    /// Changes the records of a table, and gives how many there were.
    pub fn change(&self, table: &'static str, mut change: impl FnMut(&mut Value)) -> usize {
        let all = self.all(table);
        for (key, value) in &all {
            let mut value = serde_json::from_slice(value).unwrap();
            change(&mut value);
            self.put(table, key, value.to_string());
        }
        all.len()
    }

    /// Leaves half of the first record of a table.
    pub fn damage(&self, table: &'static str) {
        let (key, _) = self.all(table).into_iter().next().expect("a record");
        self.put(table, &key, r#"{"half a rec"#);
    }
}

impl World {
    /// The setting of the world's bot for it.
    pub fn store_setting(&self) -> String {
        match self.store_url() {
            StoreUrl::Folder(at) => format!("{}:./data", at.engine),
            url @ StoreUrl::Database(_) => url.to_string(),
        }
    }

    /// Where the world's bot keeps its store.
    pub fn store_url(&self) -> StoreUrl {
        store_url(self.folder.path().join("data"))
    }

    /// The store of the world's bot, which has stopped.
    pub async fn stored(&self) -> Store {
        Store::open(&self.store_url(), BotId(self.telegram.bot_id())).await.unwrap()
    }

    /// Has the bot, which is not running, send answers as text in these chats.
    pub async fn plain(&self, chats: &[i64]) {
        let store = self.stored().await;
        for chat in chats {
            let plain = ConfigPatch { format: Some(AnswerFormat::Plain), ..ConfigPatch::default() };
            store.settings().change_chat_config(ChatId(*chat), plain).await.unwrap();
        }
    }

    /// The same where this engine keeps it.
    pub async fn stored_by(&self, kind: EngineKind) -> Store {
        let url = StoreUrl::new(kind, self.folder.path().join("data"));
        Store::open(&url, BotId(self.telegram.bot_id())).await.unwrap()
    }

    /// The records of the world's bot, which has stopped.
    pub fn records(&self) -> Records {
        Records::of(&self.store_url())
    }
}

/// How many of the stored entries hold these words.
pub fn holding(world: &World, words: &str) -> Vec<String> {
    let all = world.records().everything();
    let is_in = |value: &[u8]| String::from_utf8_lossy(value).contains(words);
    let hits = all.into_iter().flat_map(|(table, all)| all.into_iter().map(move |one| (table.clone(), one)));
    hits.filter(|(_, (_, value))| is_in(value))
        .map(|(table, (_, value))| format!("{table}: {}", String::from_utf8_lossy(&value)))
        .collect()
}
