//! Statements about entries. None is prepared: a pooler may give each statement another session.

use std::ops::Bound;
use std::sync::Arc;

use tokio_postgres::types::{ToSql, Type};

use super::super::batch::{Batch, Keys};
use super::super::error::EngineError;
use super::super::port::{KeyValue, Result};
use super::client::DatabaseClient;
use super::fault::DatabaseFault;
use super::lease::{CommitFence, FenceState};
use super::span::ScanOrder;

/// Writes a batch in one statement, so in one transaction and one round trip: nothing is written unless the fence holds.
const PUT: &str = "
    WITH fence AS (
        UPDATE figaro.leases SET commits = commits + 1 WHERE bot = $1 AND epoch = $2 AND commits = $3 RETURNING bot
    ), put AS (
        INSERT INTO figaro.entries (name, key, value)
        SELECT name, key, value FROM unnest($4::text[], $5::bytea[], $6::bytea[]) AS new (name, key, value)
        WHERE EXISTS (SELECT FROM fence)
        ON CONFLICT (name, key) DO UPDATE SET value = EXCLUDED.value
    )";
/// Follows [`PUT`] if there are removals. The server plans the statement each time, and this is 40 % of that.
const REMOVE: &str = ", gone AS (
        DELETE FROM figaro.entries AS old USING unnest($7::text[], $8::bytea[]) AS gone (name, key)
        WHERE old.name = gone.name AND old.key = gone.key AND EXISTS (SELECT FROM fence)
    )";

/// Returns the value of a key; `None` if there is none. Blocking.
pub(super) fn get(client: &DatabaseClient, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let (table, key) = (table.to_owned(), key.to_vec());
    client.call(move |database| {
        let (table, key) = (table.clone(), key.clone());
        async move {
            let sql = "SELECT value FROM figaro.entries WHERE name = $1 AND key = $2";
            let found = database.query_typed(sql, &[(&table, Type::TEXT), (&key, Type::BYTEA)]).await?;
            found.first().map(|row| row.try_get(0)).transpose().map_err(DatabaseFault::from)
        }
    })
}

/// Entries of a range from one end.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryPage<'a> {
    pub(super) table: &'a str,
    pub(super) keys: &'a Keys,
    pub(super) order: ScanOrder,
    /// Maximum number of entries.
    pub(super) size: usize,
    /// `false` for empty values.
    pub(super) with_values: bool,
}

/// Reads a page. Blocking.
pub(super) fn page(client: &DatabaseClient, wanted: EntryPage<'_>) -> Result<Vec<KeyValue>> {
    let EntryPage { table, keys, order, size, with_values } = wanted;
    let value = if with_values { "value" } else { "''::bytea" };
    let mut sql = format!("SELECT key, {value} FROM figaro.entries WHERE name = $1");
    let mut ends: Vec<Vec<u8>> = Vec::new();
    for (bound, inclusive, exclusive) in [(&keys.begin, ">=", ">"), (&keys.end, "<=", "<")] {
        let (sign, key) = match bound {
            Bound::Included(key) => (inclusive, key),
            Bound::Excluded(key) => (exclusive, key),
            Bound::Unbounded => continue,
        };
        ends.push(key.clone());
        sql.push_str(&format!(" AND key {sign} ${}", ends.len() + 1));
    }
    let order = if order == ScanOrder::Ascending { "ASC" } else { "DESC" };
    sql.push_str(&format!(" ORDER BY key {order} LIMIT {size}"));
    let (table, asked) = (table.to_owned(), Arc::new((sql, ends)));
    client.call(move |database| {
        let (table, asked) = (table.clone(), Arc::clone(&asked));
        async move {
            let (sql, ends) = &*asked;
            let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![(&table, Type::TEXT)];
            values.extend(ends.iter().map(|end| (end as &(dyn ToSql + Sync), Type::BYTEA)));
            let found = database.query_typed(sql, &values).await?;
            let entry = |row: &tokio_postgres::Row| Ok((row.try_get(0)?, row.try_get(1)?));
            found.iter().map(entry).collect()
        }
    })
}

/// Changes of a batch in the form of arrays.
#[derive(Debug, Default)]
struct BatchRows {
    names: Vec<&'static str>,
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    gone_names: Vec<&'static str>,
    gone_keys: Vec<Vec<u8>>,
}

impl BatchRows {
    fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for (name, changes) in batch.tables() {
            for (key, value) in changes {
                match value {
                    Some(value) => {
                        rows.names.push(name);
                        rows.keys.push(key.to_vec());
                        rows.values.push(value.to_vec());
                    }
                    None => {
                        rows.gone_names.push(name);
                        rows.gone_keys.push(key.to_vec());
                    }
                }
            }
        }
        rows
    }
}

/// Makes the changes of a batch under a fence, once, even if the connection breaks meanwhile. Blocking.
///
/// # Errors
/// [`EngineError::Conflict`] if the fence was moved on by another commit; [`EngineError::InUse`] if another process has
/// taken over; of the database.
pub(super) fn commit(client: &DatabaseClient, fence: &CommitFence, batch: &Batch) -> Result<()> {
    let (rows, fence) = (Arc::new(BatchRows::of(batch)), fence.clone());
    let made = client.call(move |database| {
        let (rows, fence) = (Arc::clone(&rows), fence.clone());
        async move {
            let values: [(&(dyn ToSql + Sync), Type); 8] = [
                (&fence.bot, Type::BYTEA),
                (&fence.epoch, Type::INT8),
                (&fence.commits, Type::INT8),
                (&rows.names, Type::TEXT_ARRAY),
                (&rows.keys, Type::BYTEA_ARRAY),
                (&rows.values, Type::BYTEA_ARRAY),
                (&rows.gone_names, Type::TEXT_ARRAY),
                (&rows.gone_keys, Type::BYTEA_ARRAY),
            ];
            let remove = if rows.gone_keys.is_empty() { "" } else { REMOVE };
            let sql = format!("{PUT}{remove} SELECT count(*) FROM fence");
            let counted = database.query_typed_one(&sql, &values).await?;
            if counted.try_get::<_, i64>(0)? == 1 {
                return Ok(FenceState::Passed);
            }
            fence.state(&database).await
        }
    })?;
    match made {
        FenceState::Passed => Ok(()),
        FenceState::Moved => Err(EngineError::Conflict),
        FenceState::Taken => Err(EngineError::InUse),
    }
}
