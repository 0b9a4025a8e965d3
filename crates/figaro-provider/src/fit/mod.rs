//! Shortens a conversation until it fits into so many tokens. What a person asked is cut last. Pure. Called for the newest
//! exchange of a history, and for the context of a model.

use std::cmp::Ordering;
use std::ops::Range;

use serde_json::Value;

use super::request::{Earlier, Item, Measure, Request};
use figaro_base::text::{cut_middle, keep_ends, most_tokens};
use figaro_domain::conversation::EntryKey;

/// A text is not cut to fewer tokens than this.
const MIN_TOKENS: usize = 100;
/// In the arguments of a call, of a longer text so many characters at its start and at its end stay.
const ARGUMENT_CHARS: usize = 80;

/// Part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The message, pass or result itself, which shortening changes.
    pub item: Item,
    /// Whether it belongs to the past, to the question or to the turn in progress: it decides how far it may be cut.
    pub stage: Stage,
    /// The key by which the whole of it can be looked up; none for what cannot be.
    pub key: Option<EntryKey>,
}

/// To what a part of a conversation belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It is kept of before, such as a pin: it stays whole nearly to the last.
    Kept,
    /// It belongs to an exchange that is over.
    Earlier,
    /// It is what the conversation is about: it is cut last.
    Question,
    /// It belongs to the turn in progress. Its calls stay: a model that does not see what it has done does it again.
    Turn,
}

/// Shortens parts until they take at most `budget` tokens by `count`, in this order: what is over loses its pictures, and
/// what only a provider understands; then the oldest results of tools are cut, arguments of calls, long texts; calls of
/// what is over go; last, the question loses its pictures, what stands around it, and of its words the middle. A text
/// that is cut keeps its start and its end, an answer mostly its end. Gives whether the parts fit.
pub fn shrink(parts: &mut Vec<Part>, budget: usize, count: fn(&str) -> usize) -> bool {
    let costs = parts.iter().map(|part| part.item.tokens(count)).collect();
    let mut shrinking = Shrinking { parts, costs, budget, count };
    shrinking.shrink();
    shrinking.excess() == 0
}

/// Leaves out pictures of results, the oldest first, until those that stay have so many characters in base64 at most: every further
/// pass carries them all. A result that loses its pictures says so.
pub fn bound_pictures(items: &mut [Item], most: usize) {
    let mut left = most;
    for item in items.iter_mut().rev() {
        let Item::ToolResult { output, images, .. } = item else { continue };
        match left.checked_sub(images.iter().map(|image| image.base64.len()).sum()) {
            Some(rest) => left = rest,
            None => {
                output.push_str(&left_out(images.len()));
                images.clear();
                left = 0;
            }
        }
    }
}

/// Leaves out all pictures of results, which the service of the model may have refused; `false` if there are none. Where a server
/// gave a damaged one, its call has failed and not the turn.
pub fn drop_pictures(items: &mut [Item]) -> bool {
    let mut had_some = false;
    for item in items {
        let Item::ToolResult { output, images, .. } = item else { continue };
        if !images.is_empty() {
            output.push_str(&format!(
                "\n[pictures that the service of the model did not take: {}]",
                images.len()
            ));
            images.clear();
            had_some = true;
        }
    }
    had_some
}

/// Shortens a request until it takes at most `room` tokens, counted for whatever vocabulary the model has: the oldest of
/// the earlier exchanges are left out, the newest one and the turn in progress lose what [`shrink`] takes. Where that
/// does not do, nothing earlier is left. A request that is too long even then is refused by its provider.
pub(crate) fn fit(request: &mut Request, room: usize) {
    // Counting takes time that most requests need not.
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
    /// Takes its conversation, each item with what may be left out of it.
    fn take_parts(&mut self) -> Vec<Part> {
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
        items.map(|(at, (item, key))| Part { item, stage: stage(at), key }).collect()
    }

    /// Gives it a conversation.
    fn put_parts(&mut self, parts: Vec<Part>) {
        let kept = parts.iter().filter(|part| part.stage == Stage::Kept).count();
        let over = parts.iter().take_while(|part| matches!(part.stage, Stage::Kept | Stage::Earlier));
        self.earlier = Earlier { keys: over.map(|part| part.key).collect(), kept };
        self.items = parts.into_iter().map(|part| part.item).collect();
    }
}

