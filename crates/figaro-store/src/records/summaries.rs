//! Summaries and the messages that they cover: the next to make, the ones that may be stored, the stale ones.

use std::sync::Arc;

use super::super::changes::Changes;
use super::super::decoded::Decoded;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use crate::engine::Keys;
use figaro_base::ids::{SessionId, SummaryId};
use figaro_domain::conversation::{Message, Session};
use figaro_domain::summary::MessageRange;
use figaro_domain::summary::{Summary, SummaryJob, to_be_made_again};

/// Messages of a session to be summarised.
#[derive(Debug, Clone)]
pub struct Unsummarised {
    /// The session as stored when the messages were read.
    pub session: Session,
    /// Range with priority: its summary is stale or missing.
    pub again: Option<MessageRange>,
    /// Messages of that range or, without one, the oldest that no summary covers. Excludes messages that may still be
    /// taken back, includes those that a later try replaced.
    pub messages: Vec<Arc<Message>>,
    /// `true` if more messages follow.
    pub has_more: bool,
    /// Total number of messages to be summarised.
    pub left: u32,
}

/// Returns the messages of a session to be summarised; `None` if there is no such session.
pub(crate) fn unsummarised(
    tables: &Tables<'_>,
    decoded: &Decoded<Message>,
    session: SessionId,
    limit: usize,
) -> Result<Option<Unsummarised>, StoreFault> {
    let Some(session) = tables.sessions.find(&key::id(session))? else { return Ok(None) };
    let summaries = tables.summaries.list(&key::id(session.id))?;
    let again = to_be_made_again(&summaries);
    let (start, end) = match again {
        Some(run) => (run.start, run.end.saturating_add(1)),
        None => (next_of(&summaries), end_of(tables, &session)?),
    };
    let range = Keys::from(key::message(session.id, start), &key::id(session.id));
    let (mut messages, mut has_more) = (Vec::new(), false);
    for item in tables.messages.list_decoded(&range, decoded)? {
        let message = item?;
        if message.index >= end {
            break;
        }
        // A range that is made again is read whole.
        has_more = again.is_none() && messages.len() >= limit;
        if has_more {
            break;
        }
        messages.push(message);
    }
    Ok(Some(Unsummarised { session, again, messages, has_more, left: end.saturating_sub(start) }))
}

/// Stores a summary if it fits beside the others and its messages are unchanged: erased or edited words must not come
/// back.
pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    decoded: &Decoded<Message>,
    summary: &Summary,
    made_of: &[Arc<Message>],
) -> Result<bool, StoreFault> {
    let Some(session) = tables.sessions.find(&key::id(summary.session))? else { return Ok(false) };
    let others = tables.summaries.list(&key::id(session.id))?;
    for read in made_of {
        let there = tables.messages.find_decoded(&key::message(session.id, read.index), decoded)?;
        if there.is_none_or(|there| there.id != read.id || there.text != read.text) {
            return Ok(false);
        }
    }
    let summary = &Summary { start: first_of(tables, summary, &others)?, ..summary.clone() };
    let fits = summary.fits(&others, end_of(tables, &session)?);
    if fits {
        changes.put(&tables.summaries, key::message(session.id, summary.start), summary)?;
    }
    Ok(fits)
}

/// Returns the start of a summary: messages erased between it and the one before it leave no gap.
fn first_of(tables: &Tables<'_>, summary: &Summary, others: &[Summary]) -> Result<u32, StoreFault> {
    let next = next_of(others);
    if summary.start <= next {
        return Ok(summary.start);
    }
    let range = Keys::from(key::message(summary.session, next), &key::id(summary.session));
    let first = tables.messages.keys(range)?.next().transpose()?;
    let is_erased = first.and_then(|key| key::index_of(&key)).is_none_or(|index| index >= summary.start);
    Ok(if is_erased { next } else { summary.start })
}

/// Clears the summary that covers a message and marks it as stale; `false` if none covers it. Every change or erasure of
/// a stored message calls this in the same write.
pub(crate) fn make_stale(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: SessionId,
    index: u32,
) -> Result<bool, StoreFault> {
    clear(tables, changes, session, |summary| summary.covers(index))
}

/// Clears the summary with this id and marks it as stale; `false` if there is none with words.
pub(crate) fn erase(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: SessionId,
    id: SummaryId,
) -> Result<bool, StoreFault> {
    clear(tables, changes, session, |summary| summary.id == id && !summary.is_stale())
}

fn clear(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: SessionId,
    is_it: impl Fn(&Summary) -> bool,
) -> Result<bool, StoreFault> {
    let Some(found) = tables.summaries.list(&key::id(session))?.into_iter().find(is_it) else {
        return Ok(false);
    };
    changes.put(&tables.summaries, key::message(session, found.start), &found.without_words())?;
    changes.put(&tables.summary_jobs, key::id(session), &SummaryJob::new(session))?;
    Ok(true)
}

/// Returns the index after the last covered message.
fn next_of(summaries: &[Summary]) -> u32 {
    summaries.last().map_or(0, |last| last.end.saturating_add(1))
}

/// Returns the index after the last permanent message: messages of a turn in progress may be taken back.
fn end_of(tables: &Tables<'_>, session: &Session) -> Result<u32, StoreFault> {
    let turn = tables.turns.find(&key::conversation(session.conversation))?;
    match turn.filter(|turn| turn.session == session.id) {
        Some(turn) => Ok(turn.first_index),
        None => tables.messages.next_index(&key::id(session.id)),
    }
}
