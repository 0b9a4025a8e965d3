//! Makes the calls of one pass in parallel, each with a timeout. Each call is recorded before it starts and after it
//! ends.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::log::StepLog;
use super::super::run::{CallResult, PlannedCall};
use super::super::taken_up::{TakenUp, UNKNOWN_OUTCOME, result_message};
use crate::delivery::{Bus, TurnEventKind};
use crate::tools::{Registry, Tool, ToolContext, ToolError, ToolOutput};
use figaro_base::clock::Clock;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_base::telemetry::gen_ai;
use figaro_base::text::one_line;
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use figaro_domain::tool::{Call, Effect, SideEffects, ToolCall, ToolKind, ToolStatus};
use figaro_domain::tool_result;
use figaro_domain::turn::{Approved, PersonQuestion};
use figaro_policy::access::Standing;
use figaro_provider::MediaPart;
use figaro_store::{AuditStore, StoreError};
use tracing::Instrument;

/// Name of the rule for guests in the audit log.
const GUEST_RULE: &str = "limit/guest";
const ONE_QUESTION: &str = "not asked: one question at a time; ask it when the other has its answer";

/// Makes the tool calls of a pass in parallel, and records each. Called by the executor.
#[derive(Debug, Clone)]
pub struct ToolCaller {
    /// Publishes the start and the end of each call.
    pub bus: Bus,
    /// Source of the start times of calls.
    pub clock: Clock,
    /// The audit log, for calls that are refused here before any rule is checked.
    pub audit: AuditStore,
}

/// Targets of the records of a pass's calls.
#[derive(Debug, Clone, Copy)]
pub(in crate::turn) struct CallRecorder<'a> {
    /// Log of the run that makes the calls.
    pub(in crate::turn) log: &'a dyn StepLog,
    pub(in crate::turn) session: SessionId,
    /// Turn whose event subscribers are notified.
    pub(in crate::turn) turn: RunId,
}

/// Result of a call before it is recorded.
struct CallOutcome {
    status: ToolStatus,
    value: Value,
    side_effects: SideEffects,
    images: Vec<MediaPart>,
    asks: Option<PersonQuestion>,
}

/// A planned call and its tool.
#[derive(Debug)]
pub(crate) struct ReadyCall {
    planned: PlannedCall,
    /// Tool to call; `None` if no such tool is offered.
    tool: Option<Arc<dyn Tool>>,
    /// `true` if the call was in progress when the bot stopped.
    was_cut: bool,
    /// Message under which a person approved the call, also before a restart.
    approved_on: Option<MessageId>,
    /// Approved call to make instead; `None` for a call that was not just approved.
    approved: Option<Arc<Approved>>,
}

impl ReadyCall {
    /// Returns the record of the call at its start.
    fn record(&self, run: RunId, now: DateTime<Utc>) -> ToolCall {
        ToolCall { approved_on: self.approved_on, ..record(&self.planned.call, run, now) }
    }

    /// Returns `true` if the call may change something, so that the turn cannot begin again.
    #[must_use]
    pub(crate) fn acts(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.effect() != Effect::Read)
    }
}

/// Finds the tools of a pass's calls, including tools that the run has found by search.
#[must_use]
pub(crate) fn ready(
    planned: Vec<PlannedCall>,
    found: &[String],
    tools: &Registry,
    taken_up: &TakenUp,
) -> Vec<ReadyCall> {
    let ready = |planned: PlannedCall| ReadyCall {
        tool: tools.get(&planned.call.name, found),
        was_cut: taken_up.was_cut(&planned.call.id),
        approved_on: taken_up.approved_on(&planned.call.id),
        approved: None,
        planned,
    };
    planned.into_iter().map(ready).collect()
}

/// Replaces a call with its approved version. Only for the first calls of a resumed turn: a later call may have the
/// same id.
pub(super) fn approve(calls: &mut [ReadyCall], approved: Option<Arc<Approved>>) {
    let Some(approved) = approved else { return };
    if let Some(call) = calls.iter_mut().find(|call| call.planned.call == approved.call) {
        call.approved_on = approved.card;
        call.approved = Some(approved);
    }
}

impl ToolCaller {
    /// Returns the records of calls that start now, one microsecond apart, so that entries stored by the calls sort in
    /// order.
    pub(super) fn records(&self, calls: &[ReadyCall], log: &dyn StepLog) -> Vec<ToolCall> {
        let times = self.times();
        calls.iter().zip(times).map(|(call, now)| call.record(log.run(), now)).collect()
    }

