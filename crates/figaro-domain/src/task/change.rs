//! The transitions of a task.

use chrono::{DateTime, Utc};

use super::edit::TaskEdit;
use super::missed::{Due, Missed};
use super::{
    Cost, Ended, LEASE, Lease, MAX_FAILURES, PAUSES, PauseReason, REPEATED_FAILURE_WINDOW, Reason, Retry,
    RunStatus, State, Task, TaskMessage, TaskRun, Tell,
};
use figaro_base::ids::{ChatId, MessageId, RunId};

/// A change of a task. [`Task::apply`] checks and applies it.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    /// It runs no more until it is resumed; a run under way goes on.
    Pause(PauseReason),
    /// A person resumes a paused task.
    Resume,
    /// It is not wanted any more; a run under way goes on.
    Cancel,
    /// A person takes a cancellation back.
    Revive,
    /// A person or the model changes it.
    Edit(Box<TaskEdit>),
    /// This turn takes a due time in hand.
    Lease(RunId, Due),
    /// A person wants it run now, as this turn.
    RunNow(RunId),
    /// A due time was missed and is not run.
    Miss(DateTime<Utc>, Missed),
    /// A person does not want the missed run that they were asked about.
    Skip,
    /// The run was left by whoever had it, and is taken up again.
    TakeUp {
        /// The run that has the lease.
        run: RunId,
        /// The bot was not running, and now it is late for it.
        late: bool,
        /// It had begun, and may have been what made an end of the process; one that only waited cannot.
        begun: bool,
    },
    /// The run has its answer; only the delivery is missing.
    Answered(RunId, Cost),
    /// The run has ended, in this way. Its lease ends.
    Settle(RunId, Ended),
    /// People are being told what they were to be told.
    Told,
    /// A message shows it from now on, or shows something else of it.
    Show(TaskMessage),
    /// The card in a message was drawn anew, with this hash, unless a person has opened something else there.
    Drawn(ChatId, MessageId, u64),
    /// A message is not about it any more.
    Hide(ChatId, MessageId),
    /// What was opened to change it closes: it was changed in words.
    CloseOpened,
}

/// A change that does not fit the state the task is in: somebody was faster, or it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotNow;

impl TaskChange {
    /// A change of what it does, when, or who does it.
    #[must_use]
    pub fn edit(edit: TaskEdit) -> Self {
        Self::Edit(Box::new(edit))
    }
}

impl Task {
    /// Makes a change; gives the entry that it adds to the history, if any.
    ///
    /// # Errors
    /// When it does not fit; the task is as it was then.
    pub fn apply(&mut self, change: TaskChange, now: DateTime<Utc>) -> Result<Option<TaskRun>, NotNow> {
        match change {
            TaskChange::Pause(reason) => self.pause(reason, now)?,
            TaskChange::Resume => self.resume(now)?,
            TaskChange::Cancel => self.cancel(now)?,
            TaskChange::Revive => self.revive(now)?,
            TaskChange::Edit(edit) => self.edit(*edit, now),
            TaskChange::Lease(run, due) => self.lease(run, due, now)?,
            TaskChange::RunNow(run) => self.run_now(run, now)?,
            TaskChange::Miss(due, missed) => return self.miss(due, missed, now),
            TaskChange::Skip => {
                let due = self.asked.take().ok_or(NotNow)?;
                self.rest(now);
                return Ok(self.remember(unrun(due, RunStatus::Skipped, now)));
            }
            TaskChange::TakeUp { run, late, begun } => {
                let lease = self.mine(run)?;
                lease.taken_up += u32::from(begun);
                lease.late |= late;
                lease.until = now + LEASE;
            }
            TaskChange::Answered(run, cost) => {
                let lease = self.mine(run)?;
                lease.answered = Some(cost);
                lease.until = now + LEASE;
            }
            TaskChange::Settle(run, ended) => return self.settle(run, ended, now),
            TaskChange::Told => drop(self.tell.take().ok_or(NotNow)?),
            shown @ (TaskChange::Show(_)
            | TaskChange::Drawn(..)
            | TaskChange::Hide(..)
            | TaskChange::CloseOpened) => self.change_messages(shown).ok_or(NotNow)?,
        }
        Ok(None)
    }

