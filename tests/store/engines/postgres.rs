//! A store in a PostgreSQL database: one owner of a bot at a time, and what is refused.

use async_trait::async_trait;
use figaro_base::ids::BotId;
use figaro_config::{EngineKind, StoreUrl};
use figaro_store::whole::copy;
use figaro_store::{Store, StoreError};

use super::disk::Disk;
use super::{BOT, Backend, CHAT, note};
use crate::support::postgres::PostgresServer;

/// A database of its own.
pub(super) struct Database {
    server: &'static PostgresServer,
    name: String,
}

impl Database {
    /// Makes one; `None` where PostgreSQL is not installed.
    pub(super) fn new() -> Option<Self> {
        let server = PostgresServer::get()?;
        Some(Self { server, name: server.database() })
    }

    fn url(&self) -> StoreUrl {
        self.server.url(&self.name)
    }

    fn does(&self, sql: &str) {
        assert!(self.server.psql(&self.name, sql), "{sql}");
    }

    async fn refused(&self) -> String {
        Store::open(&self.url(), BOT).await.unwrap_err().to_string()
    }
}

#[async_trait]
impl Backend for Database {
    async fn open_for(&self, bot: BotId) -> Store {
        Store::open(&self.url(), bot).await.unwrap()
    }
}

async fn keep(store: &Store, words: &str, number: i64) {
    store.notes().add(&note(CHAT, "list", words, number), 1_000).await.unwrap();
}

fn kept(store: &Store) -> Vec<String> {
    store.notes().of_chat(CHAT).unwrap().into_iter().map(|note| note.content).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_has_one_owner_and_others_have_theirs_beside_it() {
    let Some(database) = Database::new() else { return };
    let store = database.open().await;
    keep(&store, "milk", 1).await;
    let other = database.open_for(BotId(78)).await;
    keep(&other, "bread", 1).await;
    let second = Store::open(&database.url(), BOT).await;
    assert!(matches!(second, Err(StoreError::InUse(_))), "{second:?}");
    drop(store);
    assert_eq!(kept(&database.open().await), ["milk"], "given back at once");
    assert_eq!(kept(&other), ["bread"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_the_lease_writes_nothing_more() {
    let Some(database) = Database::new() else { return };
    let store = database.open().await;
    keep(&store, "milk", 1).await;
    // As if this process had hung for longer than the lease.
    database.does("DELETE FROM figaro.processes");
    let next = database.open().await;
    keep(&next, "bread", 2).await;
    let refused = store.notes().add(&note(CHAT, "list", "late", 3), 1_000).await.unwrap_err();
    assert!(refused.to_string().contains("in use by another process"), "{refused}");
    assert_eq!(kept(&next), ["milk", "bread"]);
    drop(store);
    keep(&next, "salt", 4).await;
    assert_eq!(kept(&next), ["milk", "bread", "salt"], "what the first gave back was not its own any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_moves_into_a_database_and_back() {
    let Some(database) = Database::new() else { return };
    let disk = Disk::new(EngineKind::Redb);
    let store = disk.open().await;
    for number in 0..200 {
        keep(&store, &number.to_string(), number).await;
    }
    let all = kept(&store);
    drop(store);
    let (from, to, back) =
        (disk.url(), database.url(), StoreUrl::new(EngineKind::Sled, disk.home().join("back")));
    let again = back.clone();
    let moved = tokio::task::spawn_blocking(move || {
        let there = copy(&from, &to, |_| {}).unwrap();
        (there, copy(&to, &again, |_| {}).unwrap(), copy(&from, &to, |_| {}).unwrap_err().to_string())
    });
    let (there, home, refused) = moved.await.unwrap();
    assert_eq!(there, home);
    assert!(refused.contains("there is a store already"), "{refused}");
    assert_eq!(kept(&database.open().await), all);
    assert_eq!(kept(&Store::open(&back, BOT).await.unwrap()), all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_break_lose_nothing_and_write_nothing_twice() {
    let Some(database) = Database::new() else { return };
    let store = database.open().await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
               pg_backend_pid()";
    for number in 0..40 {
        let words = number.to_string();
        tokio::join!(keep(&store, &words, number), async {
            let (server, name) = (database.server, database.name.clone());
            tokio::task::spawn_blocking(move || server.psql(&name, cut)).await.unwrap();
        });
    }
    let all: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    assert_eq!(kept(&store), all);
    let store = database.reopen(store).await;
    assert_eq!(kept(&store), all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_store_of_this_version_is_refused_with_words() {
    let Some(server) = PostgresServer::get() else { return };
    for (sql, words) in [
        (
            "CREATE SCHEMA figaro; CREATE TABLE figaro.songs (name text)",
            "its schema figaro is another program's",
        ),
        (
            "CREATE SCHEMA figaro; CREATE TABLE figaro.version (version integer); CREATE TABLE figaro.entries (); CREATE \
             TABLE figaro.leases (); INSERT INTO figaro.version VALUES (2)",
            "its schema has the version 2, and this Figaro knows 1",
        ),
        (
            "CREATE SCHEMA figaro AUTHORIZATION pg_database_owner; ALTER DATABASE CURRENT SET default_transaction_read_only = on",
            "only reads",
        ),
    ] {
        let database = Database { server, name: server.database() };
        database.does(&sql.replace("DATABASE CURRENT", &format!("DATABASE {}", database.name)));
        let refused = database.refused().await;
        assert!(refused.contains(words), "{sql}: {refused}");
    }
    let nowhere = Database { server, name: "nowhere".to_owned() };
    let refused = nowhere.refused().await;
    assert!(refused.contains("make it with `createdb`"), "{refused}");
}
