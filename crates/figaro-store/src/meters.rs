//! Metrics of the stores of a process.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Upper bounds of the times that bots were away, in seconds. A lease holds for 4 s.
const TIMES_AWAY: [f64; 9] = [0.5, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0, 30.0];

/// Metrics of the stores of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct StoreMeters {
    commits: Histogram,
    conflicts: Counter,
    leases: Gauge,
    taken: Counter,
    takeovers: Histogram,
    late_renewals: Counter,
}

impl Default for StoreMeters {
    fn default() -> Self {
        Self {
            // From half a millisecond to 8 s.
            commits: Histogram::new(exponential_buckets(0.000_5, 4.0, 8)),
            conflicts: Counter::default(),
            leases: Gauge::default(),
            taken: Counter::default(),
            takeovers: Histogram::new(TIMES_AWAY),
            late_renewals: Counter::default(),
        }
    }
}

impl StoreMeters {
    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "store_commit_seconds",
            "Time until changes were durable, in seconds",
            self.commits.clone(),
        );
        let conflicts = "Commits that were refused because the process had lost the lease of the bot";
        registry.register("store_conflicts", conflicts, self.conflicts.clone());
        registry.register("leases", "Bots that this process has in the database", self.leases.clone());
        registry.register("leases_taken", "Bots that this process has taken", self.taken.clone());
        let takeovers =
            "Time from the last sign of a process that failed until this one took its bot, in seconds";
        registry.register("takeover_seconds", takeovers, self.takeovers.clone());
        let late = "Times that the database could not be told that this process lives";
        registry.register("lease_renewals_failed", late, self.late_renewals.clone());
    }

    pub(crate) fn committed(&self, time: Duration) {
        self.commits.observe(time.as_secs_f64());
    }

    /// Counts a commit that was refused because the lease is lost.
    pub(crate) fn refused(&self) {
        self.conflicts.inc();
    }

    /// Counts a lease among those of this process, until [`Self::left_lease`].
    pub(crate) fn holds_lease(&self) {
        self.leases.inc();
    }

    /// Counts a bot that was taken; `away` is for how long its last owner was not heard, if that failed.
    pub(crate) fn took_bot(&self, away: Option<Duration>) {
        self.taken.inc();
        if let Some(away) = away {
            self.takeovers.observe(away.as_secs_f64());
        }
    }

    pub(crate) fn left_lease(&self) {
        self.leases.dec();
    }

    pub(crate) fn renewed_late(&self) {
        self.late_renewals.inc();
    }
}
