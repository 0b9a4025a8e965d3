//! Test data in the state: the calls so far, and the faults planned for the next ones. Filled by `testing`.

mod fault;
mod limits;

use tokio::time::Instant;

pub use self::fault::PlannedFailure;
use self::fault::PlannedFaults;
use self::limits::SendLimits;
use super::call::ApiCall;

/// Maximum number of stored calls. When it is reached, the older half is dropped.
const MAX_CALLS: usize = 20_000;

/// Recorded calls, planned faults and limits.
#[derive(Debug, Default)]
pub(super) struct Testing {
    calls: Vec<ApiCall>,
    faults: PlannedFaults,
    limits: Option<SendLimits>,
    /// `true` after the token was revoked; it is refused then.
    pub(super) is_revoked: bool,
}

impl Testing {
    /// Returns the calls answered so far, in the order they finished.
    pub(super) fn calls(&self) -> &[ApiCall] {
        &self.calls
    }

    pub(super) fn remember(&mut self, call: ApiCall) {
        if self.calls.len() >= MAX_CALLS {
            self.calls.drain(..MAX_CALLS / 2);
        }
        self.calls.push(call);
    }

    /// Plans a failure for the next `times` calls of a method; `*` means any method but `getUpdates`.
    pub(super) fn plan(&mut self, method: &str, failure: PlannedFailure, times: usize) {
        self.faults.plan(method, failure, times);
    }

    /// Returns the failure planned for this call of a method, and counts it as used.
    pub(super) fn take_failure(&mut self, method: &str) -> Option<PlannedFailure> {
        self.faults.take(method)
    }

    /// Enables the flood limits, with empty counters, or disables them.
    pub(super) fn enforce_limits(&mut self, on: bool) {
        self.limits = on.then(SendLimits::default);
    }

    /// Counts a message against the flood limits, also those of `group` if given. The error is the number of seconds to
    /// wait.
    pub(super) fn count_message(&mut self, group: Option<i64>) -> Result<(), u64> {
        self.limits.as_mut().map_or(Ok(()), |limits| limits.count(group, Instant::now()))
    }
}
