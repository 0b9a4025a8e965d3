//! The PostgreSQL engine: one table of entries for all bots, and a lease for each.

mod cache;
mod client;
mod connections;
mod fault;
mod lease;
mod membership;
mod owner;
mod ownership;
mod reader;
mod rows;
mod scan;
mod schema;
mod span;
mod witness;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use self::cache::{ReadCache, TableRead};
use self::client::{DatabaseClient, SHORT_PATIENCE};
pub(super) use self::connections::DatabaseConnections;
use self::lease::BotLease;
use self::membership::Membership;
pub use self::ownership::{BotOwner, Ownership};
use self::reader::RowReader;
use self::scan::PageScan;
use self::schema::SchemaState;
pub(super) use self::witness::LEASE;
use super::batch::{Batch, Keys};
use super::error::EngineError;
use super::memory::NoMarks;
use super::port::{Engine, EntryScan, KeyValue, MarkKeeper, Reader, Result, Revision, View};
use figaro_base::tenure::Tenure;
use figaro_config::DatabaseUrl;

/// Pause between two looks at a lease that another process holds.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct PostgresEngine {
    url: DatabaseUrl,
    client: DatabaseClient,
    lease: Option<BotLease>,
    tenure: Tenure,
    /// Number of commits under the lease, as the database counts them.
    commits: AtomicI64,
    /// Held by a commit from reading that number to its end.
    committing: Mutex<()>,
    cache: Arc<ReadCache>,
    reader: RowReader,
}

impl PostgresEngine {
    /// Opens the store in a database for the owner of these keys, one process at a time; `b""` are all keys. Makes the tables
    /// if they are missing. Waits as long as `wait` for the end of a lease that another process holds.
    pub(super) fn open(
        url: &DatabaseUrl,
        owned: &[u8],
        shared: &DatabaseConnections,
        wait: Duration,
    ) -> Result<Self> {
        let (client, member) = shared.joined(url)?;
        let lease = take(&client, &member, owned, wait)?;
        let (tenure, commits) = (member.tenure(), AtomicI64::new(lease.commits));
        let (cache, committing) = (Arc::new(ReadCache::among(&client.caches)), Mutex::default());
        let reader = RowReader::new(client.clone(), Arc::clone(&cache), owned);
        Ok(Self { url: url.clone(), client, lease: Some(lease), tenure, commits, committing, cache, reader })
    }

    /// Opens the store to read it; `None` if there is none.
    pub(super) fn open_to_read(url: &DatabaseUrl) -> Result<Option<Self>> {
        let found = Self::open_beside(url)?;
        match &found {
            Some(engine) if schema::is_in_use(&engine.client)? => Err(EngineError::InUse),
            _ => Ok(found),
        }
    }

    /// Opens the store to read it, even while others write; `None` if there is none.
    pub(super) fn open_beside(url: &DatabaseUrl) -> Result<Option<Self>> {
        let client = DatabaseClient::new(url, SHORT_PATIENCE)?;
        if schema::look(&client)? == SchemaState::Missing {
            return Ok(None);
        }
        let (url, (tenure, commits, committing, cache)) = (url.clone(), Default::default());
        let reader = RowReader::new(client.clone(), Arc::clone(&cache), b"");
        Ok(Some(Self { url, client, lease: None, tenure, commits, committing, cache, reader }))
    }

    /// Makes the tables of the database, or brings them to the version of this program. Returns `true` if there was anything to
    /// do. Blocking.
    ///
    /// # Errors
    /// If the schema is another program's or of a newer version; of the database.
    pub(super) fn migrate(url: &DatabaseUrl) -> Result<bool> {
        let client = DatabaseClient::new(url, SHORT_PATIENCE)?;
        let is_missing = schema::look(&client)? == SchemaState::Missing;
        if is_missing {
            schema::make(&client)?;
        }
        Ok(is_missing)
    }

    /// Returns `true` if there is a store in the database.
    pub(super) fn is_there(url: &DatabaseUrl) -> Result<bool> {
        let client = DatabaseClient::new(url, SHORT_PATIENCE)?;
        Ok(schema::look(&client)? == SchemaState::Ready && !schema::tables(&client)?.is_empty())
    }

