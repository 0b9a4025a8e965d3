//! Writes the changes that the rules in [`figaro_domain::turn`] return. Every operation that calls a transition ends
//! here.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::{DeliveryRecord, Tables};
use super::{audit, calls, children, facts, pins, sessions, tasks, updates, vectors};
use figaro_base::ids::{BotId, RunId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::turn::{ChangeSet, Transition, TurnChange};

/// Adds a change set to the writes of the operation. It does not remove messages that the same operation writes.
pub(crate) fn write(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    set: ChangeSet,
) -> Result<(), StoreFault> {
    set.into_iter().try_for_each(|change| write_one(tables, changes, bot, change))
}

/// Adds the changes of a transition to the writes of the operation. Returns the output of the transition.
pub(crate) fn transition<T>(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    transition: Transition<T>,
) -> Result<T, StoreFault> {
    write(tables, changes, bot, transition.changes)?;
    Ok(transition.output)
}

fn write_one(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    change: TurnChange,
) -> Result<(), StoreFault> {
    match change {
        TurnChange::BeginSession(session) => {
            pins::session_began(tables, changes, &session)?;
            sessions::put_current(tables, changes, &session)
        }
        TurnChange::PutSession(session) => changes.put(&tables.sessions, key::id(session.id), &session),
        TurnChange::PutMessage(message) => {
            changes.put(&tables.messages, key::message(message.session, message.index), &message)
        }
        TurnChange::RemoveMessages(first) => {
            pins::take_back(tables, changes, first)?;
            remove_messages(tables, changes, first)
        }
        TurnChange::PinVital(pins) => pins::add_vital(tables, changes, &pins),
        TurnChange::PutTurn(turn) => changes.put(&tables.turns, key::conversation(turn.conversation), &*turn),
        TurnChange::RemoveTurn(conversation) => {
            changes.remove(&tables.turns, key::conversation(conversation));
            Ok(())
        }
        TurnChange::PutDelivery(delivery, answer) => {
            let answer = answer.map(|answer| (answer.session, answer.index));
            changes.put(
                &tables.deliveries,
                key::id(delivery.id),
                &DeliveryRecord { delivery: *delivery, answer },
            )
        }
        TurnChange::RemoveDelivery(delivery) => {
            changes.remove(&tables.deliveries, key::id(delivery));
            Ok(())
        }
        TurnChange::PutLive(live) => changes.put(&tables.live, key::live(live.run, live.index), &live),
        TurnChange::ForgetLive(run) => forget_live(tables, changes, run, 0),
        TurnChange::PutCalls(run, calls) => calls::put(tables, changes, run, &calls),
        TurnChange::EndChildren(turn) => children::end_all(tables, changes, turn),
        TurnChange::RemoveChildren(turn) => children::remove_all(tables, changes, turn),
        TurnChange::PutParked(parked) => changes.put(&tables.parked, key::id(parked.turn.id), &*parked),
        TurnChange::RemoveParked(turn) => {
            changes.remove(&tables.parked, key::id(turn));
            Ok(())
        }
        TurnChange::Settle(updates) => updates::settle(tables, changes, bot, &updates).map(drop),
        TurnChange::PutUnread(unread) => facts::put_unread(tables, changes, &unread),
        TurnChange::UseMemories(used) => facts::use_all(tables, changes, &used),
        TurnChange::ChangeTask(step) => tasks::step(tables, changes, *step),
        TurnChange::Audit(audited) => audit::append(tables, changes, vec![*audited]),
    }
}

fn remove_messages(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    first: EntryKey,
) -> Result<(), StoreFault> {
    for key in tables.messages.keys_of(&key::id(first.session))?.rev() {
        let key = key?;
        if key::index_of(&key).is_none_or(|index| index < first.index) {
            break;
        }
        if let Some(message) = tables.messages.find(&key)? {
            facts::lose_source(tables, changes, &message)?;
        }
        vectors::remove_message(tables, changes, key);
    }
    Ok(())
}

/// Deletes the live messages of a turn from this index on.
pub(crate) fn forget_live(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
    from: u32,
) -> Result<(), StoreFault> {
    let first = key::live(run, from);
    for key in tables.live.keys_of(&key::id(run))? {
        let key = key?;
        if *key >= *first {
            changes.remove(&tables.live, key);
        }
    }
    Ok(())
}
