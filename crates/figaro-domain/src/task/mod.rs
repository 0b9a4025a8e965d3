//! Tasks: prompts that run by themselves, at a time or again and again. Every transition is here, without I/O; the
//! store makes each in one write, the scheduler and people's buttons ask for them.
//!
//! A due time is leased to a run before anything is done for it, and that moves the task on to its next due time: so
//! nothing runs twice for one. A run that a crash left behind is seen when its lease ends, or at the next start.

mod change;
mod cost;
mod edit;
mod if_missed;
mod messages;
mod missed;
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
use chrono_tz::Tz;
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
pub use missed::{Due, Missed, ON_TIME, Wake};
pub use reason::Reason;
pub use shown::{Shows, TaskMessage};
pub use standing::{MAX_CALLS, MAX_STANDING, STANDING_RULE, StandingChange, StandingRule};
pub use step::TaskStep;

/// The name of the agent that runs tasks for which no other was chosen.
pub const SCHEDULED_AGENT: &str = "scheduled";
/// The most characters that cards show of a title.
const TITLE_CHARS: usize = 60;
/// The most characters of a prompt.
pub const MAX_PROMPT_CHARS: usize = 4000;
/// The most messages that tools send in one run; the answer that is delivered at its end does not count.
pub const MAX_RUN_MESSAGES: usize = 5;
/// The most messages of that answer; the last one of a longer one is the whole of it as a document.
pub const MAX_ANSWER_MESSAGES: usize = 5;
/// The pauses between the attempts for one due time: one attempt more than there are pauses.
pub(crate) const PAUSES: [TimeDelta; 2] = [TimeDelta::minutes(1), TimeDelta::minutes(5)];
/// The number of due times in a row at which a task may fail before it is paused.
pub const MAX_FAILURES: u32 = 5;
/// A run that was lost in a crash so often has failed: it may be what brought the process down.
pub const MAX_TAKEN_UP: u32 = 10;
/// People are not told of a failure that is the same as that of the run before, where that ended less than this time ago.
pub(crate) const REPEATED_FAILURE_WINDOW: TimeDelta = TimeDelta::hours(3);
/// How long a lease holds without being renewed; then the scheduler looks whether its run still exists.
pub const LEASE: TimeDelta = TimeDelta::minutes(5);
/// How long an answer to the question of a missed run is waited for, from its due time.
pub(crate) const ASKED_FOR: TimeDelta = TimeDelta::days(7);

/// A scheduled prompt of a chat: what to do, when, and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The id of the task, unique for ever.
    pub id: TaskId,
    /// The chat and topic it runs in.
    pub place: Place,
    /// Who asked for it; its cost is theirs.
    pub creator: Speaker,
    /// The IETF tag of the language that was spoken to the creator; that of its chat counts first.
    pub language: Option<String>,
    /// What people call it, in a few words; `None` for the beginning of the prompt.
    #[serde(default)]
    pub title: Option<String>,
    /// The instruction that the model gets at each run.
    pub prompt: String,
    /// Addresses in the prompt that a person wrote or search found, and not the model alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// The turns that gave it its words: it is forgotten with the question of any of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub made_in: BTreeSet<RunId>,
    /// The record that it reminds of; it may be gone by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// What its runs may do without asking anybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingRule>,
    /// The schedule: a single time or a cron expression.
    pub schedule: Schedule,
    /// The zone that the schedule's times are in.
    pub zone: Tz,
    /// Whether nobody named the zone: it is the bot's default, until the chat says where it is.
    pub zone_assumed: bool,
    /// The name of the agent that runs it.
    pub agent: String,
    /// The model that runs it; `None` for the chat's.
    pub model: Option<ModelName>,
    /// What becomes of a run that was missed.
    pub if_missed: IfMissed,
    /// When it was made, UTC.
    pub created_at: DateTime<Utc>,
    /// When a person last changed it, UTC.
    pub updated_at: DateTime<Utc>,
    /// Whether it is active, paused, done or cancelled.
    pub state: State,
    /// Why it was paused when it was cancelled: it is paused for this reason again if the cancellation is undone.
    #[serde(default)]
    pub was_paused: Option<PauseReason>,
    /// The next due time, UTC; `None` when there is none to come.
    pub next: Option<DateTime<Utc>>,
    /// The lease of the run under way. Stored under its earlier name.
    #[serde(rename = "claim")]
    pub lease: Option<Lease>,
    /// The next attempt of a run that failed; `None` if none is to be made.
    pub retry: Option<Retry>,
    /// The missed due time, UTC, about which a person is asked whether to make up for it.
    pub asked: Option<DateTime<Utc>>,
    /// What people have yet to be told about it.
    pub tell: Option<Tell>,
    /// How many due times in a row have failed.
    pub failures: u32,
    /// The last run that ended; `None` before the first one has.
    pub last: Option<TaskRun>,
    /// Where people see it, the latest message last.
    #[serde(default)]
    pub messages: Vec<TaskMessage>,
}

