//! A brain for tests: replies in the order they were written down, or chosen by what the user said.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::reply::{Brain, ModelReply};
use super::super::request::ModelRequest;

/// Replies to give. Clones share them, so a test can add more while the model runs.
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
    /// A script without replies: every request fails with 500 and says so.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives this reply once, after those written down before.
    #[must_use]
    pub fn then(self, reply: ModelReply) -> Self {
        self.push(reply);
        self
    }

    /// Gives this reply once, to a request whose last user text contains the words; goes before the queue.
    #[must_use]
    pub fn when(self, words: &str, reply: ModelReply) -> Self {
        self.with(|lines| lines.matched.push((words.to_owned(), reply)));
        self
    }

    /// Gives this reply whenever there is no other.
    #[must_use]
    pub fn otherwise(self, reply: ModelReply) -> Self {
        self.with(|lines| lines.fallback = Some(reply));
        self
    }

    /// Gives this reply once, to a request for the name of a conversation, after those written down before. Without one it is
    /// named by rule.
    pub fn name_next(&self, reply: ModelReply) {
        self.with(|lines| lines.names.push_back(reply));
    }

    /// Gives this reply once, to a request for a summary, after those written down before. Without one it is made by rule.
    pub fn summarise_next(&self, reply: ModelReply) {
        self.with(|lines| lines.summaries.push_back(reply));
    }

    /// Gives this reply once, to a request for facts about a person that contains the words. Without one they are found by rule.
    pub fn extract_when(&self, words: &str, reply: ModelReply) {
        self.with(|lines| lines.facts.push((words.to_owned(), reply)));
    }

    /// Adds a reply to the end of the queue.
    pub fn push(&self, reply: ModelReply) {
        self.with(|lines| lines.queue.push_back(reply));
    }

    /// Replies written down and not given yet, the fallback not counted.
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
