//! What the state holds for tests: the calls so far, and what is planned for those to come. `testing` fills it.

mod fault;
mod limits;

use tokio::time::Instant;

pub use self::fault::PlannedFailure;
use self::fault::PlannedFaults;
use self::limits::SendLimits;
use super::call::ApiCall;

/// So many calls are remembered at most; beyond, the older half is forgotten.
const MAX_CALLS: usize = 20_000;

/// What tests see of the state, and what they planned.
#[derive(Debug, Default)]
pub(super) struct Testing {
    calls: Vec<ApiCall>,
    faults: PlannedFaults,
    limits: Option<SendLimits>,
    /// The bot's token is refused, as after it was revoked.
    pub(super) is_revoked: bool,
}

impl Testing {
    /// The calls answered so far, in the order of their ends.
    pub(super) fn calls(&self) -> &[ApiCall] {
        &self.calls
    }

    /// Remembers an answered call.
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

    /// The failure planned for this call of a method, which counts as used up.
    pub(super) fn take_failure(&mut self, method: &str) -> Option<PlannedFailure> {
        self.faults.take(method)
    }

    /// Turns the flood limits on, with empty counters, or off.
    pub(super) fn enforce_limits(&mut self, on: bool) {
        self.limits = on.then(SendLimits::default);
    }

    /// Counts a message, to a group if one is named, against the flood limits. The error is the seconds to wait.
    pub(super) fn count_message(&mut self, group: Option<i64>) -> Result<(), u64> {
        self.limits.as_mut().map_or(Ok(()), |limits| limits.count(group, Instant::now()))
    }
}
