//! A turn that waits for a person: how it is put away with its question, answered, gone on with, and given up.

use chrono::{DateTime, Utc};

use super::active::{ActiveTurn, Standing};
use super::begin::{Begun, give_way};
use super::changes::{Change, ChangeSet, Transition};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::approval::{Approval, Ruled, Ruling};
use crate::conversation::{Conversation, Message, Role, ToolMeta};
use crate::delivery::PendingDelivery;
use crate::message::Inbound;
use crate::origin::Origin;
use crate::tool::{Call, SideEffects, ToolCall, ToolStatus};
use figaro_base::ids::{EntryId, MessageId, UpdateId};

/// Records the answer to a parked turn and settles its update; gives the conversation in which the turn goes on. `None` if it
/// was answered before: the first answer counts.
pub fn answer(parked: ParkedTurn, part: Inbound) -> Transition<Option<Conversation>> {
    if parked.answer.is_some() {
        return Transition::unchanged(None);
    }
    let mut changes = ChangeSet::default();
    changes.settle(&[part.origin]);
    // A press may come without its topic, or from what the chat was before.
    let (place, conversation) = (parked.place.clone(), parked.turn.conversation);
    let part = Inbound { place, ..part };
    changes.add(Change::PutParked(Box::new(ParkedTurn { answer: Some(Box::new(part)), ..parked })));
    Transition { output: Some(conversation), changes }
}

/// Records what a person says to the call that a parked turn waits with, and settles their press; gives the conversation in which
/// the turn goes on. `None` if somebody has said something before, if it is too late, or if it waits with no such call. The turn
/// goes on in the name of whoever asked for the call, with the rights that they have by then.
pub fn rule(parked: ParkedTurn, ruling: Ruling, press: UpdateId) -> Transition<Option<Conversation>> {
    let Some(approval) = parked.question.approval.as_deref() else { return Transition::unchanged(None) };
    if parked.answer.is_some() || ruling.at >= parked.expires_at {
        return Transition::unchanged(None);
    }
    let mut changes = ChangeSet::default();
    let origin = Origin::Telegram { update: press, message: None };
    changes.settle(&[origin]);
    let (place, conversation) = (parked.place.clone(), parked.turn.conversation);
    let asked = Inbound {
        language: parked.language.clone(),
        client: parked.language.clone(),
        ..Inbound::addressed(origin, place, approval.requester.clone(), String::new(), ruling.at)
    };
    let (answer, ruling) = (Some(Box::new(asked)), Some(ruling));
    changes.add(Change::PutParked(Box::new(ParkedTurn { answer, ruling, ..parked })));
    Transition { output: Some(conversation), changes }
}

/// What comes of going on with a parked turn.
#[derive(Debug, Clone, PartialEq)]
pub struct GoneOn {
    /// The turn on record again.
    pub begun: Begun,
    /// The call that a person has approved: it is on record as under way from now on, so it is made now or never.
    pub approved: Option<Approved>,
}

/// A call that a person has approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// The call as the model asked for it.
    pub call: Call,
    /// What is made in its place: exactly what the person was shown.
    pub approval: Approval,
    /// What they said, and when: whether they may say so is judged once more when it is made.
    pub ruling: Ruling,
    /// The message that showed it.
    pub card: Option<MessageId>,
}

/// What is stored of a parked turn that is gone on with.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredParked {
    /// The turn that waits.
    pub parked: ParkedTurn,
    /// Its messages, its question to the person among them, oldest first.
    pub messages: Vec<Message>,
    /// The end of its session: where new messages go.
    pub tail: SessionTail,
    /// When the call that asked was made; `None` if its record is gone.
    pub called_at: Option<DateTime<Utc>>,
}

/// Goes on with a parked turn that was answered: it is on record again, and its messages stand at the end of the session,
/// behind what was said meanwhile, with the answer as the result of the call that asked. Its question to the person counts
/// as replaced by that. The turn on record in its conversation gives way. `None` where it has no answer.
///
/// A call that was approved has no result yet. In the same commit it stops to wait and is on record as under way: a crash from
/// here on leaves its outcome unknown, and nothing makes it a second time.
pub fn go_on(standing: Standing, stored: StoredParked, now: DateTime<Utc>) -> Transition<Option<GoneOn>> {
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
    changes.add(Change::PutCalls(turn.id, vec![record]));
    changes.add(Change::RemoveParked(turn.id));
    changes.add(Change::PutTurn(Box::new(turn.clone())));
    let question = moved.into_iter().filter(|message| message.role == Role::User).collect();
    let begun = Begun { turn, question, gave_way };
    Transition { output: Some(GoneOn { begun, approved }), changes }
}

/// How the call ends that a turn waited with; without a result where it is to be made now.
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

/// Gives a parked turn up, unless it has its answer. What it said and did stays; words on that go to the chat, if there are
/// some.
pub fn give_up(parked: &ParkedTurn, words: Option<PendingDelivery>) -> ChangeSet {
    let mut changes = ChangeSet::default();
    if parked.answer.is_some() {
        return changes;
    }
    changes.add(Change::RemoveParked(parked.turn.id));
    changes.add(Change::EndChildren(parked.turn.id));
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
    Message { tool: Some(tool), ..Message::new(turn.session, Role::Tool, output.to_owned(), started_at) }
}
