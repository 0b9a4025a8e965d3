//! Tasks: prompts that run automatically, once or repeatedly. Holds every transition, without I/O. The store makes each in
//! one write; the scheduler and people's buttons request them.
//!
//! A due time is leased to a run before anything is done for it. The lease moves the task on to its next due time, so that
//! nothing runs twice for one due time. A run abandoned in a crash is found when its lease ends, or at the next start.

mod change;
mod cost;
mod edit;
mod if_missed;
mod messages;
mod missed;
mod new;
mod prompt;
mod reason;
mod replan;
mod shown;
mod standing;
mod step;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

use super::chat::Place;
use super::message::Speaker;
use super::model::ModelName;
use super::schedule::Schedule;
use figaro_base::ids::{MessageId, RecordId, RunId, TaskId};
use figaro_base::text::one_line;

pub use change::TaskChange;
pub use cost::Cost;
pub use edit::TaskEdit;
pub use if_missed::IfMissed;
pub use missed::{DueRun, Missed, ON_TIME, Wake};
pub use new::NewTask;
pub use reason::Reason;
pub use shown::{Shows, TaskMessage};
pub use standing::{MAX_CALLS, MAX_STANDING, STANDING_RULE, StandingChange, StandingRule};
pub use step::TaskStep;

/// Name of the agent that runs tasks for which no other was chosen.
pub const SCHEDULED_AGENT: &str = "scheduled";
/// Maximum length of a title on cards, in characters.
const TITLE_CHARS: usize = 60;
/// Maximum length of a prompt, in characters.
pub const MAX_PROMPT_CHARS: usize = 4000;
/// Maximum number of messages sent by tools in one run. The final answer does not count.
pub const MAX_RUN_MESSAGES: usize = 5;
/// Maximum number of messages of the answer. The last message of a longer answer is a document with the full text.
pub const MAX_ANSWER_MESSAGES: usize = 5;
/// Pauses between the attempts for one due time. There is one attempt more than pauses.
pub(crate) const PAUSES: [TimeDelta; 2] = [TimeDelta::minutes(1), TimeDelta::minutes(5)];
/// Number of consecutive failed due times after which a task is paused.
pub const MAX_FAILURES: u32 = 5;
/// Number of crashes after which a run has failed, because it may have caused them.
pub const MAX_TAKEN_UP: u32 = 10;
/// Time within which a repeated identical failure is not reported again.
pub(crate) const REPEATED_FAILURE_WINDOW: TimeDelta = TimeDelta::hours(3);
/// Time for which a lease holds without renewal. Then the scheduler checks whether its run still exists.
pub const LEASE: TimeDelta = TimeDelta::minutes(5);
/// Time after the due time for which the question about a missed run stays open.
pub(crate) const ASKED_FOR: TimeDelta = TimeDelta::days(7);

