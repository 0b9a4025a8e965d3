//! What a turn tells, as events for callers who ask for them.

use serde_json::{Value, json};

use figaro_agent::delivery::{ChildEvent, Told, TurnEventKind};
use figaro_base::ids::RequestId;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Its name: `progress`, `tool_call` or `action`.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) data: Value,
}

/// What is known of a turn from its beginning.
#[derive(Debug, Clone)]
pub(super) struct Metadata {
    /// The id by which it can be followed.
    pub(crate) turn: RequestId,
    /// The session that it belongs to.
    pub(crate) session: Option<String>,
    /// The agent that was asked for.
    pub(crate) agent: Option<String>,
}

impl Metadata {
    /// As the data of an event.
    #[must_use]
    pub(super) fn json(&self) -> Value {
        json!({"turn_id": self.turn.to_string(), "session_id": self.session, "agent": self.agent})
    }
}

/// The event for what a turn tells; `None` for words, for its end, and for what is nobody's business outside.
#[must_use]
pub(super) fn event(told: &Told) -> Option<Event> {
    let Told::Event(event) = told else { return None };
    let (name, data) = match &event.kind {
        TurnEventKind::Started { .. } => ("progress", json!({"state": "started"})),
        TurnEventKind::PassEnded { .. } => ("progress", json!({"state": "pass_ended"})),
        TurnEventKind::ToolStarted { name, hint, .. } => {
            ("tool_call", json!({"name": name, "status": "running", "hint": hint}))
        }
        TurnEventKind::ToolEnded { name, status, duration_ms } => {
            ("tool_call", json!({"name": name, "status": status, "duration_ms": duration_ms}))
        }
        TurnEventKind::Action { observation } => {
            ("action", json!({"type": "observation", "payload": observation}))
        }
        TurnEventKind::Child { agent, event, .. } => match event {
            ChildEvent::Started => ("progress", json!({"state": "agent_started", "agent": agent})),
            ChildEvent::Ended(end) => {
                ("progress", json!({"state": "agent_ended", "agent": agent, "outcome": end.word()}))
            }
            ChildEvent::Delta(_) | ChildEvent::PassEnded => return None,
        },
        TurnEventKind::Delta(_)
        | TurnEventKind::MemoryUpdated { .. }
        | TurnEventKind::Ended
        | TurnEventKind::Closed(_) => return None,
    };
    Some(Event { name, data })
}
