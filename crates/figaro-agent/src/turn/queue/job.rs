//! Jobs in the queue of a conversation.

use super::super::question::{Question, RepeatRequest};
use super::admission::WaitingSlot;
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::chat::Place;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::origin::Origin;
use figaro_domain::task::Task;
use figaro_domain::turn::{ActiveTurn, AttemptChoice};

/// Work that waits in a queue.
#[derive(Debug, Clone)]
pub enum Job {
    /// Answers a question with a new turn.
    Ask(Question),
    /// Continues a turn that a restart interrupted.
    Resume(ActiveTurn, Question),
    /// Continues a turn that waited for a person and now has their answer.
    GoOn(RunId),
    /// Asks the last question of the session again.
    Again(RepeatRequest),
    /// Runs a task whose run has a lease, or continues the run after a restart.
    Task(Box<Task>),
    /// Delivers an answer that a restart left undelivered.
    Deliver(PendingDelivery),
    /// Shows another attempt at the last question, if the shown one still counts when the job begins.
    Show(Box<AttemptChoice>),
}

/// Job to be queued, with its slot among the waiting jobs. Jobs that Figaro itself posts have no slot.
#[derive(Debug)]
pub struct QueuedJob {
    pub(super) job: Job,
    pub(super) slot: Option<WaitingSlot>,
}

impl QueuedJob {
    /// Creates a posted job for a person's request.
    #[must_use]
    pub const fn new(job: Job, slot: Option<WaitingSlot>) -> Self {
        Self { job, slot }
    }
}

impl From<Job> for QueuedJob {
    fn from(job: Job) -> Self {
        Self { job, slot: None }
    }
}

impl Job {
    pub(super) const fn question(&self) -> Option<&Question> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(question),
            Self::GoOn(_) | Self::Again(_) | Self::Task(_) | Self::Deliver(_) | Self::Show(_) => None,
        }
    }

    pub(super) const fn question_mut(&mut self) -> Option<&mut Question> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(question),
            Self::GoOn(_) | Self::Again(_) | Self::Task(_) | Self::Deliver(_) | Self::Show(_) => None,
        }
    }

    /// Returns the origin of the edited message that the job answers; `None` for any other job.
    pub(super) fn edited(&self) -> Option<Origin> {
        match self {
            Self::Again(again) if again.is_edit => again.asked.parts.first().map(|part| part.origin),
            _ => None,
        }
    }

    /// Returns `true` for a question from a chat that the bot is no member of.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        let first = self.question().and_then(|question| question.parts.first());
        first.is_some_and(|part| matches!(part.origin, Origin::Inline { .. }))
    }

    /// Returns `true` for the draft of a reply to a customer.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        self.question()
            .and_then(|question| question.parts.first())
            .is_some_and(|part| part.origin == Origin::Draft)
    }

    /// Returns the place where it is answered; `None` if the place is known only when the job begins.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(&question.parts.first()?.place),
            Self::Again(again) => Some(&again.asked.parts.first()?.place),
            Self::Task(task) => Some(&task.place),
            Self::Deliver(delivery) => Some(&delivery.place),
            Self::Show(choice) => Some(&choice.place),
            Self::GoOn(_) => None,
        }
    }

    /// Returns `true` if the job answers this request from outside Telegram.
    pub(super) fn is_for(&self, request: RequestId) -> bool {
        let question = match self {
            Self::Ask(question) | Self::Resume(_, question) => question,
            Self::Again(again) => &again.asked,
            Self::GoOn(_) | Self::Task(_) | Self::Deliver(_) | Self::Show(_) => return false,
        };
        question.requested.as_ref().is_some_and(|requested| requested.id == request)
    }

    /// Returns `true` if the job is this turn or the delivery of its answer.
    pub(super) fn is_of(&self, run: RunId) -> bool {
        match self {
            Self::Resume(active, _) => active.id == run,
            Self::GoOn(parked) => *parked == run,
            Self::Task(task) => task.lease.is_some_and(|lease| lease.run == run),
            Self::Deliver(delivery) => delivery.run == run,
            Self::Ask(_) | Self::Again(_) | Self::Show(_) => false,
        }
    }
}
