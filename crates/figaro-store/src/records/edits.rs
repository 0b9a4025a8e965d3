//! Edits of messages by their writers: updates the stored copies.

use std::collections::HashSet;

use chrono::TimeDelta;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::{index, parked, summaries, vectors};
use figaro_base::ids::RunId;
use figaro_domain::conversation::Message;
use figaro_domain::facts::Unread;
use figaro_domain::importance::{self, By};
use figaro_domain::message::{HearingResult, Inbound};
use figaro_domain::record::ImportanceRules;

/// Maximum newest messages of a conversation searched, in all its sessions together.
const LOOKED_THROUGH: usize = 5_000;
/// Number of messages after which much older ones end the search. Before that they do not: messages of a turn that waited
/// move behind later ones.
const NEAR: usize = 200;

/// Returns the stored messages that an edit changes, with the edit applied. A message that a later attempt replaced keeps
/// the words that its answer is to. The question of a turn in progress or waiting for a person is left out: it continues
/// with what it was asked.
pub(crate) fn find(tables: &Tables<'_>, edited: &Inbound) -> Result<Vec<Message>, StoreFault> {
    let (mut looked, mut found) = (0, Vec::new());
    let before = edited.sent_at - TimeDelta::hours(1);
    let conversation = edited.place.conversation();
    let running = tables.turns.find(&key::conversation(conversation))?.map(|turn| turn.id);
    let parked = parked::of_conversation(tables, conversation)?;
    let busy: HashSet<RunId> = parked.iter().map(|parked| parked.turn.id).chain(running).collect();
    for session in tables.sessions_of.keys_of(&key::conversation(conversation))?.rev() {
        let Some(session) = key::session_in(&session?) else { continue };
        for item in tables.messages.scan(&key::id(session))?.rev() {
            let (_, message) = item?;
            looked += 1;
            if looked > LOOKED_THROUGH || (looked > NEAR && message.created_at < before) {
                return Ok(found);
            }
            if message.turn.is_none_or(|turn| !busy.contains(&turn)) {
                found.extend(with_edit(message, edited));
            }
        }
    }
    Ok(found)
}

/// Writes these messages, and marks the summaries, vectors and index entries made of them as stale. Returns the number of
/// messages.
pub(crate) fn apply(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    edited: &Inbound,
    rules: &ImportanceRules,
) -> Result<usize, StoreFault> {
    let mut found = find(tables, edited)?;
    for message in &mut found {
        let key = key::message(message.session, message.index);
        // Nothing is made of attachments: a live location moves for hours.
        if tables.messages.get(&key)?.is_some_and(|before| before.text == message.text) {
            changes.put(&tables.messages, key, message)?;
            continue;
        }
        message.importance = importance::of_with(By::Person, &message.text, rules);
        summaries::make_stale(tables, changes, message.session, message.index)?;
        vectors::remove(tables, changes, &key);
        index::edited(tables, changes, edited.place.chat, message)?;
        changes.put(&tables.messages, key, message)?;
        let unread = key::of_user(&edited.speaker.user, message.id);
        if let Some(known) = tables.unread.find(&unread)? {
            let foreign = edited.foreign.clone();
            changes.put(&tables.unread, unread, &Unread { foreign, ..known })?;
        }
    }
    Ok(found.len())
}

/// Returns the message with the edit applied; `None` if it is another message, or unchanged.
fn with_edit(message: Message, edited: &Inbound) -> Option<Message> {
    let is_it = message.is_written_in(edited) && !message.replaced;
    let is_changed = message.text != edited.text || message.attachments != edited.attachments;
    // The text of a message that was heard is its words, which an edit of the caption does not have.
    let is_heard = message.attachments.iter().any(|one| one.heard == Some(HearingResult::Words));
    (is_it && is_changed && !is_heard).then(|| message.edited(edited))
}
