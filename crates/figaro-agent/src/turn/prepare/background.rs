//! Messages around a question that did not address the bot.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::super::question::Question;
use figaro_domain::catch_up::{CatchUp, KEPT_BACKGROUND};
use figaro_domain::conversation::Message;
use figaro_domain::message::Inbound;
use figaro_domain::turn::ActiveTurn;
use figaro_store::{ConversationStore, StoreError};

/// Maximum age of background messages; the next constant limits their number.
const BACKGROUND_HOURS: i64 = 24;
const BACKGROUND_MESSAGES: usize = 30;

/// Returns the messages that the question asks about, or the latest; oldest first.
pub(super) fn background(
    conversations: &ConversationStore,
    turn: &ActiveTurn,
    question: &Question,
    now: DateTime<Utc>,
) -> Result<Vec<Inbound>, StoreError> {
    let (since, limit) = match about(question) {
        Some(about) => (about.after.map_or(DateTime::UNIX_EPOCH, |after| after.at), KEPT_BACKGROUND),
        None => (now - TimeDelta::hours(BACKGROUND_HOURS), BACKGROUND_MESSAGES),
    };
    conversations.background(turn.conversation, since, limit)
}

/// Returns the messages that are shown around the question: the background, and if it asks about them, those of the
/// conversation too.
pub(super) fn said_around(
    question: &Question,
    background: &[Inbound],
    history: &[Arc<Message>],
) -> Vec<Inbound> {
    match (about(question), question.parts.first()) {
        (Some(about), Some(first)) => about.of(background.to_vec(), history, &first.place),
        _ => background.to_vec(),
    }
}

fn about(question: &Question) -> Option<&CatchUp> {
    question.parts.iter().find_map(|part| part.about.as_ref())
}
