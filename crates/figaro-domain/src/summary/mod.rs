//! Summaries: what a run of messages of a session said, in a few sentences; which run comes next, and what takes a summary's
//! place where no model gives one.

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::conversation::{Message, Role, begins_exchange};
use figaro_base::ids::{EntryId, SessionId, SummaryId};
use figaro_base::text::{estimate_tokens, one_line};

#[cfg(test)]
mod tests;

/// So many messages that a request would leave out and no summary covers are worth one,
const MIN_LEFT_OUT: usize = 8;
/// if they are so many times as long as what it shows of them: a summary of a few short ones costs more than it keeps.
const LEFT_OUT_LENGTH: usize = 2;
/// So many of the newest messages are not covered, or a quarter of what a summary covers if that is less.
const MAX_KEPT: usize = 8;
/// So many messages stand for a run that no model has summarised, and so much of each.
const EXTRACTED: usize = 4;
const EXTRACTED_CHARS: usize = 140;
/// A summary from this importance on does not lose by its age.
const LASTING: f32 = 7.0;
/// What each later summary takes from an older one, and so many do.
const AGE_STEP: f32 = 0.5;
const AGE_STEPS: usize = 8;

/// What a run of messages said. The summaries of a session have no gaps between them and do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The id, unique for ever. It is another one from the moment that the words are taken away.
    pub id: SummaryId,
    /// The session of the messages.
    pub session: SessionId,
    /// The words of the summary; empty while it is to be made anew.
    pub summary: String,
    /// How many messages it covers.
    pub message_count: u32,
    /// The first message that it covers.
    pub start_message_id: EntryId,
    /// The index of that message.
    pub start: u32,
    /// The last message that it covers.
    pub end_message_id: EntryId,
    /// The index of that message.
    pub end: u32,
    /// When the first message was written, UTC.
    pub from: DateTime<Utc>,
    /// When the last message was written, UTC.
    pub until: DateTime<Utc>,
    /// How much it matters, from 0 to 10; one of 0 says nothing and is shown nowhere.
    pub importance: f32,
    /// When it was made, UTC.
    pub created_at: DateTime<Utc>,
}

impl Summary {
    /// Whether a message that it covers has become another one or is gone: its words were taken away, and it is to be made anew.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.summary.is_empty()
    }

    /// Whether a prompt may show it.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !self.is_stale() && self.importance > 0.0
    }

    /// Whether it covers the message at this index.
    #[must_use]
    pub const fn covers(&self, index: u32) -> bool {
        self.start <= index && index <= self.end
    }

    /// The same without its words, to be made anew. What is being made of the messages as they were is not taken any more.
    #[must_use]
    pub fn without_words(&self) -> Self {
        Self { id: SummaryId::new(), summary: String::new(), ..self.clone() }
    }

    /// Whether it may stand beside the others of its session, which has so many messages that stay: in the place of one that
    /// is to be made anew, or right behind the one before it. So there are no gaps and no overlaps, whoever comes first.
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

    /// How much it is worth showing, when so many later ones are there too.
    #[must_use]
    pub fn worth(&self, later: usize) -> f32 {
        let steps = u8::try_from(later.min(AGE_STEPS)).unwrap_or(u8::MAX);
        let age = if self.importance >= LASTING { 0.0 } else { f32::from(steps) * AGE_STEP };
        self.importance - age
    }
}

/// A run of messages, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The id that its summary gets.
    pub id: SummaryId,
    /// The index of the first message.
    pub start: u32,
    /// The index of the last one.
    pub end: u32,
}

/// The run of a session's messages that has to be summarised before all others, if there is one: that of a summary which is to be
/// made anew, or one that is missing between two others.
#[must_use]
pub fn to_be_made_again(summaries: &[Summary]) -> Option<Run> {
    let mut next = 0;
    for summary in summaries {
        if summary.start > next {
            return Some(Run { id: SummaryId::new(), start: next, end: summary.start - 1 });
        }
        if summary.is_stale() {
            return Some(Run { id: summary.id, start: summary.start, end: summary.end });
        }
        next = summary.end.saturating_add(1);
    }
    None
}