    fn pause(&mut self, reason: PauseReason, now: DateTime<Utc>) -> Result<(), NotNow> {
        match self.state {
            State::Active => {}
            // Whoever put the bot out of the chat does not take back what a person said before.
            State::Paused(_) | State::Done(_) | State::Cancelled(_) => return Err(NotNow),
        }
        self.state = State::Paused(reason);
        self.updated_at = now;
        self.rest(now);
        Ok(())
    }

    fn resume(&mut self, now: DateTime<Utc>) -> Result<(), NotNow> {
        let State::Paused(_) = self.state else { return Err(NotNow) };
        self.state = State::Active;
        self.failures = 0;
        self.updated_at = now;
        // What passed meanwhile was not missed, it was not wanted. Only of a single time nobody knows that: it waits for
        // a word, as does a run that was to be tried again.
        let open = self.retry.take().map(|retry| retry.due);
        if self.schedule.is_recurring() {
            self.next = self.schedule.next(self.zone, now);
        } else {
            let passed = self.next.take_if(|next| *next <= now);
            self.asked = self.asked.or(passed).or(open);
        }
        self.rest(now);
        Ok(())
    }

    fn cancel(&mut self, now: DateTime<Utc>) -> Result<(), NotNow> {
        self.was_paused = match self.state {
            State::Cancelled(_) => return Err(NotNow),
            State::Paused(reason) => Some(reason),
            State::Active | State::Done(_) => None,
        };
        self.state = State::Cancelled(now);
        self.tell = None;
        self.updated_at = now;
        Ok(())
    }

    fn revive(&mut self, now: DateTime<Utc>) -> Result<(), NotNow> {
        let State::Cancelled(_) = self.state else { return Err(NotNow) };
        self.state = self.was_paused.take().map_or(State::Active, State::Paused);
        self.updated_at = now;
        self.rest(now);
        Ok(())
    }

    fn lease(&mut self, run: RunId, due: Due, now: DateTime<Utc>) -> Result<(), NotNow> {
        if self.lease.is_some() || self.state != State::Active {
            return Err(NotNow);
        }
        let Due { at, attempt, late } = due;
        let before = match self.retry.take() {
            Some(retry) => retry.cost,
            None => {
                self.next = self.schedule.next(self.zone, now.max(at));
                Cost::default()
            }
        };
        self.lease = Some(Lease { late, before, ..new_lease(run, at, attempt, now) });
        Ok(())
    }

    fn run_now(&mut self, run: RunId, now: DateTime<Utc>) -> Result<(), NotNow> {
        if self.lease.is_some() || matches!(self.state, State::Cancelled(_)) {
            return Err(NotNow);
        }
        let asked = self.asked.take();
        self.retry = None;
        let due = asked.unwrap_or(now);
        self.lease = Some(Lease { by_hand: true, ..new_lease(run, due, 1, now) });
        Ok(())
    }

