//! Summaries: a few sentences for a range of a session's messages. Also the choice of the next range, and the replacement if
//! no model provides a summary.

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::{Message, MessageRole, begins_exchange};
use figaro_base::ids::{EntryId, SessionId, SummaryId};
use figaro_base::text::{estimate_tokens, one_line};

#[cfg(test)]
mod tests;

/// Minimum number of uncovered messages left out of requests that are worth a summary.
const MIN_LEFT_OUT: usize = 8;
/// Minimum length of the left-out messages, as a multiple of `recent_tokens`. A summary of a few short messages costs more
/// than it keeps.
const LEFT_OUT_LENGTH: usize = 2;
/// Number of newest messages that are not covered, or a quarter of `every` if that is less.
const MAX_KEPT: usize = 8;
/// Number of messages quoted for a range that no model has summarised, and the length of each quote in characters.
const EXTRACTED: usize = 4;
const EXTRACTED_CHARS: usize = 140;
/// Importance from which a summary does not lose worth with age.
const LASTING: f32 = 7.0;
/// Loss of worth of a summary per later one, and the maximum number of later ones counted.
const AGE_STEP: f32 = 0.5;
const AGE_STEPS: usize = 8;

/// Summary of a range of messages. The summaries of a session have no gaps and do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Unique id, never reused. A new one is set when the text is removed.
    pub id: SummaryId,
    /// Session of the messages.
    pub session: SessionId,
    /// Text of the summary; empty if it must be made again.
    pub summary: String,
    /// Number of messages covered.
    pub message_count: u32,
    /// First message covered.
    pub start_message_id: EntryId,
    /// Index of the first message.
    pub start: u32,
    /// Last message covered.
    pub end_message_id: EntryId,
    /// Index of the last message.
    pub end: u32,
    /// Time of the first message, UTC.
    pub from: DateTime<Utc>,
    /// Time of the last message, UTC.
    pub until: DateTime<Utc>,
    /// Importance, from 0 to 10. A summary of importance 0 is empty and never shown.
    pub importance: f32,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
}

impl Summary {
    /// Returns `true` if a covered message was changed or removed. The text was cleared, and the summary must be made again.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.summary.is_empty()
    }

    /// Returns `true` if a prompt may show the summary.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !self.is_stale() && self.importance > 0.0
    }

    /// Returns `true` if the summary covers the message at this index.
    #[must_use]
    pub const fn covers(&self, index: u32) -> bool {
        self.start <= index && index <= self.end
    }

    /// Returns the summary without its text, to be made again. The new id invalidates a summary that is being made from the
    /// old messages.
    #[must_use]
    pub fn without_words(&self) -> Self {
        Self { id: SummaryId::new(), summary: String::new(), ..self.clone() }
    }

    /// Returns `true` if the summary can be added to the others of its session, which has this many permanent messages. It
    /// must replace a stale one, or directly follow the previous one. Thus there are no gaps and overlaps, in any order of
    /// arrival.
    #[must_use]
    pub fn fits(&self, others: &[Self], messages: u32) -> bool {
        if let Some(known) = others.iter().find(|other| other.start == self.start) {
            return known.is_stale() && known.id == self.id && known.end == self.end;
        }
        let before = others.iter().filter(|other| other.start < self.start).map(|other| other.end).max();
        let next = others.iter().filter(|other| other.start > self.start).map(|other| other.start).min();
        self.start == before.map_or(0, |end| end.saturating_add(1))
            && self.start <= self.end
            && self.end < next.unwrap_or(messages).min(messages)
    }

    /// Returns the worth of showing the summary beside this many later ones.
    #[must_use]
    pub fn worth(&self, later: usize) -> f32 {
        let steps = u8::try_from(later.min(AGE_STEPS)).unwrap_or(u8::MAX);
        let age = if self.importance >= LASTING { 0.0 } else { f32::from(steps) * AGE_STEP };
        self.importance - age
    }
}

/// A range of messages, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    /// Id for its summary.
    pub id: SummaryId,
    /// Index of the first message.
    pub start: u32,
    /// Index of the last message.
    pub end: u32,
}

/// Returns the range that must be summarised before all others: of a stale summary, or of a gap between two others.
#[must_use]
pub fn to_be_made_again(summaries: &[Summary]) -> Option<MessageRange> {
    let mut next = 0;
    for summary in summaries {
        if summary.start > next {
            return Some(MessageRange { id: SummaryId::new(), start: next, end: summary.start - 1 });
        }
        if summary.is_stale() {
            return Some(MessageRange { id: summary.id, start: summary.start, end: summary.end });
        }
        next = summary.end.saturating_add(1);
    }
    None
}

/// Parameters that decide when a session is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryRules {
    /// Maximum number of messages per summary, or one exchange if longer; 0 for no summaries.
    pub every: u32,
    /// Minimum size of the newest messages shown in requests, in tokens.
    pub recent_tokens: usize,
}