/// Whether a task runs at its due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It runs at its due times.
    Active,
    /// It does not run until a person resumes it.
    Paused(PauseReason),
    /// It has run for the last time. When that ended, UTC.
    Done(DateTime<Utc>),
    /// A person cancelled it. When they did, UTC.
    Cancelled(DateTime<Utc>),
}

/// Why a task is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person paused it.
    Person,
    /// It failed [`MAX_FAILURES`] times in a row.
    Failures,
    /// The bot is not in the chat any more, or blocked there.
    Removed,
    /// Whoever made it may not talk to the bot any more.
    Denied,
}

/// The lease of a due time to one run, while that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The turn of the run, begun or to be begun.
    pub run: RunId,
    /// The due time it is for, UTC; for a run that a person started, the time they did.
    pub due: DateTime<Utc>,
    /// The number of the attempt, from 1.
    pub(crate) attempt: u32,
    /// How often it was continued after a crash or a lost run.
    pub taken_up: u32,
    /// Whether a person started it, beside the schedule.
    pub by_hand: bool,
    /// Whether its time had passed already because the bot was not running.
    pub late: bool,
    /// What earlier tries for the same due time have taken.
    #[serde(default)]
    pub(crate) before: Cost,
    /// When the run got the lease, UTC.
    pub since: DateTime<Utc>,
    /// When the scheduler looks whether the run still exists, unless it has ended. Stored under its earlier name.
    #[serde(rename = "lease_until")]
    pub until: DateTime<Utc>,
    /// What its answer has cost, once there is one: then only the delivery is missing.
    pub answered: Option<Cost>,
}

/// The next attempt for a due time at which a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// The due time that failed, UTC.
    pub due: DateTime<Utc>,
    /// The number of the next attempt.
    pub attempt: u32,
    /// When the next attempt begins, UTC.
    pub at: DateTime<Utc>,
    /// What the tries so far have taken.
    #[serde(default)]
    pub cost: Cost,
}

/// What people are to be told about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// A run failed, for this reason.
    Failed(Reason),
    /// It is paused after failing so often, the last time for this reason.
    Paused(Reason),
    /// The run that was due at this time, UTC, was missed and is not made up for.
    Missed(DateTime<Utc>),
    /// The run that was due at this time, UTC, was missed; a person is asked whether to make up for it.
    Ask(DateTime<Utc>),
}

/// How a run of a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Its words reached the chat, in a message if they needed one.
    Delivered(Option<MessageId>),
    /// It gave no answer, but a tool of it sent messages.
    Spoke(Cost),
    /// It gave no answer, and no tool of it sent anything.
    Silent(Cost),
    /// A person stopped it.
    Stopped(Cost),
    /// It ended before it began: nobody wants the run any more, as when its task was cancelled.
    Withdrawn,
    /// It was left by a crash, and now it is too late for it.
    Overdue,
    /// It failed, and may be tried again.
    Failed {
        /// The reason, as people are told.
        error: Reason,
        /// Whether it may be tried again: it has made no call with effects, and the fault may pass.
        again: bool,
        /// The tokens and the money it took.
        cost: Cost,
    },
}