/// Where the second of the earlier exchanges begins: with a person's words behind something else.
fn second_exchange(parts: &[Part]) -> Option<usize> {
    let kept = parts.iter().take_while(|part| part.stage == Stage::Kept).count();
    let earlier = kept + parts[kept..].iter().take_while(|part| part.stage == Stage::Earlier).count();
    let is_user = |at: usize| matches!(parts[at].item, Item::User { .. });
    (kept + 1..earlier).find(|at| is_user(*at) && !is_user(at - 1))
}

struct Shrinking<'a> {
    parts: &'a mut Vec<Part>,
    /// The tokens of each part.
    costs: Vec<usize>,
    budget: usize,
    count: fn(&str) -> usize,
}

impl Shrinking<'_> {
    fn shrink(&mut self) {
        let is_over = |part: &Part| part.stage == Stage::Earlier;
        let is_question = |part: &Part| part.stage == Stage::Question;
        let is_result = |part: &Part| matches!(part.item, Item::ToolResult { .. });
        // What is no person's in the turn in progress, Figaro itself has said.
        let is_long = |part: &Part| match part.item {
            Item::User { .. } => is_over(part),
            Item::Assistant { .. } => true,
            Item::ToolResult { .. } => false,
        };
        self.each(is_over, |part, _, _| part.leave_out_unseen());
        self.each(is_result, Part::cut);
        self.each(|_: &Part| true, |part, _, _| part.cut_arguments());
        self.each(is_long, Part::cut);
        while self.excess() > 0 && self.leave_out_calls() {}
        self.each(|_: &Part| true, |part, _, _| part.leave_out_unseen());
        self.each(is_question, |part, _, _| part.leave_out_surroundings());
        self.each(|part: &Part| part.stage == Stage::Kept, Part::cut);
        self.each(is_question, Part::cut);
    }

    /// Does this to each of these parts, the oldest first, until all fit. It is told how many tokens the part may take.
    fn each(&mut self, is_one: impl Fn(&Part) -> bool, change: impl Fn(&mut Part, usize, fn(&str) -> usize)) {
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

    /// Leaves out the oldest calls of what is over, with what was said before them and their results; `false` if there
    /// are none.
    fn leave_out_calls(&mut self) -> bool {
        let has_calls = |part: &Part| {
            let item = &part.item;
            part.stage == Stage::Earlier && matches!(item, Item::Assistant { calls, .. } if !calls.is_empty())
        };
        let Some(at) = self.parts.iter().position(has_calls) else { return false };
        let is_result = |part: &&Part| matches!(part.item, Item::ToolResult { .. });
        let results = self.parts[at + 1..].iter().take_while(is_result).count();
        self.parts.drain(at..=at + results);
        self.costs.drain(at..=at + results);
        true
    }
}

fn left_out(pictures: usize) -> String {
    format!("\n[pictures left out because there is no room: {pictures}]")
}

impl Part {
    /// Leaves out what says nothing in words: pictures, and what only a provider understands. A question that is not
    /// stored anywhere says so.
    pub fn leave_out_unseen(&mut self) {
        match &mut self.item {
            Item::User { text, images } => {
                if self.stage == Stage::Question && self.key.is_none() && !images.is_empty() {
                    text.push_str(&left_out(images.len()));
                }
                images.clear();
            }
            Item::Assistant { private, .. } => private.clear(),
            Item::ToolResult { output, images, .. } => {
                if self.stage == Stage::Turn && !images.is_empty() {
                    output.push_str(&left_out(images.len()));
                }
                images.clear();
            }
        }
    }

