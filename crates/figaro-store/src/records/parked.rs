//! Turns that wait for a person, by their ids.

use chrono::{DateTime, TimeDelta, Utc};

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::approval::Moves;
use figaro_domain::conversation::{Conversation, Message};
use figaro_domain::turn::ParkedTurn;

/// The messages of a parked turn, its question to the person among them.
pub(super) fn messages(tables: &Tables<'_>, parked: &ParkedTurn) -> Result<Vec<Message>, Fault> {
    let mut found = Vec::new();
    for item in tables.messages.scan(&key::id(parked.turn.session))?.rev() {
        let (_, message) = item?;
        if message.index < parked.turn.first_index {
            break;
        }
        if message.index <= parked.asked_at {
            found.push(message);
        }
    }
    found.reverse();
    Ok(found)
}

/// When the call was made that a turn waits with: never before the call that stands before it, whose record was renewed when
/// it ended.
pub(super) fn called_at(tables: &Tables<'_>, parked: &ParkedTurn) -> Result<Option<DateTime<Utc>>, Fault> {
    let calls = tables.calls.list(&key::id(parked.turn.id))?;
    let Some(at) = calls.iter().rposition(|call| call.call.id == parked.call.id) else { return Ok(None) };
    let before = at.checked_sub(1).map(|before| calls[before].started_at + TimeDelta::microseconds(1));
    Ok(before.max(Some(calls[at].started_at)))
}

/// The turns of a conversation that wait.
pub(super) fn of_conversation(
    tables: &Tables<'_>,
    conversation: Conversation,
) -> Result<Vec<ParkedTurn>, Fault> {
    let mut all = tables.parked.list(&[])?;
    all.retain(|parked| parked.turn.conversation == conversation);
    Ok(all)
}

/// Gives up what waits in a conversation whose session ends.
pub(crate) fn give_up_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: Conversation,
) -> Result<(), Fault> {
    for parked in of_conversation(tables, conversation)? {
        changes.remove(&tables.parked, key::id(parked.turn.id));
    }
    Ok(())
}

/// Gives a chat's turns that wait to the id it has from now on, and what is to be approved for it, wherever that was asked. A call
/// that names messages of the chat by the numbers they had waits no longer.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), Fault> {
    for before in tables.parked.list(&[])? {
        let mut parked = before.clone();
        if parked.turn.conversation.chat == from {
            parked.turn.conversation.chat = to;
            parked.place.chat = to;
            parked.answer.iter_mut().for_each(|answer| answer.place.chat = to);
        }
        if let Some(approval) = parked.question.approval.as_deref_mut() {
            match approval.moved(Moves { from, to }, before.turn.id, &before.call.id) {
                Some(moved) => *approval = moved,
                None => parked.expires_at = parked.parked_at,
            }
        }
        if parked != before {
            changes.put(&tables.parked, key::id(parked.turn.id), &parked)?;
        }
    }
    Ok(())
}