/// A scheduled prompt of a chat, with its schedule and state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique id, never reused.
    pub id: TaskId,
    /// Chat and topic of the runs.
    pub place: Place,
    /// Person who asked for the task; its cost is booked on them.
    pub creator: Speaker,
    /// IETF tag of the creator's language. The language of the chat takes precedence.
    pub language: Option<String>,
    /// Short title for people; `None` for the beginning of the prompt.
    #[serde(default)]
    pub title: Option<String>,
    /// Instruction for the model at each run.
    pub prompt: String,
    /// URLs in the prompt that a person wrote or a search found, not the model alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Turns that gave the task its words. It is forgotten with the question of any of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub made_in: BTreeSet<RunId>,
    /// Text by others that the model had read when it gave the task its words; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// Record that the task reminds of; it may no longer exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// Actions that its runs may take without asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingRule>,
    /// Schedule: a single time or a cron expression.
    pub schedule: Schedule,
    /// Time zone of the schedule.
    pub zone: Tz,
    /// `true` if nobody named the zone. It is the bot's default until the chat has a zone.
    pub zone_assumed: bool,
    /// Name of the agent that runs the task.
    pub agent: String,
    /// Model that runs the task; `None` for the chat's.
    pub model: Option<ModelName>,
    /// Rule for missed runs.
    pub if_missed: IfMissed,
    /// Creation time, UTC.
    pub created_at: DateTime<Utc>,
    /// Time of the last change by a person, UTC.
    pub updated_at: DateTime<Utc>,
    /// Current state: active, paused, done or cancelled.
    pub state: TaskState,
    /// Reason of the pause in which the task was cancelled. It is paused again if the cancellation is undone.
    #[serde(default)]
    pub was_paused: Option<PauseReason>,
    /// Next due time, UTC; `None` if there is none.
    pub next: Option<DateTime<Utc>>,
    /// Lease of the current run. Stored under its earlier name.
    #[serde(rename = "claim")]
    pub lease: Option<Lease>,
    /// Next attempt of a failed run; `None` if there is none.
    pub retry: Option<Retry>,
    /// Missed due time, UTC, about which a person is asked.
    pub asked: Option<DateTime<Utc>>,
    /// Pending notice to people.
    pub tell: Option<Tell>,
    /// Number of consecutive failed due times.
    pub failures: u32,
    /// Last run that ended; `None` before the first.
    pub last: Option<TaskRun>,
    /// Messages that show the task, latest last.
    #[serde(default)]
    pub messages: Vec<TaskMessage>,
}

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Runs at its due times.
    Active,
    /// Does not run until a person resumes it.
    Paused(PauseReason),
    /// Has run for the last time; with the time of its end, UTC.
    Done(DateTime<Utc>),
    /// Was cancelled by a person; with the time, UTC.
    Cancelled(DateTime<Utc>),
}

/// Reason of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person paused the task.
    Person,
    /// The task failed [`MAX_FAILURES`] times in a row.
    Failures,
    /// The bot was removed from the chat or blocked there.
    Removed,
    /// The creator may no longer talk to the bot.
    Denied,
}

/// Lease of a due time to the current run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Turn of the run, which may not have begun yet.
    pub run: RunId,
    /// Due time of the run, UTC; for a run started by a person, the time of the request.
    pub due: DateTime<Utc>,
    /// Number of the attempt, from 1.
    pub(crate) attempt: u32,
    /// Number of times the run was resumed after a crash.
    pub taken_up: u32,
    /// `true` if a person started the run.
    pub by_hand: bool,
    /// `true` if the due time passed while the bot was not running.
    pub late: bool,
    /// Cost of earlier attempts for the same due time.
    #[serde(default)]
    pub(crate) before: Cost,
    /// Start of the lease, UTC.
    pub since: DateTime<Utc>,
    /// Time when the scheduler checks whether the run still exists, UTC. Stored under its earlier name.
    #[serde(rename = "lease_until")]
    pub until: DateTime<Utc>,
    /// Cost of the answer; `None` until there is one. Then only the delivery is missing.
    pub answered: Option<Cost>,
}

/// Next attempt for a due time that failed, or that was put off until quiet hours end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Due time, UTC.
    pub due: DateTime<Utc>,
    /// Number of the next attempt; 1 if the due time was put off.
    pub attempt: u32,
    /// Start of the next attempt, UTC.
    pub at: DateTime<Utc>,
    /// Cost of the attempts so far.
    #[serde(default)]
    pub cost: Cost,
}

/// Notice to people about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// A run failed, for this reason.
    Failed(Reason),
    /// The task was paused after repeated failures; with the last reason.
    Paused(Reason),
    /// The run due at this time, UTC, was missed and is not made up for.
    Missed(DateTime<Utc>),
    /// The run due at this time, UTC, was missed. A person is asked whether to make up for it.
    Ask(DateTime<Utc>),
}