    fn miss(
        &mut self,
        due: DateTime<Utc>,
        missed: Missed,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskRun>, NotNow> {
        if self.lease.is_some() || self.state != State::Active {
            return Err(NotNow);
        }
        if self.retry.take_if(|retry| retry.due == due).is_none() {
            self.next.filter(|next| *next <= due).ok_or(NotNow)?;
            self.next = self.schedule.next(self.zone, now.max(due));
        }
        Ok(self.left_out(due, missed).and_then(|status| {
            self.rest(now);
            self.remember(unrun(due, status, now))
        }))
    }

    /// What is said of a due time that is not run, and how that stands in the history, if it does.
    fn left_out(&mut self, due: DateTime<Utc>, missed: Missed) -> Option<RunStatus> {
        match missed {
            Missed::Report => {
                self.tell = Some(Tell::Missed(due));
                Some(RunStatus::Missed)
            }
            Missed::Skip => Some(RunStatus::Skipped),
            Missed::Ask => {
                self.tell = Some(Tell::Ask(due));
                self.asked = Some(due);
                None
            }
        }
    }

    fn settle(&mut self, run: RunId, ended: Ended, now: DateTime<Utc>) -> Result<Option<TaskRun>, NotNow> {
        let lease = *self.mine(run)?;
        self.lease = None;
        let entry = TaskRun {
            run: Some(run),
            due: lease.due,
            started_at: lease.since,
            ended_at: now,
            status: RunStatus::Failed,
            attempts: lease.attempt,
            by_hand: lease.by_hand,
            cost: lease.before + lease.answered.unwrap_or_default(),
            error: None,
            message: None,
        };
        let with = |cost: Cost| entry.cost + cost;
        let entry = match ended {
            Ended::Delivered(message) => TaskRun { status: RunStatus::Delivered, message, ..entry },
            Ended::Spoke(cost) => TaskRun { status: RunStatus::Delivered, cost: with(cost), ..entry },
            Ended::Silent(cost) => TaskRun { status: RunStatus::Silent, cost: with(cost), ..entry },
            Ended::Stopped(cost) => TaskRun { status: RunStatus::Stopped, cost: with(cost), ..entry },
            Ended::Withdrawn => TaskRun { status: RunStatus::Skipped, ..entry },
            Ended::Overdue => {
                let Some(status) = self.left_out(lease.due, self.if_missed.into()) else {
                    return Ok(None);
                };
                TaskRun { status, ..entry }
            }
            Ended::Failed { error, again, cost } => {
                if again && self.will_retry(&lease, with(cost), now) {
                    return Ok(None);
                }
                self.fail(&error, lease.by_hand, now);
                TaskRun { error: Some(error), cost: with(cost), ..entry }
            }
        };
        if entry.status != RunStatus::Failed {
            self.failures = 0;
        }
        self.rest(now);
        Ok(self.remember(entry))
    }

    /// Puts a failed run off to another try, unless there were enough, or the next due time comes first.
    fn will_retry(&mut self, lease: &Lease, cost: Cost, now: DateTime<Utc>) -> bool {
        let pause = usize::try_from(lease.attempt - 1).ok().and_then(|tried| PAUSES.get(tried));
        let Some(at) = pause.map(|pause| now + *pause).filter(|_| !lease.by_hand) else { return false };
        let is_free = self.state == State::Active && self.next.is_none_or(|next| at < next);
        if is_free {
            self.retry = Some(Retry { due: lease.due, attempt: lease.attempt + 1, at, cost });
        }
        is_free
    }

    /// Every failure is told, but for one that follows the same one closely: it says nothing new.
    fn fail(&mut self, error: &Reason, by_hand: bool, now: DateTime<Utc>) {
        if let State::Cancelled(_) = self.state {
            return;
        }
        let before = self.last.as_ref().filter(|last| last.status == RunStatus::Failed);
        let is_new = before.is_none_or(|last| {
            last.error.as_ref() != Some(error) || now - last.ended_at >= REPEATED_FAILURE_WINDOW
        });
        self.failures += u32::from(error.counts() && !by_hand);
        let is_last = self.failures >= MAX_FAILURES && self.state == State::Active && self.next.is_some();
        if is_last {
            self.state = State::Paused(PauseReason::Failures);
            self.tell = Some(Tell::Paused(error.clone()));
        } else if is_new || by_hand {
            self.tell = Some(Tell::Failed(error.clone()));
        }
    }

    /// Ends for good when nothing is to come.
    pub(super) fn rest(&mut self, now: DateTime<Utc>) {
        let is_over = self.next.is_none() && self.lease.is_none() && self.retry.is_none();
        let may_end = matches!(self.state, State::Active | State::Paused(_));
        if is_over && self.asked.is_none() && may_end {
            self.state = State::Done(now);
        }
    }

    fn remember(&mut self, entry: TaskRun) -> Option<TaskRun> {
        self.last = Some(entry.clone());
        Some(entry)
    }

    fn mine(&mut self, run: RunId) -> Result<&mut Lease, NotNow> {
        self.lease.as_mut().filter(|lease| lease.run == run).ok_or(NotNow)
    }
}

fn new_lease(run: RunId, due: DateTime<Utc>, attempt: u32, now: DateTime<Utc>) -> Lease {
    Lease {
        run,
        due,
        attempt,
        taken_up: 0,
        by_hand: false,
        late: false,
        before: Cost::default(),
        since: now,
        until: now + LEASE,
        answered: None,
    }
}

fn unrun(due: DateTime<Utc>, status: RunStatus, now: DateTime<Utc>) -> TaskRun {
    TaskRun {
        run: None,
        due,
        started_at: now,
        ended_at: now,
        status,
        attempts: 0,
        by_hand: false,
        cost: Cost::default(),
        error: None,
        message: None,
    }
}