/// An ended run, as an entry of the task's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    /// The turn; none for a due time at which none was begun.
    pub run: Option<RunId>,
    /// The due time that it was for, UTC.
    pub due: DateTime<Utc>,
    /// When it began, UTC.
    pub started_at: DateTime<Utc>,
    /// When it ended, UTC.
    pub ended_at: DateTime<Utc>,
    /// How the due time ended.
    pub status: RunStatus,
    /// How many attempts were made.
    pub attempts: u32,
    /// Whether a person started it, beside the schedule.
    pub by_hand: bool,
    /// The tokens and the money it took.
    pub cost: Cost,
    /// Why it failed; `None` if it did not.
    pub error: Option<Reason>,
    /// The last message of its answer that Telegram confirmed.
    pub message: Option<MessageId>,
}

/// How a due time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Telegram confirmed what it sent.
    Delivered,
    /// It ran and sent nothing.
    Silent,
    /// A person stopped its run.
    Stopped,
    /// Its last attempt failed.
    Failed,
    /// The bot was not running, and it was too late to make up for it.
    Missed,
    /// The bot was not running, and it was to be left out then, or a person said so.
    Skipped,
}

/// What a person asks for in a new task; all else begins at its default.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// The chat and topic that it writes to.
    pub place: Place,
    /// The person who asked for it; their rights are checked at each run.
    pub creator: Speaker,
    /// The IETF tag of the language that is spoken to them.
    pub language: Option<String>,
    /// The instruction that the model gets at each run.
    pub prompt: String,
    /// The schedule: a single time or a cron expression.
    pub schedule: Schedule,
    /// The IANA time zone of its times.
    pub zone: Tz,
    /// Whether the zone was assumed, as nobody named it.
    pub zone_assumed: bool,
}

impl Task {
    /// An active task that begins at `now`, with its first due time worked out.
    #[must_use]
    pub fn new(new: NewTask, now: DateTime<Utc>) -> Self {
        let NewTask { place, creator, language, prompt, schedule, zone, zone_assumed } = new;
        let next = schedule.next(zone, now);
        Self {
            id: TaskId::new(),
            place,
            creator,
            language,
            title: None,
            prompt,
            addresses: Vec::new(),
            made_in: BTreeSet::new(),
            record: None,
            standing: Vec::new(),
            schedule,
            zone,
            zone_assumed,
            agent: SCHEDULED_AGENT.to_owned(),
            model: None,
            if_missed: IfMissed::default(),
            created_at: now,
            updated_at: now,
            state: State::Active,
            was_paused: None,
            next,
            lease: None,
            retry: None,
            asked: None,
            tell: None,
            failures: 0,
            last: None,
            messages: Vec::new(),
        }
    }

    /// What lists and cards call it, on one line.
    #[must_use]
    pub fn title(&self) -> String {
        one_line(self.title.as_ref().unwrap_or(&self.prompt), TITLE_CHARS)
    }

    /// When somebody has to look after it; `None` for never. The store keeps all tasks in this order.
    #[must_use]
    pub fn wakes_at(&self) -> Option<DateTime<Utc>> {
        // Before anything that is due.
        if self.tell.is_some() {
            return Some(DateTime::UNIX_EPOCH);
        }
        match (&self.lease, self.state) {
            // Those under way are looked after by themselves.
            (Some(_), _) => None,
            (None, State::Active) => {
                let asked = self.asked.map(|due| due + ASKED_FOR);
                self.retry.map(|retry| retry.at).or(self.next).or(asked)
            }
            (None, State::Paused(_) | State::Done(_) | State::Cancelled(_)) => None,
        }
    }

    /// Whether it counts against the limit of its creator: not where they cannot reach it.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.is_live() && !matches!(self.state, State::Paused(PauseReason::Removed))
    }

    /// When it ended, UTC; `None` if it may still run, or if there is still something to tell of it.
    #[must_use]
    pub const fn ended_at(&self) -> Option<DateTime<Utc>> {
        match self.state {
            State::Done(at) | State::Cancelled(at) if self.lease.is_none() && self.tell.is_none() => Some(at),
            _ => None,
        }
    }

    /// Whether it may still run.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        !matches!(self.state, State::Done(_) | State::Cancelled(_))
    }

    /// The next due times, UTC, at most `count`; empty if none is to come.
    #[must_use]
    pub fn upcoming(&self, count: usize) -> Vec<DateTime<Utc>> {
        let later = self.next.into_iter().flat_map(|next| self.schedule.upcoming(self.zone, next));
        self.next.into_iter().chain(later).take(count).collect()
    }
}
