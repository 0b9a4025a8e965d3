//! Last signs of other processes, as this process has seen them. Their rows are gone by the time that it takes their bots.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time for which leases hold without renewal.
pub(in crate::engine) const LEASE: Duration = Duration::from_secs(4);
/// Time after which a process is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// Last signs of processes, by the names of their rows. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessWitness(Arc<Mutex<HashMap<String, Instant>>>);

impl ProcessWitness {
    /// Notes that the row of a process holds for so many more seconds; negative if it has run out.
    pub(super) fn holds_for(&self, process: &str, seconds: f64) {
        let Ok(silent) = Duration::try_from_secs_f64(LEASE.as_secs_f64() - seconds) else { return };
        let Some(heard) = Instant::now().checked_sub(silent) else { return };
        let mut known = self.0.lock();
        if !known.contains_key(process) {
            known.retain(|_, heard| heard.elapsed() < FORGOTTEN);
        }
        known.insert(process.to_owned(), heard);
    }

    /// Returns the time since the last sign of a process; `None` if it was never seen.
    pub(super) fn silent_for(&self, process: &str) -> Option<Duration> {
        self.0.lock().get(process).map(Instant::elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_was_heard_when_its_row_was_renewed() {
        let witness = ProcessWitness::default();
        assert_eq!(witness.silent_for("a"), None);
        witness.holds_for("a", LEASE.as_secs_f64());
        assert!(witness.silent_for("a").unwrap() < Duration::from_secs(1));
        witness.holds_for("a", -2.0);
        assert!(witness.silent_for("a").unwrap() >= LEASE + Duration::from_secs(2));
    }
}
