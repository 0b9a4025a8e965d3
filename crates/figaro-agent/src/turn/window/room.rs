//! How the tokens of a conversation are divided between its newest messages and older ones that bear on the question.
//!
//! Within a sitting the newest messages have most of it, and go on from request to request, so that the provider finds in its
//! cache what it has seen before. After a pause nothing is in its cache any more: then most of the room goes to older
//! messages.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::build::Stored;
use super::history::{History, items_of, within_budget};
use figaro_domain::conversation::{Message, Role, begins_exchange};
use figaro_prompts::Prompts;
use figaro_provider::Item;

/// A pause longer than this ends a sitting: providers keep what they have seen for 5 to 10 minutes.
const PAUSE: TimeDelta = TimeDelta::minutes(10);
/// After a longer one a new matter begins: what was said before it keeps to its part of the room.
const LONG_PAUSE: TimeDelta = TimeDelta::hours(3);
/// Of the whole room one part of so many is left to older messages within a sitting.
const PARTS_OF_OLDER: usize = 5;
/// At the beginning of a sitting the messages before it have this part of the room.
const SHARE_BEFORE: f64 = 0.25;
/// The last exchange before it may have one part of so many: its answer is what people go on about, and a model that calls no
/// tools cannot look up the middle of it.
const PARTS_OF_LAST: usize = 2;
/// So many tokens of a result of a tool are part of that.
const RESULT_TOKENS: usize = 150;

/// How many tokens of the conversation a request may carry, and how they are divided.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// All of them.
    pub(crate) tokens: usize,
    /// The part of them that messages before this sitting have, from 0 to 1.
    pub share_before: f64,
}

impl Room {
    /// So many tokens, divided as a bot divides them.
    #[must_use]
    pub const fn of(tokens: usize) -> Self {
        Self { tokens, share_before: SHARE_BEFORE }
    }

    /// The same room without what other things take of it.
    #[must_use]
    pub(crate) const fn without(self, tokens: usize) -> Self {
        Self { tokens: self.tokens.saturating_sub(tokens), ..self }
    }

    /// How many older messages may take beside the newest ones, when a question is asked at this time.
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

    /// How many tokens messages before this sitting have: so many are shown in every case.
    #[must_use]
    pub const fn before(&self) -> usize {
        (self.tokens as f64 * self.share_before) as usize
    }
}

/// The newest exchanges of a session, as many as have room.
///
/// # Errors
/// A prompt template of the owner's that does not render.
pub(crate) fn recent(
    prompts: &Prompts,
    history: &[Arc<Message>],
    stored: Stored<'_>,
    room: Room,
    asked_at: DateTime<Utc>,
) -> Result<History, String> {
    let render = |message: &Message| -> Result<Item, String> { stored.render(prompts, message) };
    let most = match room.share_before {
        // Nothing but older messages is asked for.
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

/// The tokens of what a person and the bot said last, and of the beginnings of what its tools gave.
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

/// Where the sitting begins that a question at this time belongs to: behind the last long pause before a person's words.
fn sitting(history: &[Arc<Message>], asked_at: DateTime<Utc>) -> usize {
    if history.last().is_some_and(|last| asked_at - last.created_at > PAUSE) {
        return history.len();
    }
    let begins = |at: &usize| {
        history[*at].role == Role::User && history[*at].created_at - history[at - 1].created_at > PAUSE
    };
    (1..history.len()).rev().find(begins).unwrap_or(0)
}
