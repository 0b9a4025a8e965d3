//! Processes that share a database. Each is a row that it renews about once a second. A row that was not renewed in time is removed
//! by whoever wants to take over, and with it all leases of that process end.
//!
//! Removing and renewing change the same row, so only one of the two happens. A process counts its time from before it asked
//! for the renewal, so its right ends no later than the row in the database.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use deadpool_postgres::Pool;
use parking_lot::Mutex;
use tokio_postgres::types::{ToSql, Type};

use super::super::port::Result;
use super::client::{DatabaseClient, SHORT_PATIENCE};
use super::fault::DatabaseFault;
use super::owner;
use super::witness::LEASE;
use crate::meters::StoreMeters;
use figaro_base::tenure::{Tenure, TenureGrant};

/// Pause between two renewals, and maximum time of one: a connection that hangs must not take the time of the next try.
const RENEW: Duration = Duration::from_millis(800);
const RENEWAL_BOUND: Duration = Duration::from_millis(1200);

const JOIN: &str = "
    INSERT INTO figaro.processes (name, host, address, takes, until)
    VALUES ($1, $2, $3, false, now() + $4 * interval '1 second')
    ON CONFLICT (name) DO UPDATE SET until = EXCLUDED.until";
const RENEWAL: &str = "UPDATE figaro.processes SET until = now() + $2 * interval '1 second' WHERE name = $1";
const RELEASE: &str = "UPDATE figaro.leases SET owner = '' WHERE bot = $1 AND epoch = $2 AND owner = $3";

/// A lease as a process took it.
#[derive(Debug, Clone)]
pub(super) struct LeaseId {
    /// Beginning of the keys of the bot.
    pub(super) bot: Vec<u8>,
    /// Number of times that a process has taken the lease.
    pub(super) epoch: i64,
}

/// This process among those that share the database, until it is dropped.
#[derive(Debug)]
pub(super) struct Membership {
    client: DatabaseClient,
    /// Bots whose leases it has.
    pub(super) held: Mutex<BTreeSet<Vec<u8>>>,
    /// `true` once the others count it among those that take bots.
    takes: AtomicBool,
    renewed: Arc<RenewedRow>,
}

/// Part of a membership that its renewals need. Dropping it never waits for the database, so the renewals may.
#[derive(Debug)]
struct RenewedRow {
    name: String,
    grant: TenureGrant,
    /// Leases that are given back, but the database did not hear it.
    unreleased: Mutex<Vec<LeaseId>>,
}

impl Membership {
    /// Joins the others. `address` is where they reach the HTTP gateway of this process; empty for none. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(super) fn join(client: &DatabaseClient, address: &str) -> Result<Arc<Self>> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let process = owner::name().unwrap_or_else(|| format!("{} {:?}", std::process::id(), Instant::now()));
        let (name, address, began) = (format!("{process} {number}"), address.to_owned(), Instant::now());
        let joining = name.clone();
        client.call(move |database| {
            let (name, address, seconds) = (joining.clone(), address.clone(), LEASE.as_secs_f64());
            let host = format!("{} of {}", std::process::id(), owner::machine());
            async move {
                let values: [(&(dyn ToSql + Sync), Type); 4] = [
                    (&name, Type::TEXT),
                    (&host, Type::TEXT),
                    (&address, Type::TEXT),
                    (&seconds, Type::FLOAT8),
                ];
                Ok(database.execute_typed(JOIN, &values).await?)
            }
        })?;
        let (grant, unreleased) = (TenureGrant::new(began + LEASE), Mutex::default());
        let renewed = Arc::new(RenewedRow { name, grant, unreleased });
        client.spawn(keep(client.renewals(), Arc::downgrade(&renewed), client.meters.clone()));
        let (held, takes) = Default::default();
        Ok(Arc::new(Self { client: client.clone(), held, takes, renewed }))
    }

    /// Returns the name of its row.
    pub(super) fn name(&self) -> &str {
        &self.renewed.name
    }

    /// Returns the right of this process to act for the bots whose leases it has.
    pub(super) fn tenure(&self) -> Tenure {
        self.renewed.grant.tenure()
    }

    /// Tells the others if this process takes bots. One that runs a single bot, or works on the whole store, does not; nor does
    /// one that is about to end. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(super) fn set_takes(&self, takes: bool) -> Result<()> {
        if self.takes.load(Ordering::Acquire) == takes {
            return Ok(());
        }
        let name = self.name().to_owned();
        self.client.within(SHORT_PATIENCE).call(move |database| {
            let name = name.clone();
            async move {
                let sql = "UPDATE figaro.processes SET takes = $2 WHERE name = $1";
                let values: [(&(dyn ToSql + Sync), Type); 2] = [(&name, Type::TEXT), (&takes, Type::BOOL)];
                database.execute_typed(sql, &values).await?;
                Ok(())
            }
        })?;
        self.takes.store(takes, Ordering::Release);
        Ok(())
    }

    /// Counts a lease that ended, given back or lost.
    pub(super) fn left_lease(&self) {
        self.client.meters.left_lease();
    }

    /// Gives a lease back, so that others need not wait for its end. Blocking.
    pub(super) fn release(&self, lease: LeaseId) {
        self.give_back(lease.clone());
        self.held.lock().remove(&lease.bot);
    }

    fn give_back(&self, lease: LeaseId) {
        if !self.tenure().holds() {
            return;
        }
        let (name, given) = (self.name().to_owned(), lease.clone());
        let done = self.client.within(SHORT_PATIENCE).call(move |database| {
            let (name, lease) = (name.clone(), given.clone());
            async move {
                release(&database, &name, &lease).await?;
                Ok(())
            }
        });
        if let Err(error) = done {
            tracing::warn!(%error, "the lease of a bot could not be given back yet");
            self.renewed.unreleased.lock().push(lease);
        }
    }
}