/// Returns the next range to summarise, if it is time: when enough messages for a summary are uncovered, or requests leave
/// some of them out. The range starts at the oldest uncovered message, consists of whole exchanges and never includes the
/// newest one. `has_more` is `true` if more messages follow these.
#[must_use]
pub fn next_run(uncovered: &[Arc<Message>], has_more: bool, rules: SummaryRules) -> Option<MessageRange> {
    let most = usize::try_from(rules.every).unwrap_or(usize::MAX);
    if most == 0 {
        return None;
    }
    let borders: Vec<usize> = (1..uncovered.len()).filter(|at| begins_exchange(uncovered, *at)).collect();
    let last = match has_more {
        true => uncovered.len(),
        false => border(uncovered, &borders, rules)?,
    };
    // An exchange longer than the maximum is covered alone.
    let within = borders.iter().copied().rfind(|at| *at <= most.min(last));
    let end = within.or_else(|| borders.first().copied().filter(|at| *at <= last));
    let end = end.or_else(|| has_more.then_some(uncovered.len()))?;
    let (first, last) = (uncovered.first()?, uncovered.get(end.checked_sub(1)?)?);
    Some(MessageRange { id: SummaryId::new(), start: first.index, end: last.index })
}

/// Returns the range to summarise on demand: whole exchanges from the oldest uncovered message, including the newest one. It
/// holds at most `most` messages, or one exchange. `None` without messages.
#[must_use]
pub fn whole_run(uncovered: &[Arc<Message>], most: usize) -> Option<MessageRange> {
    let ends = (1..uncovered.len()).filter(|at| begins_exchange(uncovered, *at)).chain([uncovered.len()]);
    let ends: Vec<usize> = ends.collect();
    let end = ends.iter().rfind(|end| **end <= most).or(ends.first())?;
    let (first, last) = (uncovered.first()?, uncovered.get(end.checked_sub(1)?)?);
    Some(MessageRange { id: SummaryId::new(), start: first.index, end: last.index })
}

/// Returns the number of messages that may be covered now; `None` if it is not time.
fn border(uncovered: &[Arc<Message>], borders: &[usize], rules: SummaryRules) -> Option<usize> {
    let newest = *borders.last()?;
    let mut left = rules.recent_tokens;
    let fits = |message: &&Arc<Message>| {
        let rest = left.checked_sub(estimate_tokens(&message.text));
        rest.map(|rest| left = rest).is_some()
    };
    let shown = uncovered.iter().rev().take_while(fits).count();
    let first_shown = uncovered.len() - shown;
    let left_out = match first_shown {
        0 => 0,
        first => borders.iter().copied().find(|at| *at >= first).unwrap_or(newest),
    };
    let is_long = |left_out: usize| {
        let tokens: usize =
            uncovered.iter().take(left_out).map(|message| estimate_tokens(&message.text)).sum();
        tokens >= rules.recent_tokens.saturating_mul(LEFT_OUT_LENGTH)
    };
    let every = usize::try_from(rules.every).unwrap_or(usize::MAX);
    let kept = MAX_KEPT.min(every / 4);
    let by_count = borders.iter().copied().rfind(|at| at + kept <= uncovered.len());
    match by_count.filter(|_| uncovered.len() >= every) {
        Some(by_count) => Some(by_count.max(left_out)),
        None => Some(left_out).filter(|left_out| *left_out >= MIN_LEFT_OUT && is_long(*left_out)),
    }
}

/// Returns `true` for a message visible to people: from a person or the model, and not replaced by a later attempt.
#[must_use]
pub fn is_said(message: &Message) -> bool {
    let has_words = !message.text.trim().is_empty() || !message.attachments.is_empty();
    matches!(message.role, MessageRole::User | MessageRole::Assistant) && has_words && !message.replaced
}

/// Returns a replacement for a summary that no model provides: the beginnings of the most important messages, in order, with
/// their importance. Importance is 0 if there are no such messages.
#[must_use]
pub fn extract(messages: &[Arc<Message>]) -> (String, f32) {
    let mut said: Vec<&Arc<Message>> = messages.iter().filter(|message| is_said(message)).collect();
    said.sort_by_key(|message| {
        (Reverse(tenths(message.importance)), message.role != MessageRole::User, message.index)
    });
    said.truncate(EXTRACTED);
    said.sort_by_key(|message| message.index);
    let importance = said.iter().map(|message| message.importance).fold(0.0, f32::max);
    let line = |message: &&Arc<Message>| {
        let who = message.speaker.as_ref().map_or("Figaro", |speaker| speaker.name.as_str());
        let kinds = message.attachments.iter().map(|attachment| attachment.word());
        let words = match one_line(&message.text, EXTRACTED_CHARS) {
            words if words.is_empty() => kinds.collect::<Vec<_>>().join(", "),
            words => words,
        };
        format!("{}: {words}", one_line(who, EXTRACTED_CHARS))
    };
    let words: Vec<String> = said.iter().map(line).collect();
    // The text must not be empty, since an empty summary is stale.
    (if words.is_empty() { "-".to_owned() } else { words.join(" · ") }, importance)
}

fn tenths(importance: f32) -> i32 {
    (importance * 10.0) as i32
}

/// A session with messages to summarise, and the attempts so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryJob {
    /// Session whose next range is to be summarised.
    pub session: SessionId,
    /// Number of failed attempts for the next range. A useless answer counts twice.
    pub tries: u8,
    /// Earliest time of the next attempt, UTC.
    pub not_before: DateTime<Utc>,
}

impl SummaryJob {
    /// Creates a job that is due immediately.
    #[must_use]
    pub const fn new(session: SessionId) -> Self {
        Self { session, tries: 0, not_before: DateTime::UNIX_EPOCH }
    }
}