/// When a session is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A summary covers at most so many messages, or one exchange; 0 for no summaries.
    pub every: u32,
    /// Requests show the newest messages of so many tokens at least.
    pub recent_tokens: usize,
}

/// The next run to be summarised of the oldest messages that no summary covers, if it is time: when there are as many as one covers,
/// or when requests leave some of them out. It is whole exchanges and never has the newest one. With `has_more`, others stand
/// behind these.
#[must_use]
pub fn next_run(uncovered: &[Arc<Message>], has_more: bool, rules: Rules) -> Option<Run> {
    let most = usize::try_from(rules.every).unwrap_or(usize::MAX);
    if most == 0 {
        return None;
    }
    let borders: Vec<usize> = (1..uncovered.len()).filter(|at| begins_exchange(uncovered, *at)).collect();
    let last = match has_more {
        true => uncovered.len(),
        false => border(uncovered, &borders, rules)?,
    };
    // Where one exchange is longer than that, it is covered alone.
    let within = borders.iter().copied().rfind(|at| *at <= most.min(last));
    let end = within.or_else(|| borders.first().copied().filter(|at| *at <= last));
    let end = end.or_else(|| has_more.then_some(uncovered.len()))?;
    let (first, last) = (uncovered.first()?, uncovered.get(end.checked_sub(1)?)?);
    Some(Run { id: SummaryId::new(), start: first.index, end: last.index })
}

/// The run that is summarised where somebody asks for it now, of the oldest messages that no summary covers: whole exchanges, the
/// newest one too, at most so many messages or one exchange. `None` without messages.
#[must_use]
pub fn whole_run(uncovered: &[Arc<Message>], most: usize) -> Option<Run> {
    let ends = (1..uncovered.len()).filter(|at| begins_exchange(uncovered, *at)).chain([uncovered.len()]);
    let ends: Vec<usize> = ends.collect();
    let end = ends.iter().rfind(|end| **end <= most).or(ends.first())?;
    let (first, last) = (uncovered.first()?, uncovered.get(end.checked_sub(1)?)?);
    Some(Run { id: SummaryId::new(), start: first.index, end: last.index })
}

/// How many of these messages may be covered now; `None` where it is not time.
fn border(uncovered: &[Arc<Message>], borders: &[usize], rules: Rules) -> Option<usize> {
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

/// Whether a message is one that people see: words of a person or of the model that no later try has replaced.
#[must_use]
pub fn is_said(message: &Message) -> bool {
    let has_words = !message.text.trim().is_empty() || !message.attachments.is_empty();
    matches!(message.role, Role::User | Role::Assistant) && has_words && !message.replaced
}

/// Words in place of a summary, where no model gives one: the beginnings of the messages that matter most, in their order; and how
/// much they matter. Nothing, of importance 0, where nobody said anything.
#[must_use]
pub fn extract(messages: &[Arc<Message>]) -> (String, f32) {
    let mut said: Vec<&Arc<Message>> = messages.iter().filter(|message| is_said(message)).collect();
    said.sort_by_key(|message| {
        (Reverse(tenths(message.importance)), message.role != Role::User, message.index)
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
    // Words at all, so that it does not count as one to be made.
    (if words.is_empty() { "-".to_owned() } else { words.join(" · ") }, importance)
}

fn tenths(importance: f32) -> i32 {
    (importance * 10.0) as i32
}

/// A session that has messages to be summarised, and how that went so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryJob {
    /// The session whose next run is to be summarised.
    pub session: SessionId,
    /// How often the run that is next was tried in vain; an answer of no use counts twice.
    pub tries: u8,
    /// It is not tried again before this time, UTC.
    pub not_before: DateTime<Utc>,
}

impl SummaryJob {
    /// To be done as soon as it can.
    #[must_use]
    pub const fn new(session: SessionId) -> Self {
        Self { session, tries: 0, not_before: DateTime::UNIX_EPOCH }
    }
}
