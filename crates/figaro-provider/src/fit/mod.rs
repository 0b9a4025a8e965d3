//! Shortens a conversation until it fits into a number of tokens. The question is cut last. Does no I/O. Called for
//! the newest exchange of a history, and for the context of a model.

use std::cmp::Ordering;
use std::ops::Range;

use serde_json::Value;

use super::request::{Earlier, Item, Measure, Request};
use figaro_base::text::{cut_middle, keep_ends, most_tokens};
use figaro_domain::conversation::EntryKey;

/// Minimum number of tokens that a text is cut to.
const MIN_TOKENS: usize = 100;
/// Characters kept at each end of a long text in the arguments of a call.
const ARGUMENT_CHARS: usize = 80;

/// Part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationPart {
    /// Message, pass or result. Shortening changes it.
    pub item: Item,
    /// Place in the conversation; it decides how far the part may be cut.
    pub stage: Stage,
    /// Key for looking up the whole part; `None` if that is impossible.
    pub key: Option<EntryKey>,
}

/// Place of a part in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Kept note, such as a pin. It stays whole nearly to the last.
    Kept,
    /// Part of a past exchange.
    Earlier,
    /// Question of the conversation. It is cut last.
    Question,
    /// Part of the turn in progress. Its calls stay: a model that does not see what it has done does it again.
    Turn,
}

/// Shortens parts until they take at most `budget` tokens by `count`. The order is: pictures and opaque parts of past
/// exchanges; the oldest results of tools, arguments of calls and long texts; calls of past exchanges; last, the
/// question's pictures, its surroundings, and the middle of its text. A cut text keeps its start and its end, an
/// answer mostly its end. Returns `true` if the parts fit.
pub fn shrink(parts: &mut Vec<ConversationPart>, budget: usize, count: fn(&str) -> usize) -> bool {
    let costs = parts.iter().map(|part| part.item.tokens(count)).collect();
    let mut shrinking = Shrinking { parts, costs, budget, count };
    shrinking.shrink();
    shrinking.excess() == 0
}

/// Removes pictures of results, oldest first, until the rest have at most `most` characters in base64. Every further
/// pass carries them all. A result that loses its pictures says so.
pub fn bound_pictures(items: &mut [Item], most: usize) {
    let mut left = most;
    for item in items.iter_mut().rev() {
        let Item::ToolResult { output, media, .. } = item else { continue };
        match left.checked_sub(media.iter().map(|image| image.base64.len()).sum()) {
            Some(rest) => left = rest,
            None => {
                output.push_str(&left_out(media.len()));
                media.clear();
                left = 0;
            }
        }
    }
}

/// Removes all pictures of results, because the model's service may have refused one. Returns `false` if there are
/// none. So a damaged picture of a server fails its call and not the turn.
pub fn drop_pictures(items: &mut [Item]) -> bool {
    let mut had_some = false;
    for item in items {
        let Item::ToolResult { output, media, .. } = item else { continue };
        if !media.is_empty() {
            output.push_str(&format!(
                "\n[pictures that the service of the model did not take: {}]",
                media.len()
            ));
            media.clear();
            had_some = true;
        }
    }
    had_some
}

/// Shortens a request until it takes at most `room` tokens in any vocabulary. The oldest of the past exchanges are
/// left out; the newest one and the turn in progress are cut as in [`shrink`]. If that is not enough, all past
/// exchanges go. A request that is still too long is refused by its provider.
pub(crate) fn fit(request: &mut Request, room: usize) {
    // Counting takes time, and most requests do not need it.
    if request.token_bound() <= room {
        return;
    }
    // English and JSON take much the same in all vocabularies.
    let frame = request.frame_tokens(Measure::Estimate);
    let budget = room.saturating_sub(frame + frame / 4);
    let mut parts = request.take_parts();
    let mut tokens = parts.iter().map(|part| part.item.tokens(most_tokens)).sum::<usize>();
    let before = tokens;
    let kept = parts.iter().filter(|part| part.stage == Stage::Kept).count();
    while tokens > budget
        && let Some(next) = second_exchange(&parts)
    {
        tokens -= parts.drain(kept..next).map(|part| part.item.tokens(most_tokens)).sum::<usize>();
    }
    if tokens > budget {
        let whole = parts.clone();
        if !shrink(&mut parts, budget, most_tokens) {
            parts = whole.into_iter().filter(|part| part.stage != Stage::Earlier).collect();
            shrink(&mut parts, budget, most_tokens);
        }
    }
    if before > budget {
        tracing::info!(model = request.model, room, before, "a conversation was shortened for a model");
    }
    request.put_parts(parts);
}

impl Request {
    /// Takes the conversation out of the request, as parts that can be cut.
    fn take_parts(&mut self) -> Vec<ConversationPart> {
        let earlier = std::mem::take(&mut self.earlier);
        let (kept, over) = (earlier.kept, earlier.keys.len());
        let keys = earlier.keys.into_iter().chain(std::iter::repeat(None));
        let stage = |at: usize| match at.cmp(&over) {
            _ if at < kept => Stage::Kept,
            Ordering::Less => Stage::Earlier,
            Ordering::Equal => Stage::Question,
            Ordering::Greater => Stage::Turn,
        };
        let items = std::mem::take(&mut self.items).into_iter().zip(keys).enumerate();
        items.map(|(at, (item, key))| ConversationPart { item, stage: stage(at), key }).collect()
    }

