//! Connections to the database, on a thread of their own, and calls to it that block the caller.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolBuilder, RecyclingMethod,
    Runtime as PoolRuntime,
};
use parking_lot::Mutex;
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::error::EngineError;
use super::super::port::Result;
use super::cache::CacheRoom;
use super::fault::{DatabaseFault, of_pool};
use super::witness::ProcessWitness;
use crate::meters::StoreMeters;
use figaro_config::DatabaseUrl;

/// Maximum number of connections of a process.
const CONNECTIONS: usize = 8;
/// Maximum time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Maximum time of one call: below the time of a lease, as the time of all tries is.
const CALL: Duration = PATIENCE;
/// Begins the transaction of a client that sees one moment.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Maximum time of a call that works through the whole store.
const SLOW_CALL: Duration = Duration::from_secs(24 * 60 * 60);
/// Time for which a call that did not reach the database is made again. Below the time of a lease, so that a process that is
/// cut off stops in time.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// The same for a look at a store that no bot runs with.
pub(super) const SHORT_PATIENCE: Duration = Duration::from_secs(2);
/// First pause between two tries; it doubles up to the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Connections to a database. Cheap to clone.
#[derive(Clone)]
pub(super) struct DatabaseClient {
    pool: Pool,
    /// Connection for renewals alone.
    renewals: Pool,
    runtime: Arc<DatabaseRuntime>,
    patience: Duration,
    bound: Duration,
    /// Held while the files of the database are cleaned, which bots of a process do one after another.
    pub(super) vacuum: Arc<Mutex<()>>,
    pub(super) witness: ProcessWitness,
    pub(super) caches: CacheRoom,
    pub(super) meters: StoreMeters,
}

/// Runtime that ends without waiting for its tasks: it may be dropped within another one.
struct DatabaseRuntime(Option<Runtime>);

impl Drop for DatabaseRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl DatabaseClient {
    /// Prepares connections; the first call makes one. Calls that do not reach the database are made again for `patience`.
    ///
    /// # Errors
    /// If the URL or the certificates of the system cannot be read, or no thread can be started.
    pub(super) fn new(url: &DatabaseUrl, patience: Duration) -> Result<Self> {
        // Renewals have a connection of their own: work on the store must not keep them waiting.
        let of_size = |size| built(pool_of(url)?.max_size(size));
        let (pool, renewals) = (of_size(CONNECTIONS)?, of_size(1)?);
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        let runtime = runtime.map_err(|error| EngineError::failed(&error))?;
        let runtime = Arc::new(DatabaseRuntime(Some(runtime)));
        let (vacuum, witness, caches, meters) = Default::default();
        Ok(Self { pool, renewals, runtime, patience, bound: CALL, vacuum, witness, caches, meters })
    }

    /// Prepares one connection whose calls all see the database as the first of them does. If it breaks, further calls fail.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub(super) fn of_moment(url: &DatabaseUrl) -> Result<Self> {
        let began = AtomicBool::new(false);
        let begin = Hook::async_fn(move |client: &mut ClientWrapper, _| {
            let is_second = began.swap(true, Ordering::Relaxed);
            Box::pin(async move {
                if is_second {
                    return Err(HookError::message("the connection broke while the database was being read"));
                }
                client.batch_execute(SNAPSHOT).await.map_err(HookError::Backend)
            })
        });
        let pool = built(pool_of(url)?.max_size(1).post_create(begin))?;
        Ok(Self { pool, bound: SLOW_CALL, ..Self::new(url, SHORT_PATIENCE)? })
    }

    /// Returns a client that counts in these metrics.
    pub(super) fn counted(self, meters: &StoreMeters) -> Self {
        Self { meters: meters.clone(), ..self }
    }

    /// Returns a client for calls that take long.
    pub(super) fn slow(&self) -> Self {
        Self { bound: SLOW_CALL, ..self.clone() }
    }

    /// Returns a client whose calls are made again for this time only.
    pub(super) fn within(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    /// Starts a task beside the calls. It ends with the last clone of the client.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime.0 {
            runtime.spawn(task);
        }
    }

    /// Makes a call, and again for a while if the database cannot be reached. Blocking. A call that may have been made
    /// before its connection broke is made again, too: `call` must allow for that.
    pub(super) fn call<T, F>(&self, call: impl Fn(Object) -> F + Send + Sync + 'static) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DatabaseFault>> + Send + 'static,
    {
        let (done, outcome) = mpsc::sync_channel(1);
        let (pool, patience, bound) = (self.pool.clone(), self.patience, self.bound);
        self.spawn(async move {
            // Nobody waits any more if the caller has panicked.
            let _left = done.send(patiently(&pool, patience, bound, &call).await);
        });
        outcome.recv().map_err(|_ended| EngineError::failed(&"its connections are closed"))?
    }

    /// Makes a call once, without blocking, from a task of [`Self::spawn`].
    pub(super) async fn once<T, F>(pool: &Pool, call: impl Fn(Object) -> F) -> Result<T, DatabaseFault>
    where
        F: Future<Output = Result<T, DatabaseFault>>,
    {
        within(CALL, pool, &call).await
    }

    /// Returns the connection for renewals.
    pub(super) fn renewals(&self) -> Pool {
        self.renewals.clone()
    }
}

