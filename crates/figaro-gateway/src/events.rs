//! Converts events of a turn for callers who ask for them.

use serde_json::{Value, json};

use super::hub::HubTurn;
use figaro_agent::delivery::{ChildEvent, OutsideEvent, TurnEventKind};
use figaro_domain::tool::Call;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SseEvent {
    /// Name: `progress`, `tool_call`, `action` or `memory`.
    pub(crate) name: &'static str,
    pub(crate) data: Value,
}

/// Returns the data of the first event: ids and agent of the turn.
#[must_use]
pub(super) fn metadata(turn: &HubTurn) -> Value {
    json!({"turn_id": turn.id().to_string(), "session_id": turn.session(), "agent": turn.agent()})
}

/// Name of the tool whose calls ask back, take a note or delegate.
const ACTION: &str = "action";

/// Returns the events for one message of a turn. Text, the end of the turn and internal events give none.
#[must_use]
pub(super) fn events(told: &OutsideEvent) -> Vec<SseEvent> {
    let OutsideEvent::Event(event) = told else { return Vec::new() };
    let (name, data) = match &event.kind {
        TurnEventKind::Started { .. } => ("progress", json!({"state": "started"})),
        TurnEventKind::PassEnded { .. } => ("progress", json!({"state": "pass_ended"})),
        TurnEventKind::ToolStarted { call, hint, .. } => {
            let Call { id, name, arguments } = call;
            let data =
                json!({"id": id, "name": name, "arguments": arguments, "status": "running", "hint": hint});
            let started = SseEvent { name: "tool_call", data };
            return std::iter::once(started).chain(action(call)).collect();
        }
        TurnEventKind::ToolEnded { call, status, result, duration_ms } => {
            let Call { id, name, arguments } = call;
            let data = json!({
                "id": id, "name": name, "arguments": arguments, "status": status, "result": result, "duration_ms": duration_ms,
            });
            ("tool_call", data)
        }
        TurnEventKind::Action { observation } => {
            (ACTION, json!({"type": "observation", "payload": observation}))
        }
        TurnEventKind::MemoryUpdated { added, changed, removed, .. } => match added + changed + removed {
            0 => return Vec::new(),
            _ => ("memory", json!({"added": added, "changed": changed, "removed": removed})),
        },
        TurnEventKind::Child { agent, event, .. } => match event {
            ChildEvent::Started => ("progress", json!({"state": "agent_started", "agent": agent})),
            ChildEvent::Ended(end) => {
                ("progress", json!({"state": "agent_ended", "agent": agent, "outcome": end.word()}))
            }
            ChildEvent::Delta(_) | ChildEvent::PassEnded => return Vec::new(),
        },
        TurnEventKind::Delta(_) | TurnEventKind::Ended | TurnEventKind::Closed(_) => return Vec::new(),
    };
    vec![SseEvent { name, data }]
}

/// Returns the event for a call that asks back or delegates. Notes about the answer are reported once the answer is
/// read.
fn action(call: &Call) -> Option<SseEvent> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok().filter(|_| call.name == ACTION)?;
    let kind = arguments.get("type")?.as_str().filter(|kind| matches!(*kind, "elicit" | "delegate"))?;
    Some(SseEvent { name: ACTION, data: json!({"type": kind, "payload": arguments.get("payload")}) })
}
