//! Turns that wait for a person.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::Tables;
use super::{SledStore, key, sessions, turns, write};
use crate::domain::conversation::{Conversation, Message};
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::Inbound;
use crate::domain::turn::{self, ActiveTurn, ParkedTurn, StoredParked};
use crate::ids::{ChatId, RunId};
use crate::store::{ParkedStore, Result};

#[async_trait]
impl ParkedStore for SledStore {
    async fn parked_turns(&self) -> Result<Vec<ParkedTurn>> {
        self.read("read the turns that wait", |tables| tables.parked.list(&[])).await
    }

    async fn answer_parked(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>> {
        let (bot, part) = (self.bot(), part.clone());
        self.change_durably("store an answer", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
            write::transition(tables, changes, bot, turn::answer(parked, part))
        })
        .await
    }

    async fn unpark(&self, run: RunId, now: DateTime<Utc>) -> Result<Option<(ActiveTurn, Vec<Message>)>> {
        let bot = self.bot();
        self.change_durably("go on with a turn", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
            let standing = turns::standing(tables, parked.turn.conversation)?;
            let stored = StoredParked {
                called_at: called_at(tables, &parked)?,
                messages: messages(tables, &parked)?,
                tail: sessions::tail(tables, parked.turn.session)?,
                parked,
            };
            let begun = write::transition(tables, changes, bot, turn::go_on(standing, stored, now))?;
            begun.iter().for_each(turns::log_gave_way);
            Ok(begun.map(|begun| (begun.turn, begun.question)))
        })
        .await
    }

    async fn give_up_parked(&self, run: RunId, words: Option<PendingDelivery>) -> Result<bool> {
        let bot = self.bot();
        self.change_durably("give a turn up", move |tables, changes| {
            let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(false) };
            write::write(tables, changes, bot, turn::give_up(&parked, words))?;
            Ok(parked.answer.is_none())
        })
        .await
    }
}

/// The messages of a parked turn, its question to the person among them.
fn messages(tables: &Tables, parked: &ParkedTurn) -> Result<Vec<Message>, Fault> {
    let mut found = Vec::new();
    for item in tables.messages.scan(&key::id(parked.turn.session)).rev() {
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
fn called_at(tables: &Tables, parked: &ParkedTurn) -> Result<Option<DateTime<Utc>>, Fault> {
    let calls = tables.calls.list(&key::id(parked.turn.id))?;
    let Some(at) = calls.iter().rposition(|call| call.call.id == parked.call.id) else { return Ok(None) };
    let before = at.checked_sub(1).map(|before| calls[before].started_at + TimeDelta::microseconds(1));
    Ok(before.max(Some(calls[at].started_at)))
}

/// The turns of a conversation that wait.
pub(super) fn of_conversation(tables: &Tables, conversation: Conversation) -> Result<Vec<ParkedTurn>, Fault> {
    let mut all = tables.parked.list(&[])?;
    all.retain(|parked| parked.turn.conversation == conversation);
    Ok(all)
}

/// Gives up what waits in a conversation whose session ends.
pub(super) fn give_up_all(
    tables: &Tables,
    changes: &mut Changes,
    conversation: Conversation,
) -> Result<(), Fault> {
    for parked in of_conversation(tables, conversation)? {
        changes.remove(&tables.parked, key::id(parked.turn.id));
    }
    Ok(())
}

/// Gives a chat's turns that wait to the id it has from now on.
pub(super) fn migrate(tables: &Tables, changes: &mut Changes, from: ChatId, to: ChatId) -> Result<(), Fault> {
    for mut parked in tables.parked.list(&[])? {
        if parked.turn.conversation.chat == from {
            parked.turn.conversation.chat = to;
            parked.place.chat = to;
            parked.answer.iter_mut().for_each(|answer| answer.place.chat = to);
            changes.put(&tables.parked, key::id(parked.turn.id), &parked)?;
        }
    }
    Ok(())
}
