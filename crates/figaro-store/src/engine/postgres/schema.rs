//! Tables of the database, in a schema of their own.

use tokio_postgres::types::Type;

use super::super::error::EngineError;
use super::super::port::Result;
use super::client::DatabaseClient;
use super::fault::DatabaseFault;

/// Version of these tables.
const VERSION: i32 = 1;
/// Oldest version of the server.
const OLDEST_SERVER: i32 = 15;

const MAKE: &str = "
    CREATE SCHEMA IF NOT EXISTS figaro;
    CREATE TABLE IF NOT EXISTS figaro.version (version integer PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS figaro.tables (name text PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS figaro.entries (
        name text NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (name, key));
    CREATE TABLE IF NOT EXISTS figaro.processes (
        name text PRIMARY KEY, host text NOT NULL, address text NOT NULL, takes boolean NOT NULL,
        until timestamptz NOT NULL);
    CREATE TABLE IF NOT EXISTS figaro.leases (
        bot bytea PRIMARY KEY, epoch bigint NOT NULL, commits bigint NOT NULL, owner text NOT NULL);
    INSERT INTO figaro.version VALUES (1) ON CONFLICT DO NOTHING;";

/// State of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    Missing,
    Ready,
}

/// Checks the server and what is in its database, without changing it. Blocking.
///
/// # Errors
/// If the server is too old, or the schema is another program's or of another version; of the database.
pub(super) fn look(client: &DatabaseClient) -> Result<SchemaState> {
    client.call(|database| async move {
        let version: String = database.query_typed_one("SHOW server_version", &[]).await?.try_get(0)?;
        let major = version.split(['.', ' ']).next().and_then(|major| major.parse().ok());
        if major.is_some_and(|major: i32| major < OLDEST_SERVER) {
            return Err(DatabaseFault::refused(format!(
                "its server is PostgreSQL {version}, and Figaro needs {OLDEST_SERVER} or newer"
            )));
        }
        let rights = "SELECT current_setting('transaction_read_only') = 'on', \
                      has_database_privilege(current_database(), 'CREATE')";
        let rights = database.query_typed_one(rights, &[]).await?;
        let (only_reads, may_make): (bool, bool) = (rights.try_get(0)?, rights.try_get(1)?);
        if only_reads {
            return Err(DatabaseFault::refused(
                "it only reads, as a replica does: name the primary in STORE_URL".to_owned(),
            ));
        }
        let names = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'figaro'";
        let found = database.query_typed(names, &[]).await?;
        let has = |name: &str| found.iter().any(|row| row.try_get::<_, String>(0).is_ok_and(|found| found == name));
        match found.is_empty() {
            true if may_make => return Ok(SchemaState::Missing),
            true => {
                return Err(DatabaseFault::refused(
                    "its user may not make tables there: run `figaro store migrate` once as the owner of the database, or make this user the \
                     owner".to_owned(),
                ));
            }
            false if has("version") && has("entries") && has("leases") => {}
            false => {
                return Err(DatabaseFault::Refused(EngineError::Unreadable(
                    "its schema figaro is another program's".to_owned(),
                )));
            }
        }
        let newest = database.query_typed_opt("SELECT max(version) FROM figaro.version", &[]).await?;
        match newest.map(|row| row.try_get::<_, Option<i32>>(0)).transpose()?.flatten() {
            Some(VERSION) | None => Ok(SchemaState::Ready),
            Some(other) => Err(DatabaseFault::Refused(EngineError::Unreadable(format!(
                "its schema has the version {other}, and this Figaro knows {VERSION}: use the version of Figaro that made it"
            )))),
        }
    })
}

/// Makes the tables that are missing. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn make(client: &DatabaseClient) -> Result<()> {
    let made = client.call(|database| async move { Ok(database.batch_execute(MAKE).await?) });
    // Two processes that make them at once disturb each other: one of them fails, and finds them made.
    match look(client) {
        Ok(SchemaState::Ready) => Ok(()),
        _ => made,
    }
}

/// Returns `true` if a process holds a lease. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn is_in_use(client: &DatabaseClient) -> Result<bool> {
    client.call(|database| async move {
        let sql = "SELECT EXISTS (SELECT FROM figaro.leases JOIN figaro.processes ON name = owner WHERE until >= now())";
        Ok(database.query_typed_one(sql, &[]).await?.try_get(0)?)
    })
}

/// Returns the names of the store's tables. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn tables(client: &DatabaseClient) -> Result<Vec<String>> {
    client.call(|database| async move {
        let found = database.query_typed("SELECT name FROM figaro.tables", &[]).await?;
        found.iter().map(|row| row.try_get(0).map_err(DatabaseFault::from)).collect()
    })
}

/// Adds tables to the store's. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn add_tables(client: &DatabaseClient, names: &[&'static str]) -> Result<()> {
    let names: Vec<&'static str> = names.to_vec();
    client.call(move |database| {
        let names = names.clone();
        async move {
            let sql = "INSERT INTO figaro.tables (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING";
            database.execute_typed(sql, &[(&names, Type::TEXT_ARRAY)]).await?;
            Ok(())
        }
    })
}

/// Returns the size of the entries with their index, in bytes. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn bytes(client: &DatabaseClient) -> Result<u64> {
    client.call(|database| async move {
        let sql = "SELECT pg_total_relation_size('figaro.entries'::regclass)";
        let bytes: i64 = database.query_typed_one(sql, &[]).await?.try_get(0)?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    })
}

/// Removes what was deleted from the files of the database. `whole` writes them anew while everybody waits; otherwise the
/// room is only used again. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn vacuum(client: &DatabaseClient, whole: bool) -> Result<()> {
    let sql = if whole { "VACUUM (FULL) figaro.entries" } else { "VACUUM figaro.entries" };
    // Each holds a connection, so that of one bot after another.
    let _alone = client.vacuum.lock();
    client.slow().call(move |database| async move { Ok(database.batch_execute(sql).await?) })
}