    /// Leaves out what the prompt tells beside a question: what others said, notes. No person can write these tags.
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

    /// Shortens long texts in the arguments of calls, which stay JSON.
    fn cut_arguments(&mut self) {
        let Item::Assistant { calls, .. } = &mut self.item else { return };
        for call in calls.iter_mut().filter(|call| call.arguments.len() > 2 * ARGUMENT_CHARS) {
            let read = serde_json::from_str::<Value>(&call.arguments);
            call.arguments = read.map_or_else(|_| "{}".to_owned(), |value| short_values(value).to_string());
        }
    }

    /// Takes the middle out of the words, so that the item takes at most so many tokens where that can be.
    fn cut(&mut self, allowed: usize, count: fn(&str) -> usize) {
        let text = self.item.text();
        let stretches: Vec<(Range<usize>, usize)> = match self.item {
            // Between its tags, so that these stay.
            Item::User { .. } => stretches(text).map(|words| (words.clone(), count(&text[words]))).collect(),
            Item::Assistant { .. } | Item::ToolResult { .. } => vec![(0..text.len(), count(text))],
        };
        let costs: Vec<usize> = stretches.iter().map(|(_, tokens)| *tokens).collect();
        let others = self.item.tokens(count).saturating_sub(costs.iter().sum());
        let room = allowed.saturating_sub(others);
        // Parts of a text may take a little less than the whole.
        let level = level(costs, room - room / 32).max(MIN_TOKENS);
        for (words, tokens) in stretches.into_iter().rev().filter(|(_, tokens)| *tokens > level) {
            let short = self.shortened(&self.item.text()[words.clone()], tokens, level, count);
            self.item.text_mut().replace_range(words, &short);
        }
    }

    /// Words that take so many tokens, so that they take fewer.
    fn shortened(&self, words: &str, tokens: usize, allowed: usize, count: fn(&str) -> usize) -> String {
        let total = words.chars().count();
        let gap = |left_out| self.gap(left_out, words);
        let mut keep = total * allowed.saturating_sub(count(&gap(total))) / tokens;
        loop {
            // An answer that is gone on with goes on from its end.
            let start = if matches!(self.item, Item::Assistant { .. }) { keep / 4 } else { keep / 2 };
            let short = cut_middle(words, start, keep - start, &gap(total - keep));
            if keep == 0 || count(&short) <= allowed {
                return short;
            }
            keep = keep * 9 / 10;
        }
    }

    /// What stands where something was left out of these words.
    fn gap(&self, left_out: usize, words: &str) -> String {
        // They may have been cut before.
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

/// What stands in place of words that can be looked up by this key.
#[must_use]
pub fn gap(key: &str) -> String {
    format!(" … [{key}] … ")
}

/// The first key that stands in these words in place of others.
#[must_use]
pub fn key_in(words: &str) -> Option<&str> {
    words.match_indices("… [").find_map(|(at, mark)| {
        let (key, _) = words[at + mark.len()..].split_once([']', ':'])?;
        key.parse::<EntryKey>().is_ok().then_some(key)
    })
}

/// The stretches of a prompt's text without a tag. What people wrote has no `<`: it is escaped.
fn stretches(text: &str) -> impl Iterator<Item = Range<usize>> {
    let tags = text.match_indices('<').map(|(at, _)| {
        let end = text[at..].find('>').map_or(text.len(), |length| at + length + 1);
        (at, end)
    });
    let ends = tags.clone().map(|(at, _)| at).chain([text.len()]);
    let starts = [0].into_iter().chain(tags.map(|(_, end)| end));
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end)
}

/// The most that each of these may cost, so that all together cost no more than `room`: none is cut to less while another
/// keeps more.
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

/// The same JSON with long texts shortened.
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
