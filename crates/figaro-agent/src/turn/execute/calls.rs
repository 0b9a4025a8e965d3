//! Makes the calls of one pass: all at once, each with a time limit, each recorded before it starts and after it ends.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::log::StepLog;
use super::super::run::{CallResult, Planned};
use super::super::taken_up::{TakenUp, UNKNOWN_OUTCOME, result_message};
use crate::delivery::{Bus, TurnEventKind};
use crate::tools::{Registry, Tool, ToolContext, ToolError, ToolOutput};
use figaro_base::clock::Clock;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_base::text::one_line;
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use figaro_domain::tool::{Call, Effect, SideEffects, ToolCall, ToolKind, ToolStatus};
use figaro_domain::tool_result;
use figaro_domain::turn::{Approved, PersonQuestion};
use figaro_policy::access::Standing;
use figaro_provider::Image;
use figaro_store::{AuditStore, StoreError};

/// The name of the limit on guests in the audit log.
const GUEST_RULE: &str = "limit/guest";
const ONE_QUESTION: &str = "not asked: one question at a time; ask it when the other has its answer";

/// Makes the tool calls of a pass, side by side, and records each. Called by the executor.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Publishes the start and the end of each call.
    pub bus: Bus,
    /// Gives the current time: calls are dated by it.
    pub clock: Clock,
    /// Is told of calls that are refused here, where no rule is asked about them.
    pub audit: AuditStore,
}

/// Where the calls of a pass are recorded.
#[derive(Debug, Clone, Copy)]
pub(in crate::turn) struct Records<'a> {
    /// The log of the run that makes them.
    pub(in crate::turn) log: &'a dyn StepLog,
    /// The session that their results belong to.
    pub(in crate::turn) session: SessionId,
    /// The turn whose followers hear of them.
    pub(in crate::turn) turn: RunId,
}

/// What a call came to, before it is recorded.
struct Done {
    status: ToolStatus,
    value: Value,
    side_effects: SideEffects,
    images: Vec<Image>,
    asks: Option<PersonQuestion>,
}

/// A call and the tool that makes it.
#[derive(Debug)]
pub(crate) struct ReadyCall {
    planned: Planned,
    /// `None` where no such tool is offered.
    tool: Option<Arc<dyn Tool>>,
    /// It was under way when the bot stopped.
    was_cut: bool,
    /// The message under which a person has approved it, also before a restart.
    approved_on: Option<MessageId>,
    /// What a person has approved in its place.
    approved: Option<Arc<Approved>>,
}

impl ReadyCall {
    /// Its record as it starts.
    fn record(&self, run: RunId, now: DateTime<Utc>) -> ToolCall {
        ToolCall { approved_on: self.approved_on, ..record(&self.planned.call, run, now) }
    }

    /// Whether making it may change something, so that a turn that made it cannot begin again.
    #[must_use]
    pub(crate) fn acts(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.effect() != Effect::Read)
    }
}

/// Finds the tools of a pass's calls, among those that were found on the way too.
#[must_use]
pub(crate) fn ready(
    planned: Vec<Planned>,
    found: &[String],
    tools: &Registry,
    taken_up: &TakenUp,
) -> Vec<ReadyCall> {
    let ready = |planned: Planned| ReadyCall {
        tool: tools.get(&planned.call.name, found),
        was_cut: taken_up.was_cut(&planned.call.id),
        approved_on: taken_up.approved_on(&planned.call.id),
        approved: None,
        planned,
    };
    planned.into_iter().map(ready).collect()
}

/// Has what a person approved made in the place of its call. It is to be given to the first calls of a turn that goes on, and to no
/// others: a later call may have the same id.
pub(super) fn approve(calls: &mut [ReadyCall], approved: Option<Arc<Approved>>) {
    let Some(approved) = approved else { return };
    if let Some(call) = calls.iter_mut().find(|call| call.planned.call == approved.call) {
        call.approved_on = approved.card;
        call.approved = Some(approved);
    }
}

impl Caller {
    /// The records of calls that start now, a microsecond apart, so that what the calls store sorts in their order.
    pub(super) fn records(&self, calls: &[ReadyCall], log: &dyn StepLog) -> Vec<ToolCall> {
        let times = self.times();
        calls.iter().zip(times).map(|(call, now)| call.record(log.run(), now)).collect()
    }

