//! Queue of updates. A poll reads from it, and its offset removes acknowledged ones. Only one poller at a time.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::error::BotApiError;

/// Kinds of updates that are sent only if `allowed_updates` names them.
const ONLY_ON_REQUEST: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

#[derive(Debug)]
pub(super) struct PendingUpdates {
    /// Ids and texts of the updates. A test may queue invalid JSON.
    pub(super) queue: VecDeque<(i64, String)>,
    pub(super) next_id: i64,
    allowed: Vec<String>,
    poller: u64,
}

impl Default for PendingUpdates {
    fn default() -> Self {
        Self { queue: VecDeque::new(), next_id: 1001, allowed: Vec::new(), poller: 0 }
    }
}

impl PendingUpdates {
    /// Queues an update of a kind; `None` if the bot did not ask for this kind.
    pub(super) fn push(&mut self, kind: &str, value: &Value) -> Option<i64> {
        let wanted = match self.allowed.is_empty() {
            true => !ONLY_ON_REQUEST.contains(&kind),
            false => self.allowed.iter().any(|a| a == kind),
        };
        wanted.then(|| self.push_raw(json!({kind: value})))
    }

    /// Queues any object as an update. Adds an `update_id` if it has none, and returns the id.
    pub(super) fn push_raw(&mut self, mut update: Value) -> i64 {
        let id = update["update_id"].as_i64().unwrap_or(self.next_id);
        self.next_id = self.next_id.max(id + 1);
        update["update_id"] = json!(id);
        self.queue.push_back((id, update.to_string()));
        id
    }

    /// Queues a raw text in place of an update, with the next id. The text must contain the id itself.
    #[cfg(feature = "testing")]
    pub(super) fn push_text(&mut self, text: impl FnOnce(i64) -> String) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.queue.push_back((id, text(id)));
        id
    }

    /// Returns the number of unacknowledged updates.
    #[cfg(feature = "testing")]
    pub(super) fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Starts a poll. Ends earlier polls with a conflict, and removes the updates that the offset acknowledges. Returns the
    /// number of the poll.
    pub(super) fn begin(&mut self, args: &Map<String, Value>) -> u64 {
        if let Some(Value::Array(kinds)) = args.get("allowed_updates") {
            self.allowed = kinds.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        }
        let offset = args.get("offset").and_then(Value::as_i64).unwrap_or(0);
        if offset < 0 {
            let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
            let skip = self.queue.len().saturating_sub(keep);
            self.queue.drain(..skip);
        } else {
            self.queue.retain(|(id, _)| *id >= offset);
        }
        self.poller += 1;
        self.poller
    }

    /// Returns the first `limit` updates for a poll. Errors if a newer poll began.
    pub(super) fn serve(&self, poll: u64, limit: usize) -> Result<Vec<String>, BotApiError> {
        if poll != self.poller {
            return Err(BotApiError::conflict());
        }
        Ok(self.queue.iter().take(limit).map(|(_, update)| update.clone()).collect())
    }
}