    fn put_parts(&mut self, parts: Vec<ConversationPart>) {
        let kept = parts.iter().filter(|part| part.stage == Stage::Kept).count();
        let over = parts.iter().take_while(|part| matches!(part.stage, Stage::Kept | Stage::Earlier));
        self.earlier = Earlier { keys: over.map(|part| part.key).collect(), kept };
        self.items = parts.into_iter().map(|part| part.item).collect();
    }
}

/// Returns the index where the second of the past exchanges begins: the first user's message after another kind of
/// item.
fn second_exchange(parts: &[ConversationPart]) -> Option<usize> {
    let kept = parts.iter().take_while(|part| part.stage == Stage::Kept).count();
    let earlier = kept + parts[kept..].iter().take_while(|part| part.stage == Stage::Earlier).count();
    let is_user = |at: usize| matches!(parts[at].item, Item::User { .. });
    (kept + 1..earlier).find(|at| is_user(*at) && !is_user(at - 1))
}

struct Shrinking<'a> {
    parts: &'a mut Vec<ConversationPart>,
    /// Tokens of each part.
    costs: Vec<usize>,
    budget: usize,
    count: fn(&str) -> usize,
}

impl Shrinking<'_> {
    fn shrink(&mut self) {
        let is_over = |part: &ConversationPart| part.stage == Stage::Earlier;
        let is_question = |part: &ConversationPart| part.stage == Stage::Question;
        let is_result = |part: &ConversationPart| matches!(part.item, Item::ToolResult { .. });
        // A user's item within the turn in progress is Figaro's own text.
        let is_long = |part: &ConversationPart| match part.item {
            Item::User { .. } => is_over(part),
            Item::Assistant { .. } => true,
            Item::ToolResult { .. } => false,
        };
        self.each(is_over, |part, _, _| part.leave_out_unseen());
        self.each(is_result, ConversationPart::cut);
        self.each(|_: &ConversationPart| true, |part, _, _| part.cut_arguments());
        self.each(is_long, ConversationPart::cut);
        while self.excess() > 0 && self.leave_out_calls() {}
        self.each(|_: &ConversationPart| true, |part, _, _| part.leave_out_unseen());
        self.each(is_question, |part, _, _| part.leave_out_surroundings());
        self.each(|part: &ConversationPart| part.stage == Stage::Kept, ConversationPart::cut);
        self.each(is_question, ConversationPart::cut);
    }

    /// Applies a change to each matching part, oldest first, until all fit. `change` receives the tokens that the
    /// part may take.
    fn each(
        &mut self,
        is_one: impl Fn(&ConversationPart) -> bool,
        change: impl Fn(&mut ConversationPart, usize, fn(&str) -> usize),
    ) {
        for at in 0..self.parts.len() {
            let excess = self.excess();
            if excess == 0 {
                return;
            }
            if is_one(&self.parts[at]) {
                let allowed = self.costs[at].saturating_sub(excess);
                change(&mut self.parts[at], allowed, self.count);
                self.costs[at] = self.parts[at].item.tokens(self.count);
            }
        }
    }

    fn excess(&self) -> usize {
        self.costs.iter().sum::<usize>().saturating_sub(self.budget)
    }

    /// Removes the oldest calls of past exchanges with the text before them and their results. Returns `false` if
    /// there are none.
    fn leave_out_calls(&mut self) -> bool {
        let has_calls = |part: &ConversationPart| {
            let item = &part.item;
            part.stage == Stage::Earlier && matches!(item, Item::Assistant { calls, .. } if !calls.is_empty())
        };
        let Some(at) = self.parts.iter().position(has_calls) else { return false };
        let is_result = |part: &&ConversationPart| matches!(part.item, Item::ToolResult { .. });
        let results = self.parts[at + 1..].iter().take_while(is_result).count();
        self.parts.drain(at..=at + results);
        self.costs.drain(at..=at + results);
        true
    }
}

fn left_out(pictures: usize) -> String {
    format!("\n[pictures or sounds left out because there is no room: {pictures}]")
}

impl ConversationPart {
    /// Removes what is not text: pictures and opaque parts. A question that is not stored anywhere says so.
    pub fn leave_out_unseen(&mut self) {
        match &mut self.item {
            Item::User { text, media } => {
                if self.stage == Stage::Question && self.key.is_none() && !media.is_empty() {
                    text.push_str(&left_out(media.len()));
                }
                media.clear();
            }
            Item::Assistant { private, .. } => private.clear(),
            Item::ToolResult { output, media, .. } => {
                if self.stage == Stage::Turn && !media.is_empty() {
                    output.push_str(&left_out(media.len()));
                }
                media.clear();
            }
        }
    }