    /// Makes all calls of a pass in parallel. Returns the results in the order of the calls. The calls must be recorded
    /// already.
    ///
    /// # Errors
    /// If a result cannot be recorded.
    pub(in crate::turn) async fn make(
        &self,
        calls: Vec<ReadyCall>,
        context: &ToolContext,
        records: CallRecorder<'_>,
    ) -> Result<Vec<CallResult>, StoreError> {
        let times = self.times();
        let making = calls.into_iter().zip(times.clone()).map(|(call, now)| {
            let (id, approved) = (call.planned.call.id.clone(), call.approved.clone());
            let context = ToolContext { now, call: id, approved, ..context.clone() };
            async move { self.one(call, &context, records).await }
        });
        let mut results = join_all(making).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let asking = results.iter_mut().zip(times).filter(|(result, _)| result.asks.is_some());
        for (further, now) in asking.skip(1) {
            let record = record(&further.call, records.log.run(), now);
            let refused = failure(ToolStatus::Failed, ONE_QUESTION);
            *further = self.record_end(record, refused, records).await?;
        }
        Ok(results)
    }

    fn times(&self) -> impl Iterator<Item = DateTime<Utc>> + Clone + use<> {
        let now = self.clock.now();
        (0..).map(move |at| now + TimeDelta::microseconds(at))
    }

    async fn one(
        &self,
        ready: ReadyCall,
        context: &ToolContext,
        records: CallRecorder<'_>,
    ) -> Result<CallResult, StoreError> {
        let mut record = ready.record(records.log.run(), context.now);
        let ReadyCall { planned: PlannedCall { call, refusal }, tool, was_cut, .. } = ready;
        if let Some(tool) = &tool {
            self.bus.publish(context.run, started(tool, record.call.clone()));
        }
        let clock = Instant::now();
        let done = match refusal {
            Some(reason) => failure(ToolStatus::Denied, &reason),
            // Calls that only read are repeated.
            None if was_cut && tool.as_ref().is_none_or(|tool| tool.effect() != Effect::Read) => {
                failure(ToolStatus::Unknown, UNKNOWN_OUTCOME)
            }
            None => match refused_to_guest(tool.as_deref(), context) {
                Some(reason) => {
                    self.audit.add(vec![of_guest(&record.call, context)]).await?;
                    failure(ToolStatus::Denied, reason)
                }
                None => traced(tool.as_ref(), &record.call, context).await,
            },
        };
        if done.asks.is_some() {
            // The call ends with the person's answer.
            return Ok(CallResult {
                call,
                output: String::new(),
                side_effects: done.side_effects,
                images: Vec::new(),
                asks: done.asks,
            });
        }
        record.duration_ms = Some(u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.record_end(record, done, records).await
    }

    /// Records the end of a call and publishes it.
    async fn record_end(
        &self,
        mut record: ToolCall,
        done: CallOutcome,
        records: CallRecorder<'_>,
    ) -> Result<CallResult, StoreError> {
        let (status, name, run) = (done.status, record.call.name.clone(), record.run);
        let whole = tool_result::stored(done.value.to_string());
        record.status = status;
        record.result = Some(whole.clone());
        let duration_ms = record.duration_ms.unwrap_or_default();
        let message = result_message(records.session, &record, whole.clone(), done.side_effects.clone());
        let key = records.log.tool_ended(&record, message).await?;
        let output = tool_result::shown(&whole, key).unwrap_or(whole);
        tracing::info!(%run, tool = name, ?status, duration_ms, "a tool was called");
        let (call, result) = (record.call.clone(), output.clone());
        self.bus.publish(records.turn, TurnEventKind::ToolEnded { call, status, result, duration_ms });
        if let Some(observation) = done.side_effects.observation.clone() {
            self.bus.publish(records.turn, TurnEventKind::Action { observation });
        }
        let CallOutcome { side_effects, images, .. } = done;
        Ok(CallResult { call: record.call, output, side_effects, images, asks: None })
    }
}

/// Returns the reason why a call is refused for a guest; `None` if it is allowed. Guests may only read, and in a group
/// they may not search messages of others.
fn refused_to_guest(tool: Option<&dyn Tool>, context: &ToolContext) -> Option<&'static str> {
    let tool = tool.filter(|_| context.standing == Standing::Guest)?;
    if tool.effect() != Effect::Read {
        return Some(
            "whoever asks is a guest here: for guests nothing is changed or sent. An owner can make them a member",
        );
    }
    let looks_back = match tool.spec().kind {
        ToolKind::Lookup | ToolKind::Recall | ToolKind::Records | ToolKind::Documents => true,
        ToolKind::Plain | ToolKind::WebSearch | ToolKind::Finder | ToolKind::Memories => false,
    };
    (looks_back && context.place.is_group())
        .then_some("whoever asks is a guest here, for whom nothing is looked up that others said")
}

