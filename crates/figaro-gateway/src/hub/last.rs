//! Whether calls that come back with results are those of the last question of their session.

use std::sync::Arc;

use super::super::handover::Mark;
use figaro_domain::conversation::{Conversation, Message, Role};
use figaro_store::Result;
use figaro_store::Store;

/// So many messages of a session are looked at: a turn has fewer.
const LOOKED_AT: usize = 1_000;

/// Whether the last question of a conversation has left the calls with this mark, in its last try or in one before it: whoever
/// lost the answer to their results sends these again.
///
/// # Errors
/// When the store fails.
pub(super) async fn has_left(store: &Store, conversation: Conversation, mark: &Mark) -> Result<bool> {
    let Some(session) = store.sessions().current(conversation).await? else { return Ok(false) };
    let recent = store.conversations().recent(session, LOOKED_AT).await?;
    let is_of = |message: &Arc<Message>| message.turn.is_some_and(|turn| Mark::of(turn) == *mark);
    let Some(at) = recent.iter().rposition(|message| message.role == Role::User) else { return Ok(false) };
    let (before, exchange) = recent.split_at(at);
    let Some(question) = exchange.first() else { return Ok(false) };
    if is_of(question) {
        return Ok(true);
    }
    // Tries that were replaced stand between what was said before and the last one.
    let from = before.last().map_or(0, |last| last.index.saturating_add(1));
    let between = store.messages().messages_from(session, from, LOOKED_AT).await?;
    Ok(between.iter().any(|message| message.replaced && message.index < question.index && is_of(message)))
}
