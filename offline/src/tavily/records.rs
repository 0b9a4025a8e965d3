//! Planned answers of the offline Tavily, and the queries it received.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::answer::TavilyAnswer;

/// Queue of answers, and the searches so far.
#[derive(Debug, Default)]
pub(super) struct SearchLog(Mutex<SeenSearches>);

#[derive(Debug, Default)]
struct SeenSearches {
    answers: VecDeque<TavilyAnswer>,
    otherwise: Option<fn(&str) -> TavilyAnswer>,
    queries: Vec<String>,
    violations: Vec<String>,
}

impl SearchLog {
    /// Stores a query and returns the answer planned for it.
    pub(super) fn next(&self, query: &str) -> Option<TavilyAnswer> {
        self.with(|seen| {
            seen.queries.push(query.to_owned());
            seen.answers.pop_front().or_else(|| seen.otherwise.map(|answer| answer(query)))
        })
    }

    pub(super) fn plan(&self, answer: TavilyAnswer) {
        self.with(|seen| seen.answers.push_back(answer));
    }

    /// Sets the answer to queries without a planned one.
    pub(super) fn plan_otherwise(&self, answer: fn(&str) -> TavilyAnswer) {
        self.with(|seen| seen.otherwise = Some(answer));
    }

    pub(super) fn add_violation(&self, violation: &str) {
        self.with(|seen| seen.violations.push(violation.to_owned()));
    }

    pub(super) fn queries(&self) -> Vec<String> {
        self.with(|seen| seen.queries.clone())
    }

    /// Returns the number of unused answers in the queue.
    pub(super) fn left(&self) -> usize {
        self.with(|seen| seen.answers.len())
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.with(|seen| seen.violations.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut SeenSearches) -> T) -> T {
        work(&mut self.0.lock())
    }
}