/// Renews a row until its membership ends or is lost.
async fn keep(pool: Pool, row: Weak<RenewedRow>, meters: StoreMeters) {
    loop {
        tokio::time::sleep(RENEW).await;
        let Some(row) = row.upgrade() else { return };
        let asked = Instant::now();
        match tokio::time::timeout(RENEWAL_BOUND, row.renew(&pool)).await {
            Ok(Ok(true)) => row.grant.renew(asked + LEASE),
            Ok(Ok(false)) => row.grant.end(),
            Ok(Err(fault)) => {
                meters.renewed_late();
                tracing::warn!(?fault, "the database could not be told yet that this process lives");
            }
            Err(_late) => {
                meters.renewed_late();
                tracing::warn!("the database does not answer");
            }
        }
        if !row.grant.tenure().holds() {
            tracing::error!("this process was not heard in time: others may have taken its bots");
            return;
        }
    }
}

impl RenewedRow {
    /// Renews the row; `false` if it is gone.
    async fn renew(&self, pool: &Pool) -> Result<bool, DatabaseFault> {
        let (name, seconds, left) = (&self.name, LEASE.as_secs_f64(), self.unreleased.lock().clone());
        let count = left.len();
        let renewed = DatabaseClient::once(pool, |database| {
            let left = left.clone();
            async move {
                let values: [(&(dyn ToSql + Sync), Type); 2] = [(name, Type::TEXT), (&seconds, Type::FLOAT8)];
                let renewed = database.execute_typed(RENEWAL, &values).await? == 1;
                for lease in &left {
                    release(&database, name, lease).await?;
                }
                Ok(renewed)
            }
        })
        .await?;
        self.unreleased.lock().drain(..count);
        Ok(renewed)
    }
}

async fn release(
    database: &deadpool_postgres::Object,
    name: &str,
    lease: &LeaseId,
) -> Result<u64, DatabaseFault> {
    let LeaseId { bot, epoch } = lease;
    let values: [(&(dyn ToSql + Sync), Type); 3] =
        [(bot, Type::BYTEA), (epoch, Type::INT8), (&name, Type::TEXT)];
    Ok(database.execute_typed(RELEASE, &values).await?)
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.renewed.grant.end();
        let name = self.name().to_owned();
        let left = self.client.within(SHORT_PATIENCE).call(move |database| {
            let name = name.clone();
            async move {
                let sql = "DELETE FROM figaro.processes WHERE name = $1";
                Ok(database.execute_typed(sql, &[(&name, Type::TEXT)]).await?)
            }
        });
        if let Err(error) = left {
            tracing::warn!(%error, "the database could not be told that this process ends");
        }
    }
}
