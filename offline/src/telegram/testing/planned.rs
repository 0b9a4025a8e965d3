//! What the state holds for tests: the calls so far, and what is planned for those to come.

use tokio::time::Instant;

use super::super::call::Call;
use super::fault::{Failure, Faults};
use super::limits::Limits;

/// Older calls are forgotten beyond this.
const MAX_CALLS: usize = 20_000;

#[derive(Debug, Default)]
pub(in super::super) struct Testing {
    calls: Vec<Call>,
    pub(super) faults: Faults,
    pub(super) limits: Option<Limits>,
    /// The token is refused.
    pub(in super::super) is_revoked: bool,
}

impl Testing {
    /// The calls answered so far, in the order of their ends.
    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(in super::super) fn remember(&mut self, call: Call) {
        if self.calls.len() >= MAX_CALLS {
            self.calls.drain(..MAX_CALLS / 2);
        }
        self.calls.push(call);
    }

    /// The failure planned for this call of a method, which counts as used up.
    pub(in super::super) fn take_failure(&mut self, method: &str) -> Option<Failure> {
        self.faults.take(method)
    }

    /// Counts a message, to a group if one is named, against the flood limits. The error is the seconds to wait.
    pub(in super::super) fn count_message(&mut self, group: Option<i64>) -> Result<(), u64> {
        self.limits.as_mut().map_or(Ok(()), |limits| limits.count(group, Instant::now()))
    }
}