    /// Removes the prompt's additions to a question, such as background messages and notes. People cannot write these
    /// tags.
    fn leave_out_surroundings(&mut self) {
        let text = self.item.text_mut();
        for name in ["background", "notes"] {
            let (open, close) = (format!("<{name}>"), format!("</{name}>\n"));
            if let Some(start) = text.find(&open)
                && let Some(length) = text[start..].find(&close)
            {
                text.replace_range(start..start + length + close.len(), "");
            }
        }
    }

    /// Shortens long texts in the arguments of calls. The arguments stay JSON.
    fn cut_arguments(&mut self) {
        let Item::Assistant { calls, .. } = &mut self.item else { return };
        for call in calls.iter_mut().filter(|call| call.arguments.len() > 2 * ARGUMENT_CHARS) {
            let read = serde_json::from_str::<Value>(&call.arguments);
            call.arguments = read.map_or_else(|_| "{}".to_owned(), |value| short_values(value).to_string());
        }
    }

    /// Removes the middle of the text, so that the item takes at most `allowed` tokens if possible.
    fn cut(&mut self, allowed: usize, count: fn(&str) -> usize) {
        let text = self.item.text();
        let stretches: Vec<(Range<usize>, usize)> = match self.item {
            // Only text between tags is cut, so the tags stay.
            Item::User { .. } => stretches(text).map(|words| (words.clone(), count(&text[words]))).collect(),
            Item::Assistant { .. } | Item::ToolResult { .. } => vec![(0..text.len(), count(text))],
        };
        let costs: Vec<usize> = stretches.iter().map(|(_, tokens)| *tokens).collect();
        let others = self.item.tokens(count).saturating_sub(costs.iter().sum());
        let room = allowed.saturating_sub(others);
        // The parts of a text may take slightly less than the whole.
        let level = level(costs, room - room / 32).max(MIN_TOKENS);
        for (words, tokens) in stretches.into_iter().rev().filter(|(_, tokens)| *tokens > level) {
            let short = self.shortened(&self.item.text()[words.clone()], tokens, level, count);
            self.item.text_mut().replace_range(words, &short);
        }
    }

    /// Shortens a text of this many tokens to fewer than `allowed`.
    fn shortened(&self, words: &str, tokens: usize, allowed: usize, count: fn(&str) -> usize) -> String {
        let total = words.chars().count();
        let gap = |left_out| self.gap(left_out, words);
        let mut keep = total * allowed.saturating_sub(count(&gap(total))) / tokens;
        loop {
            // A continued answer goes on from its end.
            let start = if matches!(self.item, Item::Assistant { .. }) { keep / 4 } else { keep / 2 };
            let short = cut_middle(words, start, keep - start, &gap(total - keep));
            if keep == 0 || count(&short) <= allowed {
                return short;
            }
            keep = keep * 9 / 10;
        }
    }

    /// Returns the mark for text that was left out here.
    fn gap(&self, left_out: usize, words: &str) -> String {
        // The text may have been cut before.
        let key = self.key.map(|key| key.to_string()).or_else(|| key_in(words).map(str::to_owned));
        match (key, self.stage) {
            (Some(key), Stage::Question) => format!(" … [{key}: {left_out} characters left out] … "),
            (Some(key), _) => gap(&key),
            (None, Stage::Question) => format!(
                " … [{left_out} characters of this message are left out: it is longer than you can read. Say so in your \
                 answer.] … "
            ),
            (None, _) => format!(" … [{left_out} characters left out for want of room] … "),
        }
    }
}

/// Returns the mark for text that can be looked up by this key.
#[must_use]
pub fn gap(key: &str) -> String {
    format!(" … [{key}] … ")
}

/// Returns the first key in such a mark within a text.
#[must_use]
pub fn key_in(words: &str) -> Option<&str> {
    words.match_indices("… [").find_map(|(at, mark)| {
        let (key, _) = words[at + mark.len()..].split_once([']', ':'])?;
        key.parse::<EntryKey>().is_ok().then_some(key)
    })
}

/// Returns the ranges of a prompt's text between its tags. Text of people has no `<`: it is escaped.
fn stretches(text: &str) -> impl Iterator<Item = Range<usize>> {
    let tags = text.match_indices('<').map(|(at, _)| {
        let end = text[at..].find('>').map_or(text.len(), |length| at + length + 1);
        (at, end)
    });
    let ends = tags.clone().map(|(at, _)| at).chain([text.len()]);
    let starts = [0].into_iter().chain(tags.map(|(_, end)| end));
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end)
}

/// Returns the largest limit per part that keeps the total within `room`. No part is cut below it while another keeps
/// more.
fn level(mut costs: Vec<usize>, mut room: usize) -> usize {
    costs.sort_unstable();
    for (at, cost) in costs.iter().enumerate() {
        let share = room / (costs.len() - at);
        if *cost > share {
            return share;
        }
        room -= cost;
    }
    usize::MAX
}

/// Shortens long texts in a JSON value.
fn short_values(value: Value) -> Value {
    match value {
        Value::String(text) => keep_ends(&text, ARGUMENT_CHARS, " … ").into(),
        Value::Array(items) => items.into_iter().map(short_values).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, short_values(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests;
