//! What a turn tells, as events for callers who ask for them.

use serde_json::{Value, json};

use super::hub::Turn;
use figaro_agent::delivery::{ChildEvent, OutsideEvent, TurnEventKind};
use figaro_domain::tool::Call;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Its name: `progress`, `tool_call`, `action` or `memory`.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) data: Value,
}

/// What is known of a turn from its beginning, as the data of an event.
#[must_use]
pub(super) fn metadata(turn: &Turn) -> Value {
    json!({"turn_id": turn.id().to_string(), "session_id": turn.session(), "agent": turn.agent()})
}

/// The name of the tool whose calls ask back, note something or hand over.
const ACTION: &str = "action";

/// The events for what a turn tells; none for words, for its end, and for what is nobody's business outside.
#[must_use]
pub(super) fn events(told: &OutsideEvent) -> Vec<Event> {
    let OutsideEvent::Event(event) = told else { return Vec::new() };
    let (name, data) = match &event.kind {
        TurnEventKind::Started { .. } => ("progress", json!({"state": "started"})),
        TurnEventKind::PassEnded { .. } => ("progress", json!({"state": "pass_ended"})),
        TurnEventKind::ToolStarted { call, hint, .. } => {
            let Call { id, name, arguments } = call;
            let data =
                json!({"id": id, "name": name, "arguments": arguments, "status": "running", "hint": hint});
            let started = Event { name: "tool_call", data };
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
    vec![Event { name, data }]
}

/// What the model does beside its words by this call. What it notes about its answer is told once it is read.
fn action(call: &Call) -> Option<Event> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok().filter(|_| call.name == ACTION)?;
    let kind = arguments.get("type")?.as_str().filter(|kind| matches!(*kind, "elicit" | "delegate"))?;
    Some(Event { name: ACTION, data: json!({"type": kind, "payload": arguments.get("payload")}) })
}
