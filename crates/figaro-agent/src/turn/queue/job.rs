//! The jobs that wait in the queue of a conversation.

use super::super::question::{Again, Question};
use super::admission::Slot;
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::chat::Place;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::Task;
use figaro_domain::turn::ActiveTurn;

/// Something to be done in a queue.
#[derive(Debug, Clone)]
pub enum Job {
    /// Answers a question with a new turn.
    Ask(Question),
    /// Go on with a turn that a restart interrupted.
    Resume(ActiveTurn, Question),
    /// Go on with a turn that waited for a person and has its answer.
    GoOn(RunId),
    /// Asks the last question of the session again.
    Again(Again),
    /// Carry out a task whose run has a lease, or go on with that after a restart.
    Task(Box<Task>),
    /// Deliver what a restart left undelivered.
    Deliver(PendingDelivery),
}

/// A job on its way into a queue, with the place that it takes among what waits; what Figaro itself posts takes none.
#[derive(Debug)]
pub struct Posted {
    pub(super) job: Job,
    pub(super) slot: Option<Slot>,
}

impl Posted {
    /// A job that somebody asked for.
    #[must_use]
    pub const fn new(job: Job, slot: Option<Slot>) -> Self {
        Self { job, slot }
    }
}

impl From<Job> for Posted {
    fn from(job: Job) -> Self {
        Self { job, slot: None }
    }
}

impl Job {
    pub(super) const fn question(&self) -> Option<&Question> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(question),
            Self::GoOn(_) | Self::Again(_) | Self::Task(_) | Self::Deliver(_) => None,
        }
    }

    pub(super) const fn question_mut(&mut self) -> Option<&mut Question> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(question),
            Self::GoOn(_) | Self::Again(_) | Self::Task(_) | Self::Deliver(_) => None,
        }
    }

    /// Where it is answered; `None` where that is known once it is taken up.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Ask(question) | Self::Resume(_, question) => Some(&question.parts.first()?.place),
            Self::Again(again) => Some(&again.asked.parts.first()?.place),
            Self::Task(task) => Some(&task.place),
            Self::Deliver(delivery) => Some(&delivery.place),
            Self::GoOn(_) => None,
        }
    }

    /// Whether it answers this request from outside of Telegram.
    pub(super) fn is_for(&self, request: RequestId) -> bool {
        let question = match self {
            Self::Ask(question) | Self::Resume(_, question) => question,
            Self::Again(again) => &again.asked,
            Self::GoOn(_) | Self::Task(_) | Self::Deliver(_) => return false,
        };
        question.requested.as_ref().is_some_and(|requested| requested.id == request)
    }

    /// Whether this turn, or what it left to deliver, is the job.
    pub(super) fn is_of(&self, run: RunId) -> bool {
        match self {
            Self::Resume(active, _) => active.id == run,
            Self::GoOn(parked) => *parked == run,
            Self::Task(task) => task.lease.is_some_and(|lease| lease.run == run),
            Self::Deliver(delivery) => delivery.run == run,
            Self::Ask(_) | Self::Again(_) => false,
        }
    }
}
