//! A turn that waits for a person: parking, answer, continuation and giving up.

use chrono::{DateTime, Utc};

use super::active::{ActiveTurn, ConversationState};
use super::begin::{BegunTurn, give_way};
use super::changes::{ChangeSet, Transition, TurnChange};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::approval::{Approval, Ruled, Ruling};
use crate::conversation::{ConversationId, Message, MessageRole, ToolMeta};
use crate::delivery::PendingDelivery;
use crate::message::Inbound;
use crate::origin::Origin;
use crate::tool::{Call, SideEffects, ToolCall, ToolStatus};
use figaro_base::ids::{EntryId, MessageId};

/// Records the answer to a parked turn and settles its update. Returns the conversation in which the turn continues; `None`
/// if it already has an answer, because the first one counts.
pub fn answer(parked: ParkedTurn, part: Inbound) -> Transition<Option<ConversationId>> {
    if parked.answer.is_some() {
        return Transition::unchanged(None);
    }
    let mut changes = ChangeSet::default();
    changes.settle(&[part.origin]);
    // A button press may lack the topic, or carry an old chat id.
    let (place, conversation) = (parked.place.clone(), parked.turn.conversation);
    let part = Inbound { place, ..part };
    changes.add(TurnChange::PutParked(Box::new(ParkedTurn { answer: Some(Box::new(part)), ..parked })));
    Transition { output: Some(conversation), changes }
}

/// Records a person's decision about the call that a parked turn waits with, and settles its update. Returns the
/// conversation in which the turn continues. `None` if there is already a decision, if it is too late, or if the turn waits
/// with no such call. The turn continues in the name of the requester, with their rights at that time.
pub fn rule(parked: ParkedTurn, ruling: Ruling, origin: Origin) -> Transition<Option<ConversationId>> {
    let Some(approval) = parked.question.approval.as_deref() else { return Transition::unchanged(None) };
    if parked.answer.is_some() || ruling.at >= parked.expires_at {
        return Transition::unchanged(None);
    }
    let mut changes = ChangeSet::default();
    changes.settle(&[origin]);
    let (place, conversation) = (parked.place.clone(), parked.turn.conversation);
    let asked = Inbound {
        language: parked.language.clone(),
        client: parked.language.clone(),
        ..Inbound::addressed(origin, place, approval.requester.clone(), String::new(), ruling.at)
    };
    let (answer, ruling) = (Some(Box::new(asked)), Some(ruling));
    changes.add(TurnChange::PutParked(Box::new(ParkedTurn { answer, ruling, ..parked })));
    Transition { output: Some(conversation), changes }
}

/// Result of continuing a parked turn.
#[derive(Debug, Clone, PartialEq)]
pub struct GoneOn {
    /// The turn, on record again.
    pub begun: BegunTurn,
    /// Approved call, recorded as running. It is made now or never.
    pub approved: Option<Approved>,
}

/// A call approved by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// Call as the model requested it.
    pub call: Call,
    /// Calls made in its place, exactly as shown to the person.
    pub approval: Approval,
    /// Decision and its time. The right of the person is checked again when the call is made.
    pub ruling: Ruling,
    /// Message with the approval card.
    pub card: Option<MessageId>,
}

/// Stored data of a parked turn that continues.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredParked {
    /// Turn that waits.
    pub parked: ParkedTurn,
    /// Messages of the turn, including its question to the person, oldest first.
    pub messages: Vec<Message>,
    /// End of its session, where new messages are appended.
    pub tail: SessionTail,
    /// Time of the call that asked, UTC; `None` if its record no longer exists.
    pub called_at: Option<DateTime<Utc>>,
}

