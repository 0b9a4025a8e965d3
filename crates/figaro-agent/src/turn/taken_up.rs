//! Takes up a turn that a restart interrupted: what its calls came to is made whole, and what was under way is known.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use super::log::HISTORY_MESSAGES;
use super::log::StepLog;
use super::run::State;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_domain::conversation::{Message, Role, ToolMeta};
use figaro_domain::tool::{SideEffects, ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Approved, Checkpoint};
use figaro_store::StoreError;

/// What the model is told about a call that a crash left open.
pub(super) const UNKNOWN_OUTCOME: &str =
    "the bot stopped while this call ran: whether it acted is not known. Do not simply repeat it.";

/// What is known of a turn that goes on; empty for one that begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct TakenUp {
    /// The state it was stored in; none where it had not come so far.
    pub(super) state: Option<State>,
    /// The calls on record, by their ids: where they stood, and on which card they were approved.
    calls: HashMap<String, (ToolStatus, Option<MessageId>)>,
    /// The call that a person has approved just now.
    pub(super) approved: Option<Arc<Approved>>,
}

impl TakenUp {
    /// Whether a call was under way when the bot stopped: it may have acted.
    pub(super) fn was_cut(&self, call: &str) -> bool {
        let was_running = self.calls.get(call).is_some_and(|(status, _)| *status == ToolStatus::Running);
        was_running && self.approved(call).is_none()
    }

    /// The message under which a person approved a call before the bot stopped.
    pub(super) fn approved_on(&self, call: &str) -> Option<MessageId> {
        self.calls.get(call).and_then(|(_, card)| *card)
    }

    /// What is to be made in place of a call, if a person has approved it.
    pub(super) fn approved(&self, call: &str) -> Option<&Arc<Approved>> {
        self.approved.as_ref().filter(|approved| approved.call.id == call)
    }

    /// Whether a call was about to be made when the bot stopped.
    pub(super) fn has_not_started(&self, call: &str) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_calling(call)) && !self.calls.contains_key(call)
    }
}

/// What is stored of a run beside its log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    /// How far it has come.
    pub(super) checkpoint: Option<&'a Checkpoint>,
    /// The session that its messages belong to.
    pub(super) session: SessionId,
}

impl<'a> From<&'a ActiveTurn> for Stored<'a> {
    fn from(turn: &'a ActiveTurn) -> Self {
        Self { checkpoint: turn.checkpoint.as_ref(), session: turn.session }
    }
}

/// Reads how far a run has come. A call found `running` that the turn's machine does not go on with may have acted: the model
/// is told so, and it is not made again, unless it is the one that was approved just now. A result that cannot be read among the messages is taken from its record.
///
/// # Errors
/// When the store fails.
pub(super) async fn take_up(
    log: &dyn StepLog,
    of: Stored<'_>,
    approved: Option<Approved>,
) -> Result<TakenUp, StoreError> {
    let state = of.checkpoint.and_then(|checkpoint| state_of(checkpoint, log.run()));
    let calls = log.calls().await?;
    let known = calls.iter().map(|call| (call.call.id.clone(), (call.status, call.approved_on))).collect();
    let taken_up = TakenUp { state, calls: known, approved: approved.map(Arc::new) };
    if calls.is_empty() {
        return Ok(taken_up);
    }
    let stored = log.messages().await?;
    let told: HashSet<&str> =
        stored.iter().filter_map(|message| Some(message.tool.as_ref()?.tool_call_id.as_str())).collect();
    let is_next = |id: &str| taken_up.state.as_ref().is_some_and(|state| state.is_calling(id));
    let goes_on_with = |id: &str| is_next(id) || taken_up.approved(id).is_some();
    for mut call in calls.into_iter().filter(|call| !call.hosted && !told.contains(call.call.id.as_str())) {
        if call.status == ToolStatus::Running {
            if goes_on_with(&call.call.id) {
                continue;
            }
            call.status = ToolStatus::Unknown;
        }
        let unknown = || serde_json::json!({"success": false, "error": UNKNOWN_OUTCOME}).to_string();
        let result = call.result.get_or_insert_with(unknown).clone();
        let message = result_message(of.session, &call, result, SideEffects::default());
        log.tool_ended(&call, message).await?;
    }
    Ok(taken_up)
}

fn state_of(checkpoint: &Checkpoint, run: RunId) -> Option<State> {
    let read: Result<State, _> = serde::Deserialize::deserialize(&checkpoint.state);
    read.inspect_err(|error| {
        tracing::error!(%error, %run, "how far a turn had come cannot be read; its passes count from the beginning");
    })
    .ok()
}

/// The stored message that carries a call's result, and what the call left behind for its turn.
#[must_use]
pub(crate) fn result_message(
    session: SessionId,
    call: &ToolCall,
    output: String,
    side_effects: SideEffects,
) -> Message {
    let meta = ToolMeta {
        tool_call_id: call.call.id.clone(),
        tool_name: call.call.name.clone(),
        tool_arguments: call.call.arguments.clone(),
        side_effects,
    };
    Message { tool: Some(meta), ..Message::new(session, Role::Tool, output, call.started_at) }
}