    /// Makes all calls of a pass together; the results stand in the order of the calls. They have to be on record.
    ///
    /// # Errors
    /// When a result could not be recorded.
    pub(in crate::turn) async fn make(
        &self,
        calls: Vec<ReadyCall>,
        context: &ToolContext,
        records: Records<'_>,
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
        records: Records<'_>,
    ) -> Result<CallResult, StoreError> {
        let mut record = ready.record(records.log.run(), context.now);
        let ReadyCall { planned: Planned { call, refusal }, tool, was_cut, .. } = ready;
        if let Some(tool) = &tool {
            self.bus.publish(context.run, started(tool, record.call.clone()));
        }
        let clock = Instant::now();
        let done = match refusal {
            Some(reason) => failure(ToolStatus::Denied, &reason),
            // What only looks is looked at again.
            None if was_cut && tool.as_ref().is_none_or(|tool| tool.effect() != Effect::Read) => {
                failure(ToolStatus::Unknown, UNKNOWN_OUTCOME)
            }
            None => match refused_to_guest(tool.as_deref(), context) {
                Some(reason) => {
                    self.audit.add(vec![of_guest(&record.call, context)]).await?;
                    failure(ToolStatus::Denied, reason)
                }
                None => run(tool.as_ref(), &record.call, context).await,
            },
        };
        if done.asks.is_some() {
            // It ends with the answer.
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

    /// Records what a call came to.
    async fn record_end(
        &self,
        mut record: ToolCall,
        done: Done,
        records: Records<'_>,
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
        let Done { side_effects, images, .. } = done;
        Ok(CallResult { call: record.call, output, side_effects, images, asks: None })
    }
}

/// Why a call is not made for a guest; `None` if it is. What only looks is made, but in a group not where it looks through what
/// others said.
fn refused_to_guest(tool: Option<&dyn Tool>, context: &ToolContext) -> Option<&'static str> {
    let tool = tool.filter(|_| context.standing == Standing::Guest)?;
    if tool.effect() != Effect::Read {
        return Some(
            "whoever asks is a guest here, for whom nothing is changed or sent; an owner can make them a member",
        );
    }
    let looks_back = matches!(tool.spec().kind, ToolKind::Lookup | ToolKind::Recall | ToolKind::Records);
    (looks_back && context.place.is_group())
        .then_some("whoever asks is a guest here, for whom nothing is looked up that others said")
}

/// What the audit log is told of a call that is refused to a guest.
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

/// The record of a call that starts now.
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
    let timeout = tool.timeout();
    match tokio::time::timeout(timeout, tool.call(context, arguments)).await {
        Ok(Ok(ToolOutput { value, side_effects, images, asks })) => {
            Done { status: ToolStatus::Complete, value, side_effects, images, asks }
        }
        Ok(Err(ToolError::Denied(reason))) => failure(ToolStatus::Denied, &reason),
        Ok(Err(ToolError::ForModel(reason))) => failure(ToolStatus::Failed, &reason),
        Ok(Err(ToolError::Unknown(reason))) => failure(ToolStatus::Unknown, &reason),
        Err(_) => {
            let reason = format!("no result within {} s; whether it acted is not known", timeout.as_secs());
            failure(ToolStatus::Unknown, &reason)
        }
    }
}

fn failure(status: ToolStatus, reason: &str) -> Done {
    let value = json!({"success": false, "error": reason});
    Done { status, value, side_effects: SideEffects::default(), images: Vec::new(), asks: None }
}

/// What is told of a tool that begins its work.
pub(super) fn started(tool: &Arc<dyn Tool>, call: Call) -> TurnEventKind {
    let hint = hint(&call);
    TurnEventKind::ToolStarted { call, status: tool.status(), hint }
}

/// The argument worth showing in a status line: what is searched for, the name of an agent, or nothing.
#[must_use]
pub fn hint(call: &Call) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let queries = arguments["queries"].as_array().into_iter().flatten();
    let queries: Vec<&str> = queries.filter_map(Value::as_str).collect();
    let one = || arguments.get("query").or_else(|| arguments.get("agent_name"))?.as_str();
    let words = if queries.is_empty() { one()?.to_owned() } else { queries.join(", ") };
    Some(one_line(&words, 60))
}
