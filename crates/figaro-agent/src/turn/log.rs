//! Where the steps of a run are recorded: those of a turn in its session, those of a child with its own record.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use figaro_base::ids::RunId;
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::tool::ToolCall;
use figaro_domain::turn::{ActiveTurn, Step};
use figaro_domain::usage::Usage;
use figaro_store::{ConversationStore, StoreError};

/// The most stored messages that are looked at for the history; the token budget cuts further.
pub const HISTORY_MESSAGES: usize = 400;

/// Records the steps of one run, and knows those that are on record.
#[async_trait]
pub(in crate::turn) trait StepLog: Debug + Send + Sync {
    /// The run under whose id its calls are on record.
    fn run(&self) -> RunId;
    /// Records a step in one durable write, with what the run took so far.
    async fn record(&self, step: Step, usage: Usage, nano_usd: Option<u64>) -> Result<(), StoreError>;
    /// Records how a call ended and its result, in one durable write; gives the key by which the result is looked up, if it can be.
    async fn tool_ended(&self, call: &ToolCall, result: Message) -> Result<Option<EntryKey>, StoreError>;
    /// The calls on record, in the order they were started.
    async fn calls(&self) -> Result<Vec<ToolCall>, StoreError>;
    /// What the run has stored so far, oldest first.
    async fn messages(&self) -> Result<Vec<Arc<Message>>, StoreError>;
}

/// The log of a turn.
#[derive(Debug)]
pub(in crate::turn) struct TurnLog {
    /// The store of turns.
    pub(in crate::turn) store: ConversationStore,
    /// The record of the turn.
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

    async fn calls(&self) -> Result<Vec<ToolCall>, StoreError> {
        self.store.tool_calls(self.turn.id).await
    }

    async fn messages(&self) -> Result<Vec<Arc<Message>>, StoreError> {
        let stored = self.store.recent(self.turn.session, HISTORY_MESSAGES).await?;
        Ok(stored.into_iter().filter(|message| message.index >= self.turn.first_index).collect())
    }
}
