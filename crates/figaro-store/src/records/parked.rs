//! Turns that wait for a person, by id.

use chrono::{DateTime, TimeDelta, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::ChatId;
use figaro_domain::approval::Moves;
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::turn::ParkedTurn;

/// Returns the messages of a parked turn, its question to the person included.
pub(super) fn messages(tables: &Tables<'_>, parked: &ParkedTurn) -> Result<Vec<Message>, StoreFault> {
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

/// Returns when the call that a turn waits with was made: never before the end of the previous call, which renewed its
/// record.
pub(super) fn called_at(
    tables: &Tables<'_>,
    parked: &ParkedTurn,
) -> Result<Option<DateTime<Utc>>, StoreFault> {
    let calls = tables.calls.list(&key::id(parked.turn.id))?;
    let Some(at) = calls.iter().rposition(|call| call.call.id == parked.call.id) else { return Ok(None) };
    let before = at.checked_sub(1).map(|before| calls[before].started_at + TimeDelta::microseconds(1));
    Ok(before.max(Some(calls[at].started_at)))
}

/// Returns the waiting turns of a conversation.
pub(super) fn of_conversation(
    tables: &Tables<'_>,
    conversation: ConversationId,
) -> Result<Vec<ParkedTurn>, StoreFault> {
    let mut all = tables.parked.list(&[])?;
    all.retain(|parked| parked.turn.conversation == conversation);
    Ok(all)
}

/// Gives up waiting turns in a conversation whose session ends.
pub(crate) fn give_up_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    conversation: ConversationId,
) -> Result<(), StoreFault> {
    for parked in of_conversation(tables, conversation)? {
        changes.remove(&tables.parked, key::id(parked.turn.id));
    }
    Ok(())
}

/// Moves the waiting turns of a chat to its new id, and approvals for it wherever they were asked. A call that names
/// messages by their old ids no longer waits.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
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
