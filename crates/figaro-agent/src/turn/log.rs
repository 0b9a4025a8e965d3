//! Logs of the steps of runs: a turn records them in its session, a child in its own record.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use figaro_base::ids::RunId;
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, Step};
use figaro_domain::usage::Usage;
use figaro_store::{ConversationStore, StoreError};

/// Maximum number of stored messages that are read for the history. The token budget limits it further.
pub const HISTORY_MESSAGES: usize = 400;

/// Records the steps of one run, and reads the recorded ones.
#[async_trait]
pub(in crate::turn) trait StepLog: Debug + Send + Sync {
    /// Returns the id under which the calls of the run are recorded.
    fn run(&self) -> RunId;
    /// Records a step in one durable write, with the usage and cost of the run so far.
    async fn record(&self, step: Step, usage: Usage, nano_usd: Option<u64>) -> Result<(), StoreError>;
    /// Records how a call ended and its result, in one durable write. Returns the key for later lookups of the result;
    /// `None` if it cannot be looked up.
    async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<Option<EntryKey>, StoreError>;
    /// Returns the recorded calls in the order they were started.
    fn calls(&self) -> Result<Vec<ToolCall>, StoreError>;
    /// Returns the messages that the run has stored so far, oldest first.
    fn messages(&self) -> Result<Vec<Arc<Message>>, StoreError>;
}

#[derive(Debug)]
pub(in crate::turn) struct TurnLog {
    pub(in crate::turn) store: ConversationStore,
    pub(in crate::turn) turn: ActiveTurn,
}

#[async_trait]
impl StepLog for TurnLog {
    fn run(&self) -> RunId {
        self.turn.id
    }

    async fn record(&self, step: Step, _usage: Usage, _nano_usd: Option<u64>) -> Result<(), StoreError> {
        self.store.record_step(&self.turn, step).await
    }

    async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<Option<EntryKey>, StoreError> {
        self.store.tool_ended(call, result).await.map(Some)
    }

    fn calls(&self) -> Result<Vec<ToolCall>, StoreError> {
        self.store.tool_calls(self.turn.id)
    }

    fn messages(&self) -> Result<Vec<Arc<Message>>, StoreError> {
        let stored = self.store.recent(self.turn.session, HISTORY_MESSAGES)?;
        Ok(stored.into_iter().filter(|message| message.index >= self.turn.first_index).collect())
    }
}