/// Result of a run of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskRunResult {
    /// The answer reached the chat; with its last message, if it needed one.
    Delivered(Option<MessageId>),
    /// There was no answer, but a tool of the run sent messages.
    Spoke(Cost),
    /// There was no answer, and no tool sent anything.
    Silent(Cost),
    /// A person stopped the run.
    Stopped(Cost),
    /// The run ended before it began, because nobody wants it any longer, for example after its task was cancelled.
    Withdrawn,
    /// The run was abandoned in a crash, and it is too late to resume it.
    Overdue,
    /// The run failed, and may be tried again.
    Failed {
        /// Reason shown to people.
        error: Reason,
        /// `true` if the run may be tried again: it made no call with effects, and the fault may be temporary.
        again: bool,
        /// Tokens and money used.
        cost: Cost,
    },
}

/// Entry of the task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    /// Turn of the run; `None` for a due time without one.
    pub run: Option<RunId>,
    /// Due time, UTC.
    pub due: DateTime<Utc>,
    /// Start time, UTC.
    pub started_at: DateTime<Utc>,
    /// End time, UTC.
    pub ended_at: DateTime<Utc>,
    /// Result of the due time.
    pub status: RunStatus,
    /// Number of attempts made.
    pub attempts: u32,
    /// `true` if a person started the run.
    pub by_hand: bool,
    /// Tokens and money used.
    pub cost: Cost,
    /// Reason of a failure; `None` if the run did not fail.
    pub error: Option<Reason>,
    /// Last message of the answer that Telegram confirmed.
    pub message: Option<MessageId>,
}

/// Result of a due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Telegram confirmed the messages sent.
    Delivered,
    /// The run sent nothing.
    Silent,
    /// A person stopped the run.
    Stopped,
    /// The last attempt failed.
    Failed,
    /// The bot was not running, and it was too late to make up for the run.
    Missed,
    /// The bot was not running, and the run was skipped by the task's rule or by a person.
    Skipped,
}

impl Task {
    /// Returns the one-line title for lists and cards.
    #[must_use]
    pub fn title(&self) -> String {
        one_line(self.title.as_ref().unwrap_or(&self.prompt), TITLE_CHARS)
    }

    /// Returns the time when the task needs attention, UTC; `None` for never. The store keeps all tasks in this order.
    #[must_use]
    pub fn wakes_at(&self) -> Option<DateTime<Utc>> {
        // Notices come before due times.
        if self.tell.is_some() {
            return Some(DateTime::UNIX_EPOCH);
        }
        match (&self.lease, self.state) {
            // Leased runs are checked separately.
            (Some(_), _) => None,
            (None, TaskState::Active) => {
                let asked = self.asked.map(|due| due + ASKED_FOR);
                self.retry.map(|retry| retry.at).or(self.next).or(asked)
            }
            (None, TaskState::Paused(_) | TaskState::Done(_) | TaskState::Cancelled(_)) => None,
        }
    }

    /// Returns `true` if the task counts against the limit of its creator. A task paused in a chat without the bot does not,
    /// because they cannot reach it.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.is_live() && !matches!(self.state, TaskState::Paused(PauseReason::Removed))
    }

    /// Returns the end of the task, UTC; `None` while it may still run or a notice is pending.
    #[must_use]
    pub const fn ended_at(&self) -> Option<DateTime<Utc>> {
        match self.state {
            TaskState::Done(at) | TaskState::Cancelled(at) if self.lease.is_none() && self.tell.is_none() => {
                Some(at)
            }
            _ => None,
        }
    }

    /// Returns `true` if the task may still run.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        !matches!(self.state, TaskState::Done(_) | TaskState::Cancelled(_))
    }

    /// Returns the next due times, UTC, at most `count`; empty if there are none.
    #[must_use]
    pub fn upcoming(&self, count: usize) -> Vec<DateTime<Utc>> {
        let later = self.next.into_iter().flat_map(|next| self.schedule.upcoming(self.zone, next));
        self.next.into_iter().chain(later).take(count).collect()
    }
}
