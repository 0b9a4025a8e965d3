//! Planned faults of the next calls of a method. Carried out by `http`.

/// Failure of a call, without or with its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedFailure {
    /// Error response with this status, without effect.
    Status {
        /// `error_code`, also used as HTTP status.
        status: u16,
        /// `description` of the error, sent unchanged.
        description: String,
    },
    /// Status 429 with this `retry_after`, in seconds, without effect.
    RetryAfter(u64),
    /// Status 200 with this body, without effect.
    Answer(String),
    /// No answer at all, without effect.
    Hang,
    /// Connection broken before an answer, without effect.
    DropConnection,
    /// Connection broken before the answer, after the call took effect.
    AppliedButDropped,
    /// No answer at all, after the call took effect.
    AppliedButHangs,
}

#[derive(Debug, Default)]
pub(super) struct PlannedFaults(Vec<PlannedFault>);

#[derive(Debug)]
struct PlannedFault {
    method: String,
    failure: PlannedFailure,
    times: usize,
}

impl PlannedFaults {
    /// Plans a failure for the next `times` calls of a method; `*` means any method but `getUpdates`.
    pub(super) fn plan(&mut self, method: &str, failure: PlannedFailure, times: usize) {
        self.0.push(PlannedFault { method: method.to_owned(), failure, times });
    }

    /// Returns the failure planned for this call, and counts it as used.
    pub(super) fn take(&mut self, method: &str) -> Option<PlannedFailure> {
        let hit = |p: &PlannedFault| {
            p.method.eq_ignore_ascii_case(method) || (p.method == "*" && method != "getUpdates")
        };
        let at = self.0.iter().position(|p| p.times > 0 && hit(p))?;
        let planned = self.0.get_mut(at)?;
        planned.times -= 1;
        let failure = planned.failure.clone();
        self.0.retain(|p| p.times > 0);
        Some(failure)
    }
}
