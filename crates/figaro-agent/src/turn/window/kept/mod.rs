//! Data of a chat that is shown with every question: pins, memories, summaries. The chosen entries stay at the
//! beginning of the requests, in the same order, until old exchanges are dropped, so that the provider's cache keeps
//! hitting. Newer entries are shown beside the question.

mod pins;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

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

/// Divisor of the conversation's room that each kind of entry may use.
const PARTS_OF_KIND: usize = 6;
/// Number of consecutive entries that do not fit after which the room counts as full.
const MAX_MISSES: usize = 8;
/// Tokens of the text around all entries, at both places.
const FRAME: usize = 120;

/// Kept data of a chat that may be shown with a question.
#[derive(Debug, Clone, Default)]
pub struct KeptData {
    /// Pins of the chat that are shown in the session, oldest first.
    pub(crate) pins: Vec<Pin>,
    /// Active memories of the asker that may be used in the chat, oldest first.
    pub(crate) memories: Vec<Memory>,
    /// Name of the asker, whose memories these are.
    pub(crate) about: String,
    /// Summaries of the session, those of the oldest messages first.
    pub(crate) summaries: Vec<Summary>,
    pub(crate) is_group: bool,
}

/// Start of the messages in a request. When it moves, the kept entries are chosen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowStart {
    pub(crate) session: SessionId,
    /// Index of the first shown message; `None` if none is shown.
    pub(crate) from: Option<u32>,
}

/// Entries at the beginning of the requests of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptEntries {
    pins: HashSet<PinId>,
    memories: HashSet<MemoryId>,
    summaries: HashSet<SummaryId>,
}

/// Time, zone and room of a rendering.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Showing {
    pub(crate) now: DateTime<Utc>,
    pub(crate) zone: Tz,
    /// Room of the conversation, in tokens.
    pub(crate) tokens: usize,
}

/// Kept data as the model sees it.
#[derive(Debug, Default)]
pub(crate) struct KeptParts {
    /// Text before the messages; may be empty.
    pub(crate) front: String,
    /// Text beside the question; may be empty.
    pub(crate) beside: String,
    /// Memories by label, and their text; `M1` is the first.
    pub(crate) labels: Vec<(MemoryId, String)>,
    pub(crate) pins: Vec<PinId>,
    pub(crate) tokens: usize,
    /// `true` if omitted text is marked with a lookup key.
    pub(crate) has_keys: bool,
}

impl KeptData {
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.pins.is_empty() && self.memories.is_empty() && self.summaries.is_empty()
    }

    /// Returns the maximum number of tokens it uses, within the room of a conversation.
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

    /// Drops summaries that cover only shown messages, which start at this index.
    #[must_use]
    pub(crate) fn before(mut self, from: Option<u32>) -> Self {
        self.summaries.retain(|summary| from.is_none_or(|from| summary.start < from));
        self
    }

    /// Chooses the entries for the beginning of the requests, within the room of a conversation: the most important
    /// pins and summaries, and the most valuable memories.
    #[must_use]
    pub(crate) fn choose(&self, now: DateTime<Utc>, tokens: usize) -> KeptEntries {
        self.best(now, tokens, &KeptEntries::default())
    }

    /// Like [`Self::choose`], but entries chosen before come first, as long as they exist.
    fn best(&self, now: DateTime<Utc>, tokens: usize, before: &KeptEntries) -> KeptEntries {
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
        // Important summaries rank first at any age, then the latest.
        let later: HashMap<SummaryId, usize> =
            self.summaries.iter().rev().enumerate().map(|(later, summary)| (summary.id, later)).collect();
        let worth = |summary: &Summary| summary.worth(later.get(&summary.id).copied().unwrap_or_default());
        let summaries = within(
            &self.summaries,
            room,
            |summary| cost(&summary.summary),
            |summary| (before.summaries.contains(&summary.id), worth(summary)),
        );
        KeptEntries {
            pins: pins.iter().map(|pin| pin.id).collect(),
            memories: memories.iter().map(|memory| memory.id).collect(),
            summaries: summaries.iter().map(|summary| summary.id).collect(),
        }
    }

    /// Renders the entries chosen before, in their current state, and the newer ones, as far as the room allows.
    ///
    /// # Errors
    /// If a custom prompt template cannot be rendered.
    pub(crate) fn parts(
        &self,
        prompts: &Prompts,
        chosen: &KeptEntries,
        shown: Showing,
    ) -> Result<KeptParts, String> {
        let Showing { now, zone, tokens } = shown;
        let shown = self.best(now, tokens, chosen);
        // In a group the next question may be somebody else's: memories about one person never go to the beginning.
        let of_front = if self.is_group { HashSet::new() } else { chosen.memories.clone() };
        let in_front = KeptEntries {
            pins: &shown.pins & &chosen.pins,
            memories: &shown.memories & &of_front,
            summaries: &shown.summaries & &chosen.summaries,
        };
        let fitted = self.fitted(room_of_kind(tokens));
        let front = fitted.only(&in_front);
        let beside = fitted.only(&KeptEntries {
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

    /// Shortens pins that would use too much of the room for pins.
    fn fitted(&self, room: usize) -> Cow<'_, Self> {
        if self.pins.iter().all(|pin| pins::fits(pin, self.is_group, room)) {
            return Cow::Borrowed(self);
        }
        let mut fitted = self.clone();
        fitted.pins.iter_mut().for_each(|pin| pins::shorten(pin, self.is_group, room));
        Cow::Owned(fitted)
    }

    /// Drops vital pins that repeat a later one, and pins whose memory is shown itself.
    #[must_use]
    pub(crate) fn without_repeats(mut self) -> Self {
        pins::drop_repeats(&mut self.pins);
        let is_told = |id: MemoryId| self.memories.iter().any(|memory| memory.id == id);
        self.pins.retain(|pin| pin.importance >= VITAL || !pin.memory.is_some_and(is_told));
        self
    }

    fn only(&self, choice: &KeptEntries) -> Self {
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

    /// Returns the view for the template. The labels are numbered after the first `first`.
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

/// Returns the sum of the costs, capped at `most`. Costs after that are not computed.
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

/// Returns the best entries that fit, in their original order. The later of equal ones wins. Once the room is full, no
/// more costs are computed: a session may have a thousand summaries.
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
