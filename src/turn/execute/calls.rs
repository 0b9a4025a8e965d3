//! Makes the calls of one pass: all at once, each with a time limit, each recorded before it starts and after it ends.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::run::{CallResult, Planned};
use crate::clock::Clock;
use crate::delivery::{Bus, TurnEventKind};
use crate::domain::conversation::{Message, Role, ToolMeta};
use crate::domain::tool::{Call, Carried, Effect, ToolCall, ToolStatus};
use crate::ids::SessionId;
use crate::store::{ConversationStore, StoreError};
use crate::text::one_line;
use crate::tools::{Registry, Tool, ToolContext, ToolError};

/// A call that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A longer result is cut: it would crowd out the conversation.
const MAX_RESULT_CHARS: usize = 16_000;

/// Makes calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Where calls are recorded.
    pub store: Arc<dyn ConversationStore>,
    /// Who hears of them.
    pub bus: Bus,
    /// The time.
    pub clock: Clock,
}

/// What a call came to, before it is recorded.
struct Done {
    status: ToolStatus,
    value: Value,
    carried: Carried,
}

/// A call and the tool that makes it.
#[derive(Debug)]
pub struct ReadyCall {
    planned: Planned,
    /// `None` where no such tool is offered.
    tool: Option<Arc<dyn Tool>>,
}

impl ReadyCall {
    /// Whether making it may change something, so that a turn that made it cannot begin again.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.effect() != Effect::Read)
    }
}

/// Finds the tools of a pass's calls, among those that were found on the way too.
#[must_use]
pub fn ready(planned: Vec<Planned>, found: &[String], tools: &Registry) -> Vec<ReadyCall> {
    let ready = |planned: Planned| ReadyCall { tool: tools.get(&planned.call.name, found), planned };
    planned.into_iter().map(ready).collect()
}

impl Caller {
    /// Makes all calls of a pass together; the results stand in the order of the calls.
    ///
    /// # Errors
    /// When a call could not be recorded: an unrecorded call might be repeated after a restart, so it is not made.
    pub async fn make(
        &self,
        calls: Vec<ReadyCall>,
        context: &ToolContext,
        session: SessionId,
    ) -> Result<Vec<CallResult>, StoreError> {
        // A microsecond apart, so that what the calls store sorts in their order.
        let times = (0..).map(|at| self.clock.now() + TimeDelta::microseconds(at));
        let making = calls.into_iter().zip(times).map(|(call, now)| {
            let context = ToolContext { now, ..context.clone() };
            async move { self.one(call, &context, session).await }
        });
        join_all(making).await.into_iter().collect()
    }

    async fn one(
        &self,
        ReadyCall { planned: Planned { call, refusal }, tool }: ReadyCall,
        context: &ToolContext,
        session: SessionId,
    ) -> Result<CallResult, StoreError> {
        let mut record = ToolCall {
            call,
            run: context.run,
            status: ToolStatus::Running,
            result: None,
            started_at: context.now,
            duration_ms: None,
        };
        self.store.tool_started(&record).await?;
        let name = record.call.name.clone();
        if let Some(tool) = &tool {
            self.bus.publish(context.run, started(tool, hint(&record.call)));
        }
        let clock = Instant::now();
        let done = match refusal {
            Some(reason) => failure(ToolStatus::Denied, &reason),
            None => run(tool.as_ref(), &record.call, context).await,
        };
        let duration_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = done.status;
        let output = bounded(done.value.to_string());
        record.status = status;
        record.result = Some(output.clone());
        record.duration_ms = Some(duration_ms);
        let message = result_message(session, &record, output.clone(), done.carried.clone());
        self.store.tool_ended(&record, message).await?;
        tracing::info!(run = %context.run, tool = name, ?status, duration_ms, "a tool was called");
        self.bus.publish(context.run, TurnEventKind::ToolEnded { name, status, duration_ms });
        Ok(CallResult { call: record.call, output, carried: done.carried })
    }
}

async fn run(tool: Option<&Arc<dyn Tool>>, call: &Call, context: &ToolContext) -> Done {
    let Some(tool) = tool else {
        let reason = format!(
            "no tool {} is offered yet; what is found can be called from the next step on",
            call.name
        );
        return failure(ToolStatus::Failed, &reason);
    };
    let written = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    match serde_json::from_str(written) {
        Ok(arguments) => run_tool(tool, context, arguments).await,
        Err(error) => failure(ToolStatus::Failed, &format!("the arguments are not valid JSON: {error}")),
    }
}

async fn run_tool(tool: &Arc<dyn Tool>, context: &ToolContext, arguments: Value) -> Done {
    match tokio::time::timeout(TIMEOUT, tool.call(context, arguments)).await {
        Ok(Ok(output)) => Done { status: ToolStatus::Complete, value: output.value, carried: output.carried },
        Ok(Err(ToolError::Denied(reason))) => failure(ToolStatus::Denied, &reason),
        Ok(Err(ToolError::ForModel(reason))) => failure(ToolStatus::Failed, &reason),
        Ok(Err(ToolError::Unknown(reason))) => failure(ToolStatus::Unknown, &reason),
        Err(_) => {
            let reason = format!("no result within {} s; whether it acted is not known", TIMEOUT.as_secs());
            failure(ToolStatus::Unknown, &reason)
        }
    }
}

/// The stored message that carries a call's result, and what the call left behind for its turn.
#[must_use]
pub fn result_message(session: SessionId, call: &ToolCall, output: String, carried: Carried) -> Message {
    let meta = ToolMeta {
        tool_call_id: call.call.id.clone(),
        tool_name: call.call.name.clone(),
        tool_arguments: call.call.arguments.clone(),
        carried,
    };
    Message { tool: Some(meta), ..Message::new(session, Role::Tool, output, call.started_at) }
}

fn failure(status: ToolStatus, reason: &str) -> Done {
    Done { status, value: json!({"success": false, "error": reason}), carried: Carried::default() }
}

fn bounded(output: String) -> String {
    let count = output.chars().count();
    if count <= MAX_RESULT_CHARS {
        return output;
    }
    let kept: String = output.chars().take(MAX_RESULT_CHARS).collect();
    format!("{kept} … [cut: {count} characters in all; ask for less, or for one part at a time]")
}

/// What is told of a tool that begins its work.
pub(super) fn started(tool: &Arc<dyn Tool>, hint: Option<String>) -> TurnEventKind {
    TurnEventKind::ToolStarted { name: tool.spec().name.clone(), status: tool.status(), hint }
}

/// The argument worth showing in a status line: a query, or nothing.
fn hint(call: &Call) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    arguments.get("query")?.as_str().map(|query| one_line(query, 60))
}
