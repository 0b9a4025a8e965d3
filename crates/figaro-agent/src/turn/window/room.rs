//! Division of a conversation's tokens between its newest messages and older ones that relate to the question.
//!
//! Within a sitting the newest messages get most of the room and stay the same from request to request, so that the
//! provider's cache hits. After a pause the cache is empty, so most of the room goes to older messages.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::build::RenderContext;
use super::history::{History, items_of, within_budget};
use figaro_domain::conversation::{Message, MessageRole, begins_exchange};
use figaro_prompts::Prompts;
use figaro_provider::Item;

/// Longer pauses end a sitting: providers keep their cache for 5 to 10 minutes.
const PAUSE: TimeDelta = TimeDelta::minutes(10);
/// After longer pauses a new topic is assumed: earlier messages are limited to their share of the room.
const LONG_PAUSE: TimeDelta = TimeDelta::hours(3);
/// Divisor of the room that is reserved for older messages within a sitting.
const PARTS_OF_OLDER: usize = 5;
/// Share of the room for messages before the sitting, at its beginning.
const SHARE_BEFORE: f64 = 0.25;
/// Divisor of the room that the last exchange before the sitting may use. People continue from its answer, and a model
/// that calls no tools cannot look up its middle.
const PARTS_OF_LAST: usize = 2;
/// Maximum number of tokens of a tool result that count for it.
const RESULT_TOKENS: usize = 150;

/// Number of tokens of the conversation in a request, and their division.
#[derive(Debug, Clone, Copy)]
pub struct TokenBudget {
    pub(crate) tokens: usize,
    /// Share of messages before this sitting, from 0 to 1.
    pub share_before: f64,
}

impl TokenBudget {
    /// Creates a room of this many tokens, with the default division.
    #[must_use]
    pub const fn of(tokens: usize) -> Self {
        Self { tokens, share_before: SHARE_BEFORE }
    }

    /// Returns the room reduced by the tokens of other content.
    #[must_use]
    pub(crate) const fn without(self, tokens: usize) -> Self {
        Self { tokens: self.tokens.saturating_sub(tokens), ..self }
    }

    /// Returns the number of tokens for older messages beside the newest ones, for a question at this time.
    #[must_use]
    pub(crate) fn for_older(
        &self,
        recent: &History,
        history: &[Arc<Message>],
        asked_at: DateTime<Utc>,
    ) -> usize {
        let left = self.tokens.saturating_sub(recent.tokens);
        let goes_on = history.last().is_some_and(|last| asked_at - last.created_at <= PAUSE);
        if goes_on { left.min(self.tokens / PARTS_OF_OLDER) } else { left }
    }

    /// Returns the number of tokens for messages before this sitting, which are always shown.
    #[must_use]
    pub const fn before(&self) -> usize {
        (self.tokens as f64 * self.share_before) as usize
    }
}

/// Returns the newest exchanges of a session that fit into the room.
///
/// # Errors
/// If a custom prompt template cannot be rendered.
pub(crate) fn recent(
    prompts: &Prompts,
    history: &[Arc<Message>],
    stored: RenderContext<'_>,
    room: TokenBudget,
    asked_at: DateTime<Utc>,
) -> Result<History, String> {
    let render = |message: &Message| -> Result<Item, String> { stored.render(prompts, message) };
    let most = match room.share_before {
        // Only older messages are wanted.
        share if share <= 0.0 => 0,
        _ => room.tokens - room.tokens / PARTS_OF_OLDER,
    };
    let whole = within_budget(history, most, &render)?;
    let begin = sitting(history, asked_at);
    let from = |history: &History| history.from.unwrap_or(u32::MAX);
    let is_all = whole.from == history.first().map(|first| first.index);
    let begins_at = history.get(begin).map_or(asked_at, |first| first.created_at);
    let is_new = begin > 0 && begins_at - history[begin - 1].created_at > LONG_PAUSE;
    if begin == 0 || is_all && !(is_new && whole.is_short) {
        return Ok(whole);
    }
    let last = last_exchange(&history[..begin], &render)?.min(most / PARTS_OF_LAST);
    let before = within_budget(&history[..begin], room.before().min(most).max(last), &render)?;
    if is_new {
        let sitting = within_budget(&history[begin..], most - before.tokens, &render)?;
        if sitting.from == history.get(begin).map(|first| first.index) {
            return Ok(before.then(sitting));
        }
    }
    let start = match before.from {
        Some(first) => first,
        None => history.get(begin).map_or(u32::MAX, |first| first.index),
    };
    if start <= from(&whole) {
        return Ok(whole);
    }
    let cut = history.partition_point(|message| message.index < start);
    within_budget(&history[cut..], most, &render)
}

/// Returns the tokens of the last exchange; tool results count only up to [`RESULT_TOKENS`].
fn last_exchange(
    history: &[Arc<Message>],
    render: &impl Fn(&Message) -> Result<Item, String>,
) -> Result<usize, String> {
    let from = (0..history.len()).rev().find(|at| begins_exchange(history, *at)).unwrap_or(0);
    let tokens = |mut item: Item| match &mut item {
        Item::ToolResult { .. } => item.estimate_tokens().min(RESULT_TOKENS),
        Item::Assistant { private, .. } => {
            private.clear();
            item.estimate_tokens()
        }
        Item::User { .. } => item.estimate_tokens(),
    };
    Ok(items_of(&history[from..], render)?.into_iter().map(tokens).sum())
}

/// Returns the start of the sitting that a question at this time belongs to: after the last pause before a person's
/// message.
fn sitting(history: &[Arc<Message>], asked_at: DateTime<Utc>) -> usize {
    if history.last().is_some_and(|last| asked_at - last.created_at > PAUSE) {
        return history.len();
    }
    let begins = |at: &usize| {
        history[*at].role == MessageRole::User && history[*at].created_at - history[at - 1].created_at > PAUSE
    };
    (1..history.len()).rev().find(begins).unwrap_or(0)
}