/// Begins a pool of connections.
fn pool_of(url: &DatabaseUrl) -> Result<PoolBuilder> {
    let failed = |what: &dyn std::fmt::Display| EngineError::failed(&what);
    let mut config: Config =
        url.exposed().parse().map_err(|error| failed(&format!("STORE_URL cannot be read: {error}")))?;
    config.application_name("figaro").connect_timeout(CONNECT).tcp_user_timeout(CALL);
    let rules = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match is_encrypted(&config, url.states("sslmode")) {
        false => Manager::from_config(config, NoTls, rules),
        true => {
            config.ssl_mode(SslMode::Require);
            let tls = ClientConfig::with_platform_verifier().map_err(|error| failed(&error))?;
            Manager::from_config(config, MakeRustlsConnect::new(tls), rules)
        }
    };
    let pool = Pool::builder(manager).runtime(PoolRuntime::Tokio1);
    Ok(pool.wait_timeout(Some(CALL)).create_timeout(Some(CONNECT)))
}

fn built(pool: PoolBuilder) -> Result<Pool> {
    pool.build().map_err(|error| EngineError::failed(&error))
}

async fn within<T, F>(bound: Duration, pool: &Pool, call: &impl Fn(Object) -> F) -> Result<T, DatabaseFault>
where
    F: Future<Output = Result<T, DatabaseFault>>,
{
    let connected = pool.get().await.map_err(|error| of_pool(&error))?;
    tokio::time::timeout(bound, call(connected)).await.unwrap_or_else(|_late| {
        Err(DatabaseFault::Unreached(format!("it gave no answer within {} s", bound.as_secs())))
    })
}

/// Makes a call, each try within `bound`, and again within `patience`.
async fn patiently<T, F>(
    pool: &Pool,
    patience: Duration,
    bound: Duration,
    call: &impl Fn(Object) -> F,
) -> Result<T>
where
    F: Future<Output = Result<T, DatabaseFault>>,
{
    let (began, mut pause) = (tokio::time::Instant::now(), PAUSE);
    loop {
        match within(bound, pool, call).await {
            Err(DatabaseFault::Unreached(why)) if began.elapsed() + pause < patience => {
                tracing::debug!(why, "the database cannot be reached; trying again");
                tokio::time::sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            done => return done.map_err(EngineError::from),
        }
    }
}

/// Returns `true` if connections are encrypted: to other machines always, unless the URL disables it, and on this machine if
/// the URL asks for it. Certificates are verified in either case.
fn is_encrypted(config: &Config, is_stated: bool) -> bool {
    if is_stated {
        return config.get_ssl_mode() != SslMode::Disable;
    }
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        Host::Unix(_) => true,
    };
    !config.get_hosts().iter().all(is_here)
}

impl std::fmt::Debug for DatabaseClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseClient").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}
