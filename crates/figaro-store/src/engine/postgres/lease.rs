//! Leases: a bot belongs to one process at a time. Each commit names the lease, so a process that lost it writes nothing more.

use std::sync::Arc;

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::super::port::Result;
use super::client::DatabaseClient;
use super::fault::DatabaseFault;
use super::membership::{LeaseId, Membership};
use super::owner;

/// Removes processes that were not heard in time, and one that has ended for certain.
const END: &str = "DELETE FROM figaro.processes WHERE until < now() OR name = $1";
/// Condition that another lease excludes this one: that of all keys excludes all others.
const EXCLUDED: &str = "EXISTS (
    SELECT FROM figaro.leases AS other JOIN figaro.processes ON name = other.owner
    WHERE other.bot <> $1 AND ''::bytea IN ($1, other.bot))";
/// Takes a lease that nobody holds, or that the first try of a call that is made again has taken.
const TAKE: &str = "
    INSERT INTO figaro.leases AS held (bot, epoch, commits, owner) VALUES ($1, 1, 0, $2)
    ON CONFLICT (bot) DO UPDATE SET epoch = held.epoch + 1, owner = EXCLUDED.owner
        WHERE held.owner = $2 OR NOT EXISTS (SELECT FROM figaro.processes WHERE name = held.owner)
    RETURNING epoch, commits";

/// Process that has a lease, or had it last without giving it back.
const OWNER: &str = "SELECT owner FROM figaro.leases WHERE bot = $1 AND owner <> ''";

/// A lease that was just taken.
struct TakenLease {
    epoch: i64,
    commits: i64,
    /// Process that had it and did not give it back.
    failed: Option<String>,
}

/// State of the database that a commit is based on.
#[derive(Debug, Clone)]
pub(super) struct CommitFence {
    /// Beginning of the keys that belong to the bot.
    pub(super) bot: Vec<u8>,
    /// Number of times that a process has taken the lease.
    pub(super) epoch: i64,
    /// Number of commits under the lease, of all its processes.
    pub(super) commits: i64,
}

/// Result of a commit under a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceState {
    /// The commit is made.
    Passed,
    /// Another commit was made since.
    Moved,
    /// Another process has the lease.
    Taken,
}

impl CommitFence {
    /// Tells why a commit changed nothing. After a broken connection it may have been made by the first try.
    pub(super) async fn state(&self, database: &Object) -> Result<FenceState, DatabaseFault> {
        let sql = "SELECT epoch, commits FROM figaro.leases WHERE bot = $1";
        let found = database.query_typed_opt(sql, &[(&self.bot, Type::BYTEA)]).await?;
        let Some(row) = found else { return Ok(FenceState::Taken) };
        let (epoch, commits): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        Ok(match (epoch == self.epoch, commits - self.commits) {
            (true, 1) => FenceState::Passed,
            (true, _) => FenceState::Moved,
            (false, _) => FenceState::Taken,
        })
    }
}

/// Lease of a bot, until it is dropped.
#[derive(Debug)]
pub(super) struct BotLease {
    pub(super) member: Arc<Membership>,
    bot: Vec<u8>,
    epoch: i64,
    /// Number of commits when it was taken.
    pub(super) commits: i64,
}

impl BotLease {
    /// Takes the lease of a bot; `None` while another process holds it. Blocking.
    pub(super) fn take(
        client: &DatabaseClient,
        member: &Arc<Membership>,
        bot: &[u8],
    ) -> Result<Option<Self>> {
        if member.held.lock().contains(bot) {
            return Ok(None);
        }
        // Until a lease ends nobody knows if its owner lives, but for one on this machine.
        let ended = holder(client, bot)?.filter(|owner| owner::has_ended(owner)).unwrap_or_default();
        let (wanted, owner) = (bot.to_vec(), member.name().to_owned());
        let taken = client.call(move |database| {
            let (bot, owner, ended) = (wanted.clone(), owner.clone(), ended.clone());
            async move {
                database.execute_typed(END, &[(&ended, Type::TEXT)]).await?;
                if is_excluded(&database, &bot).await? {
                    return Ok(None);
                }
                // One that gave the lease back meanwhile did not fail.
                let failed = database.query_typed_opt(OWNER, &[(&bot, Type::BYTEA)]).await?;
                let failed = failed.map(|row| row.try_get(0)).transpose()?;
                let values: [(&(dyn ToSql + Sync), Type); 2] = [(&bot, Type::BYTEA), (&owner, Type::TEXT)];
                let row = database.query_typed_opt(TAKE, &values).await?;
                let taken =
                    |row: Row| Ok(TakenLease { epoch: row.try_get(0)?, commits: row.try_get(1)?, failed });
                row.map(taken).transpose()
            }
        })?;
        let Some(TakenLease { epoch, commits, failed }) = taken else { return Ok(None) };
        if !member.held.lock().insert(bot.to_vec()) {
            return Ok(None);
        }
        client.meters.holds_lease();
        let lease = Self { member: Arc::clone(member), bot: bot.to_vec(), epoch, commits };
        // Two that exclude each other may have been taken at once: the later one sees the other.
        let bot = lease.bot.clone();
        let is_excluded = client.call(move |database| {
            let bot = bot.clone();
            async move { is_excluded(&database, &bot).await }
        })?;
        if is_excluded {
            return Ok(None);
        }
        let failed = failed.filter(|owner| owner != member.name());
        client.meters.took_bot(failed.and_then(|owner: String| client.witness.silent_for(&owner)));
        Ok(Some(lease))
    }

    /// Returns the fence of the next commit after this number of them.
    pub(super) fn fence(&self, commits: i64) -> CommitFence {
        CommitFence { bot: self.bot.clone(), epoch: self.epoch, commits }
    }
}

async fn is_excluded(database: &Object, bot: &Vec<u8>) -> Result<bool, DatabaseFault> {
    let sql = format!("SELECT {EXCLUDED}");
    Ok(database.query_typed_one(&sql, &[(bot, Type::BYTEA)]).await?.try_get(0)?)
}

/// Returns the process that has a lease, or had it last without giving it back; `None` for none.
fn holder(client: &DatabaseClient, bot: &[u8]) -> Result<Option<String>> {
    let (bot, witness) = (bot.to_vec(), client.witness.clone());
    client.call(move |database| {
        let (bot, witness) = (bot.clone(), witness.clone());
        async move {
            let sql = "SELECT owner, extract(epoch FROM until - now())::float8
                FROM figaro.leases LEFT JOIN figaro.processes ON name = owner WHERE bot = $1 AND owner <> ''";
            let Some(row) = database.query_typed_opt(sql, &[(&bot, Type::BYTEA)]).await? else {
                return Ok(None);
            };
            let (owner, rest): (String, Option<f64>) = (row.try_get(0)?, row.try_get(1)?);
            rest.into_iter().for_each(|rest| witness.holds_for(&owner, rest));
            Ok(Some(owner))
        }
    })
}

impl Drop for BotLease {
    /// Gives the lease back, so that the next process need not wait for its end.
    fn drop(&mut self) {
        self.member.left_lease();
        self.member.release(LeaseId { bot: self.bot.clone(), epoch: self.epoch });
    }
}
