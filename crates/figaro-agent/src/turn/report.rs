//! Failures of the store during a turn: logged once, and counted for `/status`.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::error::TurnError;
use figaro_base::clock::Clock;
use figaro_base::telemetry::vitals::{LastCall, Vitals};
use figaro_domain::model::ModelName;
use figaro_domain::task::Reason;
use figaro_store::StoreError;

/// Logs failures and counts them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reporter {
    /// Counters of failures and answers, shown by `/status`.
    pub vitals: Arc<Vitals>,
    /// Source of the time at which failures are recorded.
    pub clock: Clock,
}

impl Reporter {
    /// Logs a failure of the store with its consequence for the turn, and counts it.
    pub(super) fn report(&self, error: &StoreError, what: &str) {
        tracing::error!(%error, label = error.label(), "{what}");
        self.vitals.failed(self.now(), error.label());
    }

    /// Reports that required data could not be loaded. Returns the error that ends the turn.
    pub(super) fn lost(&self, error: &StoreError) -> TurnError {
        self.report(error, "a turn could not load what it needs");
        TurnError::Internal
    }

    /// Returns the loaded value. Reports a failure and returns the default, for data that a turn can do without.
    pub(super) fn or_without<T: Default>(&self, loaded: Result<T, StoreError>, what: &str) -> T {
        loaded.unwrap_or_else(|error| {
            self.report(&error, &format!("a turn goes on without the {what} of its chat"));
            T::default()
        })
    }

    /// Counts an answer to a call of `asked`, by it or by its fallback.
    pub(super) fn answered(&self, asked: &ModelName, by: &ModelName) {
        self.vitals.called(asked.to_string(), LastCall::Answered(by.to_string()));
    }

    /// Counts a call of `asked` that failed. Errors that concern one question only are left out.
    pub(super) fn failed(&self, asked: &ModelName, error: &TurnError) {
        let call = match error.reason() {
            Reason::Busy => LastCall::Unreachable(self.now()),
            Reason::Model => LastCall::Unusable(self.now()),
            _ => return,
        };
        self.vitals.called(asked.to_string(), call);
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}
