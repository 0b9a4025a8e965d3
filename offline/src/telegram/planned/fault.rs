//! Faults a test plans: the next calls of a method fail in a chosen way. Carried out by `http`.

/// How a call fails, and whether it has its effect all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedFailure {
    /// An error answer; nothing happens.
    Status {
        /// `error_code` and HTTP status.
        status: u16,
        /// `description`, as it is sent.
        description: String,
    },
    /// Refused with 429 and this `retry_after` in seconds.
    RetryAfter(u64),
    /// Answered with this body and status 200; nothing happens.
    Answer(String),
    /// No answer ever comes; nothing happens.
    Hang,
    /// The connection breaks; nothing happens.
    DropConnection,
    /// The call has its effect, but the connection breaks before the answer.
    AppliedButDropped,
    /// The call has its effect, but no answer ever comes.
    AppliedButHangs,
}

/// The faults still to come.
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

    /// The failure for this call, if one is planned.
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
