//! What is kept of a chat and told with every question: pins, memories, summaries. What was chosen stays at the beginning of the
//! requests, in the same order, until old exchanges leave it: so the provider's cache goes on to hit. What came since stands
//! beside the question.

mod pins;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use self::pins::AROUND;
use figaro_base::ids::{MemoryId, PinId, SessionId, SummaryId};
use figaro_base::text::estimate_tokens;
use figaro_domain::memory::{Memory, label};
use figaro_domain::pin::{Pin, VITAL};
use figaro_domain::summary::Summary;
use figaro_prompts::{DatedSummary, KeptView, LabelledMemory, Prompts, fence};
use figaro_provider::fit::key_in;

#[cfg(test)]
pub(super) mod tests;

/// Each kind has at most one part of so many of the room of a conversation.
const PARTS_OF_KIND: usize = 6;
/// The room is full when so many, one behind the other, do not fit in what is left of it.
const MAX_MISSES: usize = 8;
/// What stands around all of them, at both places.
const FRAME: usize = 120;

/// What is kept of a chat, as far as it may be shown with a question.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The pins of the chat that are shown in the session, oldest first.
    pub(crate) pins: Vec<Pin>,
    /// The active memories of whoever asks that may be used in the chat, oldest first.
    pub(crate) memories: Vec<Memory>,
    /// The name of whoever asks.
    pub(crate) about: String,
    /// The summaries of the session, those of the oldest messages first.
    pub(crate) summaries: Vec<Summary>,
    /// It is a group.
    pub(crate) is_group: bool,
}

/// Where the messages of a request begin. What is kept is chosen anew when this moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Border {
    /// The session.
    pub(crate) session: SessionId,
    /// The index of the first message that is shown.
    pub(crate) from: Option<u32>,
}

/// What of it is told at the beginning of the requests of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    pins: HashSet<PinId>,
    memories: HashSet<MemoryId>,
    summaries: HashSet<SummaryId>,
}

/// When and where it is shown, and in how much room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Showing {
    /// The current time, UTC.
    pub(crate) now: DateTime<Utc>,
    /// The zone of the chat.
    pub(crate) zone: Tz,
    /// The room of the conversation, in tokens.
    pub(crate) tokens: usize,
}

/// What is kept as a model sees it.
#[derive(Debug, Default)]
pub(crate) struct KeptParts {
    /// What stands before the messages; empty for nothing.
    pub(crate) front: String,
    /// What stands beside the question; empty for nothing.
    pub(crate) beside: String,
    /// The memory of each label, and its words: `M1` is the first.
    pub(crate) labels: Vec<(MemoryId, String)>,
    /// The pins in them.
    pub(crate) pins: Vec<PinId>,
    /// The tokens of both parts.
    pub(crate) tokens: usize,
    /// A key stands in them where something was left out.
    pub(crate) has_keys: bool,
}

