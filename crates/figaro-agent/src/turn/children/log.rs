//! Log of a child: its steps are stored in its own record, apart from the session.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::log::StepLog;
use figaro_base::ids::RunId;
use figaro_domain::child::ChildRun;
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::tool::ToolCall;
use figaro_domain::tool_result;
use figaro_domain::turn::Step;
use figaro_domain::usage::Usage;
use figaro_store::{ChildSpent, ChildStore, ConversationStore, StoreError};

#[derive(Debug)]
pub(super) struct ChildLog {
    pub(super) store: ChildStore,
    pub(super) calls: ConversationStore,
    pub(super) child: ChildRun,
}

#[async_trait]
impl StepLog for ChildLog {
    fn run(&self) -> RunId {
        self.child.id
    }

    async fn record(&self, step: Step, usage: Usage, nano_usd: Option<u64>) -> Result<(), StoreError> {
        self.store.record_step(&self.child, step, ChildSpent { usage, nano_usd }).await
    }

    async fn tool_ended(&self, call: &ToolCall, mut result: Message) -> Result<Option<EntryKey>, StoreError> {
        // Results of a child are never looked up later: only the record of the call keeps the full text.
        if let Some(shown) = tool_result::shown(&result.text, None) {
            result.text = shown;
        }
        self.store.tool_ended(&self.child, call, result).await?;
        Ok(None)
    }

    fn calls(&self) -> Result<Vec<ToolCall>, StoreError> {
        self.calls.tool_calls(self.child.id)
    }

    fn messages(&self) -> Result<Vec<Arc<Message>>, StoreError> {
        self.store.messages(self.child.id)
    }
}