/// Returns the audit entry of a call that is refused for a guest.
fn of_guest(call: &Call, context: &ToolContext) -> Audited {
    let event = AuditEvent {
        chat: Some(context.place.chat),
        run: Some(context.run),
        call: AuditName::new(&call.id),
        method: AuditName::new(&call.name),
        rule: AuditName::new(GUEST_RULE),
        ..AuditEvent::new(AuditKind::CallDenied, AuditActor::Model, context.now)
    };
    Audited { event, arguments: serde_json::from_str(&call.arguments).ok() }
}

/// Returns the record of a call that starts now.
pub(super) fn record(call: &Call, run: RunId, started_at: DateTime<Utc>) -> ToolCall {
    let (status, result, duration_ms) = (ToolStatus::Running, None, None);
    ToolCall {
        call: call.clone(),
        run,
        status,
        result,
        started_at,
        duration_ms,
        approved_on: None,
        hosted: false,
    }
}

/// Makes a call within its span.
async fn traced(tool: Option<&Arc<dyn Tool>>, call: &Call, context: &ToolContext) -> CallOutcome {
    // A name that no tool has is a word of the model.
    let name = tool.map_or("unknown", |tool| &tool.spec().name);
    let span = gen_ai::tool(name, &call.id);
    let done = run(tool, call, context).instrument(span.clone()).await;
    match done.status {
        ToolStatus::Failed => gen_ai::fail(&span, "tool_failed"),
        ToolStatus::Denied => gen_ai::fail(&span, "tool_denied"),
        ToolStatus::Running | ToolStatus::Complete | ToolStatus::Unknown => {}
    }
    done
}

async fn run(tool: Option<&Arc<dyn Tool>>, call: &Call, context: &ToolContext) -> CallOutcome {
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

async fn run_tool(tool: &Arc<dyn Tool>, context: &ToolContext, arguments: Value) -> CallOutcome {
    let timeout = tool.timeout();
    match tokio::time::timeout(timeout, tool.call(context, arguments)).await {
        Ok(Ok(output)) => {
            let output = output.naming_what_is_read(&tool.spec().name);
            let ToolOutput { value, side_effects, images, asks } = output;
            CallOutcome { status: ToolStatus::Complete, value, side_effects, images, asks }
        }
        Ok(Err(ToolError::Denied(reason))) => failure(ToolStatus::Denied, &reason),
        Ok(Err(ToolError::ForModel(reason))) => failure(ToolStatus::Failed, &reason),
        Ok(Err(ToolError::Quoted { by, words })) => {
            let side_effects = SideEffects { read: Some(by), ..SideEffects::default() };
            CallOutcome { side_effects, ..failure(ToolStatus::Failed, &words) }
        }
        Ok(Err(ToolError::Unknown(reason))) => failure(ToolStatus::Unknown, &reason),
        Err(_) => {
            let reason = format!("no result within {} s; whether it acted is not known", timeout.as_secs());
            failure(ToolStatus::Unknown, &reason)
        }
    }
}

fn failure(status: ToolStatus, reason: &str) -> CallOutcome {
    let value = json!({"success": false, "error": reason});
    CallOutcome { status, value, side_effects: SideEffects::default(), images: Vec::new(), asks: None }
}

/// Returns the event for the start of a tool call.
pub(super) fn started(tool: &Arc<dyn Tool>, call: Call) -> TurnEventKind {
    let hint = hint(&call);
    TurnEventKind::ToolStarted { call, status: tool.status(), hint }
}

/// Returns the argument to show in a status line: the search query, the name of an agent or an address; `None` if there is
/// none of these.
#[must_use]
pub fn hint(call: &Call) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let queries = arguments["queries"].as_array().into_iter().flatten();
    let queries: Vec<&str> = queries.filter_map(Value::as_str).collect();
    let one = || ["query", "agent_name", "url"].into_iter().find_map(|name| arguments.get(name))?.as_str();
    let words = if queries.is_empty() { one()?.to_owned() } else { queries.join(", ") };
    Some(one_line(&words, 60))
}