    /// Fails if the lease is lost.
    fn check(&self) -> Result<()> {
        match self.tenure.holds() {
            true => Ok(()),
            false => {
                Err(EngineError::Failed("its lease is lost: another process may have the bot".to_owned()))
            }
        }
    }

    fn revision(&self) -> Revision {
        Revision(self.commits.load(Ordering::Acquire).unsigned_abs())
    }
}

/// Takes the lease of these keys, within `wait` if another process holds it.
fn take(client: &DatabaseClient, member: &Arc<Membership>, owned: &[u8], wait: Duration) -> Result<BotLease> {
    let began = Instant::now();
    loop {
        if let Some(lease) = BotLease::take(client, member, owned)? {
            return Ok(lease);
        }
        if began.elapsed() >= wait {
            return Err(EngineError::InUse);
        }
        thread::sleep(LOOK_AGAIN);
    }
}

impl Reader for PostgresEngine {
    fn tables(&self) -> Result<BTreeSet<String>> {
        Ok(schema::tables(&self.client)?.into_iter().collect())
    }

    /// Views show the newest state: the store hides what is committed while it reads, and nobody else writes.
    fn view(&self) -> Result<Box<dyn View + '_>> {
        self.check()?;
        Ok(Box::new(PostgresView { reader: self.reader.clone(), revision: self.revision() }))
    }

    fn marks(&self) -> &dyn MarkKeeper {
        &NoMarks
    }

    fn disk_bytes(&self) -> Result<u64> {
        schema::bytes(&self.client)
    }
}

impl Engine for PostgresEngine {
    fn create_tables(&mut self, tables: &[&'static str]) -> Result<()> {
        schema::add_tables(&self.client, tables)
    }

    fn commit(&self, based_on: Revision, batch: &Batch) -> Result<()> {
        let _alone = self.committing.lock();
        self.check().inspect_err(|_ended| self.client.meters.refused())?;
        let Some(lease) = &self.lease else { return Err(EngineError::failed(&"it is open to be read")) };
        if self.revision() != based_on {
            return Err(EngineError::Conflict);
        }
        let commits = self.commits.load(Ordering::Acquire);
        rows::commit(&self.client, &lease.fence(commits), batch).inspect_err(|error| {
            if matches!(error, EngineError::InUse) {
                self.client.meters.refused();
            }
        })?;
        self.cache.apply(batch);
        self.commits.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// The database checks its own pages.
    fn verify(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn compact(&mut self) -> Result<bool> {
        schema::vacuum(&self.client, true).map(|()| false)
    }

    fn snapshot(&self, _tables: &[&'static str]) -> Result<Box<dyn View + '_>> {
        let reader = RowReader::new(DatabaseClient::of_moment(&self.url)?, Arc::default(), b"");
        // The transaction begins with its first question.
        reader.get("", b"")?;
        Ok(Box::new(PostgresView { reader, revision: self.revision() }))
    }

    fn rewrite(&self, _tables: &[&'static str]) -> Result<()> {
        schema::vacuum(&self.client, false)
    }

    fn counts_commits(&self) -> bool {
        false
    }

    fn tenure(&self) -> Tenure {
        self.tenure.clone()
    }
}

/// Entries of one owner, or of the whole store in maintenance.
struct PostgresView {
    reader: RowReader,
    revision: Revision,
}

impl View for PostgresView {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.reader.get(table, key)
    }

    fn scan(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, KeyValue>> {
        let of = TableRead { table, with_values: true };
        Ok(Box::new(PageScan::new(self.reader.clone(), of, keys)))
    }

    fn keys(&self, table: &str, keys: &Keys) -> Result<EntryScan<'_, Vec<u8>>> {
        let of = TableRead { table, with_values: false };
        let found = PageScan::new(self.reader.clone(), of, keys);
        Ok(Box::new(found.map(|entry| entry.map(|(key, _)| key))))
    }
}
