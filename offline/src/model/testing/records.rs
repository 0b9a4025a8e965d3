//! What the offline model was asked, and what was wrong with it.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::super::fault::VectorFault;
use super::super::request::{ModelRequest, VectorRequest};
use super::super::{extraction, naming, summaries};

/// So many requests are remembered at most; beyond, the older half is forgotten.
const MAX_REQUESTS: usize = 2_000;

/// The requests and violations so far.
#[derive(Debug, Default)]
pub(in super::super) struct RequestLog {
    seen: Mutex<SeenRequests>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct SeenRequests {
    requests: Vec<ModelRequest>,
    /// Requests for names of conversations, which tests do not count among the others.
    names: Vec<ModelRequest>,
    /// Requests for summaries, likewise.
    summaries: Vec<ModelRequest>,
    /// Requests for facts about people, likewise.
    extractions: Vec<ModelRequest>,
    violations: Vec<String>,
    vectors: Vec<VectorRequest>,
    planned: VecDeque<VectorFault>,
}

impl RequestLog {
    /// Remembers a request, and what was wrong with it if anything was.
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

    /// Remembers what was wrong with a request that asks for no answer.
    pub(in super::super) fn add_violation(&self, violation: &str) {
        self.with(|seen| seen.violations.push(violation.to_owned()));
    }

    /// Remembers a request for vectors; gives what a test wants to go wrong with it.
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

    /// Lets the next requests for vectors go wrong.
    pub(in super::super) fn plan(&self, faults: impl IntoIterator<Item = VectorFault>) {
        self.with(|seen| seen.planned.extend(faults));
    }

    /// Looks at the requests so far, oldest first.
    pub(in super::super) fn look<T>(&self, look: impl FnOnce(&[ModelRequest]) -> T) -> T {
        self.with(|seen| look(&seen.requests))
    }

    /// The requests for names of conversations so far, oldest first.
    pub(in super::super) fn names(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.names.clone())
    }

    /// The requests for summaries so far, oldest first.
    pub(in super::super) fn summaries(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.summaries.clone())
    }

    /// The requests for facts about people so far, oldest first.
    pub(in super::super) fn extractions(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.extractions.clone())
    }

    pub(in super::super) fn violations(&self) -> Vec<String> {
        self.with(|seen| seen.violations.clone())
    }

    /// A receiver that wakes with every new request.
    pub(in super::super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn with<T>(&self, work: impl FnOnce(&mut SeenRequests) -> T) -> T {
        work(&mut self.seen.lock())
    }
}