/// Continues a parked turn that was answered. The turn is on record again. Its messages move to the end of the session,
/// after messages written in between, with the answer as the result of the call that asked. The originals, including the
/// question to the person, are marked as replaced. The turn on record in its conversation is replaced. Returns `None` if
/// there is no answer.
///
/// An approved call has no result yet. In the same commit it stops waiting and is recorded as running. A crash from here on
/// leaves its outcome unknown, and the call is never made twice.
pub fn go_on(
    standing: ConversationState,
    stored: StoredParked,
    now: DateTime<Utc>,
) -> Transition<Option<GoneOn>> {
    let StoredParked { parked, messages, tail, called_at } = stored;
    let started_at = called_at.unwrap_or(now);
    let ParkedTurn { turn, call, asked_at, answer: Some(answer), ruling, question: asked, .. } = parked
    else {
        return Transition::unchanged(None);
    };
    let mut changes = ChangeSet::default();
    let turn = ActiveTurn {
        origins: Vec::new(),
        first_index: tail.next_index,
        resumed_by: Some(answer.clone()),
        ..turn
    };
    let gave_way = standing.left;
    if let Some(left) = &gave_way {
        changes.append(give_way(left, &turn));
    }
    let shown = messages.iter().find(|message| message.index == asked_at);
    let card = shown.and_then(|message| message.telegram.last().copied());
    let kept = messages.iter().filter(|message| message.index < asked_at);
    let mut moved: Vec<Message> =
        kept.map(|message| Message { id: EntryId::new(), ..message.clone() }).collect();
    for message in messages {
        changes.add_message(Message { replaced: true, ..message });
    }
    let approved_on = ruling.as_ref().filter(|ruling| ruling.ruled != Ruled::Denied).and(card);
    let (status, output) = ended(&turn, &call, asked.approval.as_deref(), ruling.as_ref(), &answer);
    moved.extend(output.as_deref().map(|output| result(&turn, &call, output, started_at)));
    changes.append(tail.append(&mut moved));
    let approved = output.is_none().then_some(asked.approval).flatten().zip(ruling);
    let approved =
        approved.map(|(approval, ruling)| Approved { call: call.clone(), approval: *approval, ruling, card });
    let record = ToolCall {
        call,
        run: turn.id,
        status,
        result: output,
        started_at,
        duration_ms: None,
        approved_on,
        hosted: false,
    };
    changes.add(TurnChange::PutCalls(turn.id, vec![record]));
    changes.add(TurnChange::RemoveParked(turn.id));
    changes.add(TurnChange::PutTurn(Box::new(turn.clone())));
    let question = moved.into_iter().filter(|message| message.role == MessageRole::User).collect();
    let begun = BegunTurn { turn, question, gave_way };
    Transition { output: Some(GoneOn { begun, approved }), changes }
}

/// Returns the status and result of the call that a turn waited with; no result if the call is to be made now.
fn ended(
    turn: &ActiveTurn,
    call: &Call,
    approval: Option<&Approval>,
    ruling: Option<&Ruling>,
    answer: &Inbound,
) -> (ToolStatus, Option<String>) {
    let refused = |words: String| {
        let output = serde_json::json!({"success": false, "error": words});
        (ToolStatus::Denied, Some(output.to_string()))
    };
    match (approval, ruling) {
        (None, _) => {
            let output = serde_json::json!({"success": true, "answer": answer.text});
            (ToolStatus::Complete, Some(output.to_string()))
        }
        (Some(approval), Some(ruling)) if ruling.ruled != Ruled::Denied => {
            match approval.is_for(turn.id, &call.id) {
                true => (ToolStatus::Running, None),
                false => refused("not made: what was approved is not what was asked about".to_owned()),
            }
        }
        (Some(_), Some(_)) => refused(
            "not allowed: a person denied it. Do not try it again, nor another way to the same".to_owned(),
        ),
        (Some(_), None) => refused("not made: nobody approved it".to_owned()),
    }
}

/// Gives up a parked turn, unless it has its answer. Its messages and effects stay. `words` is an optional notice to the
/// chat.
pub fn give_up(parked: &ParkedTurn, words: Option<PendingDelivery>) -> ChangeSet {
    let mut changes = ChangeSet::default();
    if parked.answer.is_some() {
        return changes;
    }
    changes.add(TurnChange::RemoveParked(parked.turn.id));
    changes.add(TurnChange::EndChildren(parked.turn.id));
    if let Some(words) = words {
        changes.add_delivery(words, None);
    }
    changes
}

fn result(turn: &ActiveTurn, call: &Call, output: &str, started_at: DateTime<Utc>) -> Message {
    let tool = ToolMeta {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        tool_arguments: call.arguments.clone(),
        side_effects: SideEffects::default(),
    };
    Message {
        tool: Some(Box::new(tool)),
        ..Message::new(turn.session, MessageRole::Tool, output.to_owned(), started_at)
    }
}
