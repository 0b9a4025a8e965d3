//! Records of the requests to the offline model, and of their violations.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::super::fault::VectorFault;
use super::super::request::{ModelRequest, VectorRequest};
use super::super::{extraction, naming, summaries};

/// Maximum number of stored requests. When it is reached, the older half is dropped.
const MAX_REQUESTS: usize = 2_000;

#[derive(Debug, Default)]
pub(in super::super) struct RequestLog {
    seen: Mutex<SeenRequests>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct SeenRequests {
    requests: Vec<ModelRequest>,
    /// Requests for names of conversations, kept apart from the others.
    names: Vec<ModelRequest>,
    /// Requests for summaries, kept apart from the others.
    summaries: Vec<ModelRequest>,
    /// Requests for facts about people, kept apart from the others.
    extractions: Vec<ModelRequest>,
    violations: Vec<String>,
    vectors: Vec<VectorRequest>,
    planned: VecDeque<VectorFault>,
}

impl RequestLog {
    /// Stores a request, and its violation if it has one.
    pub(in super::super) fn add(&self, request: &ModelRequest, violation: Option<String>) {
        self.with(|seen| {
            if seen.requests.len() >= MAX_REQUESTS {
                seen.requests.drain(..MAX_REQUESTS / 2);
            }
            let list = match request {
                request if naming::is_asked(request) => &mut seen.names,
                request if summaries::is_asked(request) => &mut seen.summaries,
                request if extraction::is_asked(request) => &mut seen.extractions,
                _ => &mut seen.requests,
            };
            list.push(request.clone());
            seen.violations.extend(violation);
        });
        self.changed.send_replace(());
    }

    /// Stores a violation in a request that is not for an answer.
    pub(in super::super) fn add_violation(&self, violation: &str) {
        self.with(|seen| seen.violations.push(violation.to_owned()));
    }

    /// Stores a request for vectors. Returns the fault planned for it, if any.
    pub(in super::super) fn add_vectors(&self, request: &VectorRequest) -> Option<VectorFault> {
        self.with(|seen| {
            if seen.vectors.len() >= MAX_REQUESTS {
                seen.vectors.drain(..MAX_REQUESTS / 2);
            }
            seen.vectors.push(request.clone());
            seen.planned.pop_front()
        })
    }

    pub(in super::super) fn vector_requests(&self) -> Vec<VectorRequest> {
        self.with(|seen| seen.vectors.clone())
    }

    /// Plans faults for the next requests for vectors, one per request.
    pub(in super::super) fn plan(&self, faults: impl IntoIterator<Item = VectorFault>) {
        self.with(|seen| seen.planned.extend(faults));
    }

    /// Calls `look` with the requests so far, oldest first.
    pub(in super::super) fn look<T>(&self, look: impl FnOnce(&[ModelRequest]) -> T) -> T {
        self.with(|seen| look(&seen.requests))
    }

    /// Returns the requests for names of conversations so far, oldest first.
    pub(in super::super) fn names(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.names.clone())
    }

    /// Returns the requests for summaries so far, oldest first.
    pub(in super::super) fn summaries(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.summaries.clone())
    }

    /// Returns the requests for facts about people so far, oldest first.
    pub(in super::super) fn extractions(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.extractions.clone())
    }

    pub(in super::super) fn violations(&self) -> Vec<String> {
        self.with(|seen| seen.violations.clone())
    }

    /// Returns a receiver that is notified of every new request.
    pub(in super::super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn with<T>(&self, work: impl FnOnce(&mut SeenRequests) -> T) -> T {
        work(&mut self.seen.lock())
    }
}
