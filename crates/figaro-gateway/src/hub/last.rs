//! Checks that returned results belong to the last question of their session.

use std::sync::Arc;

use super::super::handover::CallIdPrefix;
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_store::Result;
use figaro_store::Store;

/// Number of recent messages that are searched; a turn has fewer.
const LOOKED_AT: usize = 1_000;

/// Returns `true` if the last question of a conversation handed over the calls with this prefix, in its last attempt
/// or an earlier one. A caller who lost the answer sends the results again.
///
/// # Errors
/// If the store fails.
pub(super) fn has_left(store: &Store, conversation: ConversationId, mark: &CallIdPrefix) -> Result<bool> {
    let Some(session) = store.sessions().current(conversation)? else { return Ok(false) };
    let recent = store.conversations().recent(session, LOOKED_AT)?;
    let is_of = |message: &Arc<Message>| message.turn.is_some_and(|turn| CallIdPrefix::of(turn) == *mark);
    let Some(at) = recent.iter().rposition(|message| message.role == MessageRole::User) else {
        return Ok(false);
    };
    let (before, exchange) = recent.split_at(at);
    let Some(question) = exchange.first() else { return Ok(false) };
    if is_of(question) {
        return Ok(true);
    }
    // Replaced attempts stand between the messages before the question and the last attempt.
    let from = before.last().map_or(0, |last| last.index.saturating_add(1));
    let between = store.messages().messages_from(session, from, LOOKED_AT)?;
    Ok(between.iter().any(|message| message.replaced && message.index < question.index && is_of(message)))
}
