//! Resumes a turn that a restart interrupted: restores missing call results, and finds the calls that were in progress.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use super::log::HISTORY_MESSAGES;
use super::log::StepLog;
use super::run::RunState;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_domain::conversation::{Message, MessageRole, ToolMeta};
use figaro_domain::tool::{SideEffects, ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Approved, Checkpoint};
use figaro_store::StoreError;

/// Result that the model sees for a call that a crash interrupted.
pub(super) const UNKNOWN_OUTCOME: &str =
    "the bot stopped while this call ran: whether it acted is not known. Do not simply repeat it.";

/// Known state of a resumed turn; empty for a new one.
#[derive(Debug, Clone, Default)]
pub(crate) struct TakenUp {
    /// Stored state; `None` if the turn stored none yet.
    pub(super) state: Option<RunState>,
    /// Recorded calls by id: their status, and the card on which they were approved.
    calls: HashMap<String, (ToolStatus, Option<MessageId>)>,
    /// The call that a person has just approved.
    pub(super) approved: Option<Arc<Approved>>,
}

impl TakenUp {
    /// Returns `true` if the call was in progress when the bot stopped: it may have acted.
    pub(super) fn was_cut(&self, call: &str) -> bool {
        let was_running = self.calls.get(call).is_some_and(|(status, _)| *status == ToolStatus::Running);
        was_running && self.approved(call).is_none()
    }

    /// Returns the message under which a person approved the call before the bot stopped.
    pub(super) fn approved_on(&self, call: &str) -> Option<MessageId> {
        self.calls.get(call).and_then(|(_, card)| *card)
    }

    /// Returns the approved call to make instead of the given one, if a person has just approved it.
    pub(super) fn approved(&self, call: &str) -> Option<&Arc<Approved>> {
        self.approved.as_ref().filter(|approved| approved.call.id == call)
    }

    /// Returns `true` if the call was about to be made when the bot stopped.
    pub(super) fn has_not_started(&self, call: &str) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_calling(call)) && !self.calls.contains_key(call)
    }
}

/// Stored data of a run apart from its log.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredRun<'a> {
    /// Last checkpoint; `None` if the run stored none yet.
    pub(super) checkpoint: Option<&'a Checkpoint>,
    pub(super) session: SessionId,
}

impl<'a> From<&'a ActiveTurn> for StoredRun<'a> {
    fn from(turn: &'a ActiveTurn) -> Self {
        Self { checkpoint: turn.checkpoint.as_ref(), session: turn.session }
    }
}

/// Restores the progress of a run. A call found `running` that the state machine does not continue may have acted: the
/// model is told so, and the call is not repeated, unless it was approved just now. A result that is missing from the
/// messages is taken from the record of the call.
///
/// # Errors
/// If the store fails.
pub(super) async fn take_up(
    log: &dyn StepLog,
    of: StoredRun<'_>,
    approved: Option<Approved>,
) -> Result<TakenUp, StoreError> {
    let state = of.checkpoint.and_then(|checkpoint| state_of(checkpoint, log.run()));
    let calls = log.calls()?;
    let known = calls.iter().map(|call| (call.call.id.clone(), (call.status, call.approved_on))).collect();
    let taken_up = TakenUp { state, calls: known, approved: approved.map(Arc::new) };
    if calls.is_empty() {
        return Ok(taken_up);
    }
    let stored = log.messages()?;
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

fn state_of(checkpoint: &Checkpoint, run: RunId) -> Option<RunState> {
    let read: Result<RunState, _> = serde::Deserialize::deserialize(&checkpoint.state);
    read.inspect_err(|error| {
        tracing::error!(%error, %run, "how far a turn had come cannot be read; its passes count from the beginning");
    })
    .ok()
}

/// Returns the message that stores the result of a call, with the side effects of the call.
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
    Message {
        tool: Some(Box::new(meta)),
        ..Message::new(session, MessageRole::Tool, output, call.started_at)
    }
}
