//! State shared by the routes of the running offline model: brain, clock and records.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use super::reply::{Brain, ModelReply};
use super::request::ModelRequest;

#[cfg(feature = "testing")]
use super::testing::RequestLog;
use super::{extraction, naming, summaries};
use crate::Runtime;

/// Handle of the shared state. Clones share it.
#[derive(Clone)]
pub(super) struct SharedModel(Arc<ModelState>);

struct ModelState {
    seen: Mutex<ServedAnswers>,
    #[cfg(feature = "testing")]
    records: RequestLog,
    brain: Arc<dyn Brain>,
    runtime: Runtime,
}

#[derive(Default)]
struct ServedAnswers {
    last_answer: u64,
    retired: BTreeSet<String>,
}

impl SharedModel {
    pub(super) fn new(brain: Arc<dyn Brain>, runtime: &Runtime) -> Self {
        Self(Arc::new(ModelState {
            seen: Mutex::default(),
            #[cfg(feature = "testing")]
            records: RequestLog::default(),
            brain,
            runtime: runtime.clone(),
        }))
    }

    /// Returns the brain's answer to a valid request.
    pub(super) fn answer(&self, request: &ModelRequest) -> ModelReply {
        let brain = &self.0.brain;
        if extraction::is_asked(request) {
            return brain.extract(request).unwrap_or_else(|| extraction::reply(request));
        }
        if naming::is_asked(request) {
            return brain.name(request).unwrap_or_else(|| naming::reply(request));
        }
        if summaries::is_asked(request) {
            return brain.summarise(request).unwrap_or_else(|| summaries::reply(request));
        }
        brain.answer(request)
    }

    /// Returns the number of the next answer, from 1.
    pub(super) fn next_answer(&self) -> u64 {
        self.with(|seen| {
            seen.last_answer += 1;
            seen.last_answer
        })
    }

    /// Removes a model from all dialects.
    pub(super) fn retire(&self, model: &str) {
        self.with(|seen| seen.retired.insert(model.to_owned()));
    }

    pub(super) fn is_retired(&self, model: &str) -> bool {
        self.with(|seen| seen.retired.contains(model))
    }

    #[cfg(feature = "testing")]
    pub(super) fn records(&self) -> &RequestLog {
        &self.0.records
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.0.runtime.now()
    }

    /// Resolves when the server must stop.
    pub(super) async fn stopping(&self) {
        self.0.runtime.stopping().await;
    }

    fn with<T>(&self, work: impl FnOnce(&mut ServedAnswers) -> T) -> T {
        work(&mut self.0.seen.lock())
    }
}
