//! Writes what the rules in [`figaro_domain::turn`] want changed. Every operation that calls a transition ends here.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::{Outgoing, Tables};
use super::{audit, calls, children, facts, pins, sessions, tasks, updates, vectors};
use figaro_base::ids::{BotId, RunId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::turn::{Change, ChangeSet, Transition};

/// Adds a change set to what the operation writes. Messages that the same operation writes are not removed by it.
pub(crate) fn write(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    set: ChangeSet,
) -> Result<(), Fault> {
    set.into_iter().try_for_each(|change| write_one(tables, changes, bot, change))
}

/// Adds the changes of a transition to what the operation writes. Gives the output of the transition.
pub(crate) fn transition<T>(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    transition: Transition<T>,
) -> Result<T, Fault> {
    write(tables, changes, bot, transition.changes)?;
    Ok(transition.output)
}

fn write_one(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    change: Change,
) -> Result<(), Fault> {
    match change {
        Change::BeginSession(session) => {
            pins::session_began(tables, changes, &session)?;
            sessions::put_current(tables, changes, &session)
        }
        Change::PutSession(session) => changes.put(&tables.sessions, key::id(session.id), &session),
        Change::PutMessage(message) => {
            changes.put(&tables.messages, key::message(message.session, message.index), &message)
        }
        Change::RemoveMessages(first) => {
            pins::take_back(tables, changes, first)?;
            remove_messages(tables, changes, first)
        }
        Change::PinVital(pins) => pins::add_vital(tables, changes, &pins),
        Change::PutTurn(turn) => changes.put(&tables.turns, key::conversation(turn.conversation), &*turn),
        Change::RemoveTurn(conversation) => {
            changes.remove(&tables.turns, key::conversation(conversation));
            Ok(())
        }
        Change::PutDelivery(delivery, answer) => {
            let answer = answer.map(|answer| (answer.session, answer.index));
            changes.put(&tables.deliveries, key::id(delivery.id), &Outgoing { delivery: *delivery, answer })
        }
        Change::RemoveDelivery(delivery) => {
            changes.remove(&tables.deliveries, key::id(delivery));
            Ok(())
        }
        Change::ForgetLive(run) => forget_live(tables, changes, run, 0),
        Change::PutCalls(run, calls) => calls::put(tables, changes, run, &calls),
        Change::EndChildren(turn) => children::end_all(tables, changes, turn),
        Change::RemoveChildren(turn) => children::remove_all(tables, changes, turn),
        Change::PutParked(parked) => changes.put(&tables.parked, key::id(parked.turn.id), &*parked),
        Change::RemoveParked(turn) => {
            changes.remove(&tables.parked, key::id(turn));
            Ok(())
        }
        Change::Settle(updates) => updates::settle(tables, changes, bot, &updates).map(drop),
        Change::PutUnread(unread) => facts::put_unread(tables, changes, &unread),
        Change::UseMemories(used) => facts::use_all(tables, changes, &used),
        Change::ChangeTask(step) => tasks::step(tables, changes, *step),
        Change::Audit(audited) => audit::append(tables, changes, vec![*audited]),
    }
}

fn remove_messages(tables: &Tables<'_>, changes: &mut Changes<'_>, first: EntryKey) -> Result<(), Fault> {
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

/// Forgets the live messages of a turn from this index on.
pub(crate) fn forget_live(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
    from: u32,
) -> Result<(), Fault> {
    let first = key::live(run, from);
    for key in tables.live.keys_of(&key::id(run))? {
        let key = key?;
        if *key >= *first {
            changes.remove(&tables.live, key);
        }
    }
    Ok(())
}
