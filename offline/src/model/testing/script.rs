//! Brain for tests: replies in a fixed order, or by words of the user.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::reply::{Brain, ModelReply};
use super::super::request::ModelRequest;

/// Scripted replies. Clones share them, so a test can add more while the model runs.
#[derive(Debug, Clone, Default)]
pub struct ReplyScript(Arc<Mutex<ScriptState>>);

#[derive(Debug, Default)]
struct ScriptState {
    matched: Vec<(String, ModelReply)>,
    queue: VecDeque<ModelReply>,
    fallback: Option<ModelReply>,
    names: VecDeque<ModelReply>,
    summaries: VecDeque<ModelReply>,
    facts: Vec<(String, ModelReply)>,
}

impl ReplyScript {
    /// Creates a script without replies. Every request fails with status 500.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reply to the end of the queue. It is used once.
    #[must_use]
    pub fn then(self, reply: ModelReply) -> Self {
        self.push(reply);
        self
    }

    /// Adds a one-time reply to a request whose last user text contains `words`. It takes precedence over the queue.
    #[must_use]
    pub fn when(self, words: &str, reply: ModelReply) -> Self {
        self.with(|lines| lines.matched.push((words.to_owned(), reply)));
        self
    }

    /// Sets the reply for requests without any other.
    #[must_use]
    pub fn otherwise(self, reply: ModelReply) -> Self {
        self.with(|lines| lines.fallback = Some(reply));
        self
    }

    /// Queues a one-time reply to a request for the name of a conversation. Without one, the name is made by rule.
    pub fn name_next(&self, reply: ModelReply) {
        self.with(|lines| lines.names.push_back(reply));
    }

    /// Queues a one-time reply to a request for a summary. Without one, the summary is made by rule.
    pub fn summarise_next(&self, reply: ModelReply) {
        self.with(|lines| lines.summaries.push_back(reply));
    }

    /// Adds a one-time reply to a request for facts that contains `words`. Without one, the facts are found by rule.
    pub fn extract_when(&self, words: &str, reply: ModelReply) {
        self.with(|lines| lines.facts.push((words.to_owned(), reply)));
    }

    /// Adds a reply to the end of the queue while the model runs. It is used once.
    pub fn push(&self, reply: ModelReply) {
        self.with(|lines| lines.queue.push_back(reply));
    }

    /// Returns the number of unused replies, without the fallback.
    #[must_use]
    pub fn left(&self) -> usize {
        self.with(|lines| lines.queue.len() + lines.matched.len())
    }

    fn with<T>(&self, work: impl FnOnce(&mut ScriptState) -> T) -> T {
        work(&mut self.0.lock())
    }
}

impl Brain for ReplyScript {
    fn extract(&self, request: &ModelRequest) -> Option<ModelReply> {
        let text = request.user_text();
        self.with(|lines| {
            let at = lines.facts.iter().position(|(words, _)| text.contains(words.as_str()))?;
            Some(lines.facts.remove(at).1)
        })
    }

    fn name(&self, _request: &ModelRequest) -> Option<ModelReply> {
        self.with(|lines| lines.names.pop_front())
    }

    fn summarise(&self, _request: &ModelRequest) -> Option<ModelReply> {
        self.with(|lines| lines.summaries.pop_front())
    }

    fn answer(&self, request: &ModelRequest) -> ModelReply {
        let said = request.user_text();
        self.with(|lines| {
            if let Some(at) = lines.matched.iter().position(|(words, _)| said.contains(words)) {
                return lines.matched.remove(at).1;
            }
            let next = lines.queue.pop_front().or_else(|| lines.fallback.clone());
            next.unwrap_or_else(|| ModelReply::status(500, "the script has no reply left for this request"))
        })
    }
}