impl Kept {
    /// Whether there is nothing.
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.pins.is_empty() && self.memories.is_empty() && self.summaries.is_empty()
    }

    /// How many tokens it takes at most, within the room of a conversation.
    #[must_use]
    pub(crate) fn most_tokens(&self, tokens: usize) -> usize {
        if self.is_empty() {
            return 0;
        }
        let room = room_of_kind(tokens);
        let fitted = self.fitted(room);
        let pins = sum_until(room, fitted.pins.iter().map(|pin| pins::cost(pin, self.is_group)));
        let memories = sum_until(room, self.memories.iter().map(|memory| cost(&memory.content)));
        let summaries = sum_until(room, self.summaries.iter().map(|one| cost(&one.summary)));
        (FRAME + pins + memories + summaries).min(tokens)
    }

    /// The same without summaries of nothing but messages that are shown, from this index on.
    #[must_use]
    pub(crate) fn before(mut self, from: Option<u32>) -> Self {
        self.summaries.retain(|summary| from.is_none_or(|from| summary.start < from));
        self
    }

    /// What is told at the beginning from now on, within the room of a conversation: the most important pins and summaries,
    /// the memories that are worth most.
    #[must_use]
    pub(crate) fn choose(&self, now: DateTime<Utc>, tokens: usize) -> Choice {
        self.best(now, tokens, &Choice::default())
    }

    /// As [`Self::choose`]; what was chosen before stays, before all others, as long as it is there.
    fn best(&self, now: DateTime<Utc>, tokens: usize, before: &Choice) -> Choice {
        let room = room_of_kind(tokens);
        let fitted = self.fitted(room);
        let pins = within(
            &fitted.pins,
            room,
            |pin| pins::cost(pin, self.is_group),
            |pin| (before.pins.contains(&pin.id), f64::from(pin.importance)),
        );
        let memories = within(
            &self.memories,
            room,
            |memory| cost(&memory.content),
            |memory| (before.memories.contains(&memory.id), memory.worth(now)),
        );
        // The important ones whatever their age, then the latest.
        let later: HashMap<SummaryId, usize> =
            self.summaries.iter().rev().enumerate().map(|(later, summary)| (summary.id, later)).collect();
        let worth = |summary: &Summary| summary.worth(later.get(&summary.id).copied().unwrap_or_default());
        let summaries = within(
            &self.summaries,
            room,
            |summary| cost(&summary.summary),
            |summary| (before.summaries.contains(&summary.id), worth(summary)),
        );
        Choice {
            pins: pins.iter().map(|pin| pin.id).collect(),
            memories: memories.iter().map(|memory| memory.id).collect(),
            summaries: summaries.iter().map(|summary| summary.id).collect(),
        }
    }

    /// The text of what was chosen before, as it is now, and of what came since, as far as the room goes.
    ///
    /// # Errors
    /// A prompt template of the owner's that does not render.
    pub(crate) fn parts(
        &self,
        prompts: &Prompts,
        chosen: &Choice,
        shown: Showing,
    ) -> Result<KeptParts, String> {
        let Showing { now, zone, tokens } = shown;
        let shown = self.best(now, tokens, chosen);
        // In a group others ask the next question: what is about one person never stands at the beginning.
        let of_front = if self.is_group { HashSet::new() } else { chosen.memories.clone() };
        let in_front = Choice {
            pins: &shown.pins & &chosen.pins,
            memories: &shown.memories & &of_front,
            summaries: &shown.summaries & &chosen.summaries,
        };
        let fitted = self.fitted(room_of_kind(tokens));
        let front = fitted.only(&in_front);
        let beside = fitted.only(&Choice {
            pins: &shown.pins - &in_front.pins,
            memories: &shown.memories - &in_front.memories,
            summaries: &shown.summaries - &in_front.summaries,
        });
        let memories = front.memories.iter().chain(&beside.memories);
        let labels = memories.map(|memory| (memory.id, memory.content.clone())).collect();
        let pins = front.pins.iter().chain(&beside.pins).map(|pin| pin.id).collect();
        let first = front.memories.len();
        let (front, beside) = (prompts.kept(&front.view(zone, 0))?, prompts.kept(&beside.view(zone, first))?);
        let tokens = estimate_tokens(&front) + estimate_tokens(&beside);
        let has_keys = key_in(&front).or_else(|| key_in(&beside)).is_some();
        Ok(KeptParts { front, beside, labels, pins, tokens, has_keys })
    }

    /// The same with pins in part that would take too much of the room of their kind.
    fn fitted(&self, room: usize) -> Cow<'_, Self> {
        if self.pins.iter().all(|pin| pins::fits(pin, self.is_group, room)) {
            return Cow::Borrowed(self);
        }
        let mut fitted = self.clone();
        fitted.pins.iter_mut().for_each(|pin| pins::shorten(pin, self.is_group, room));
        Cow::Owned(fitted)
    }

    /// The same without vital pins that say the same as a later one, and without those of memories that are told themselves.
    #[must_use]
    pub(crate) fn without_repeats(mut self) -> Self {
        pins::drop_repeats(&mut self.pins);
        let is_told = |id: MemoryId| self.memories.iter().any(|memory| memory.id == id);
        self.pins.retain(|pin| pin.importance >= VITAL || !pin.memory.is_some_and(is_told));
        self
    }

    fn only(&self, choice: &Choice) -> Self {
        let is_one = |memory: &&Memory| choice.memories.contains(&memory.id);
        Self {
            pins: self.pins.iter().filter(|pin| choice.pins.contains(&pin.id)).cloned().collect(),
            memories: self.memories.iter().filter(is_one).cloned().collect(),
            summaries: self
                .summaries
                .iter()
                .filter(|one| choice.summaries.contains(&one.id))
                .cloned()
                .collect(),
            about: self.about.clone(),
            is_group: self.is_group,
        }
    }

    /// What the template shows; the labels go on behind the first so many.
    fn view(&self, zone: Tz, first: usize) -> KeptView {
        let day = |at: DateTime<Utc>| at.with_timezone(&zone).format("%Y-%m-%d").to_string();
        let date = |summary: &Summary| {
            let (from, until) = (day(summary.from), day(summary.until));
            if from == until { from } else { format!("{from} to {until}") }
        };
        let labelled = |(number, memory): (usize, &Memory)| LabelledMemory {
            label: label(first + number + 1),
            text: memory.content.clone(),
        };
        KeptView {
            pins: self.pins.iter().map(|pin| pins::view(pin, self.is_group)).collect(),
            about: self.about.clone(),
            memories: self.memories.iter().enumerate().map(labelled).collect(),
            summaries: self
                .summaries
                .iter()
                .map(|summary| DatedSummary { date: date(summary), text: summary.summary.clone() })
                .collect(),
        }
    }
}

const fn room_of_kind(tokens: usize) -> usize {
    tokens.saturating_sub(FRAME) / PARTS_OF_KIND
}

fn cost(words: &str) -> usize {
    estimate_tokens(&fence::line(words)) + AROUND
}

/// The sum of these, at most so much: once it is reached the rest is not counted.
fn sum_until(most: usize, costs: impl Iterator<Item = usize>) -> usize {
    let mut sum = 0;
    for cost in costs {
        sum += cost;
        if sum >= most {
            return most;
        }
    }
    sum
}

/// The best of these that fit, in their own order; of equal ones the later. Once the room is full the cost of the others is not
/// reckoned: a session may have a thousand summaries.
fn within<T, R: PartialOrd>(
    all: &[T],
    room: usize,
    cost: impl Fn(&T) -> usize,
    rank: impl Fn(&T) -> R,
) -> Vec<&T> {
    let mut order: Vec<usize> = (0..all.len()).rev().collect();
    order.sort_by(|one, other| {
        let (one, other) = (rank(&all[*one]), rank(&all[*other]));
        other.partial_cmp(&one).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut left = room;
    let mut kept: Vec<usize> = Vec::new();
    let mut misses = 0;
    for at in order {
        if left <= AROUND || misses == MAX_MISSES {
            break;
        }
        let cost = cost(&all[at]);
        if cost <= left {
            left -= cost;
            kept.push(at);
            misses = 0;
        } else {
            misses += 1;
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| &all[at]).collect()
}
