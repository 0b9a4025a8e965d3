//! Transitions of a task.

use chrono::{DateTime, Utc};

use super::edit::TaskEdit;
use super::missed::{DueRun, Missed};
use super::{
    Cost, LEASE, Lease, MAX_FAILURES, PAUSES, PauseReason, REPEATED_FAILURE_WINDOW, Reason, Retry, RunStatus,
    Task, TaskMessage, TaskRun, TaskRunResult, TaskState, Tell,
};
use figaro_base::ids::{ChatId, MessageId, RunId};

/// A change of a task. [`Task::apply`] checks and applies it.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    /// Pauses the task until it is resumed. A current run continues.
    Pause(PauseReason),
    /// Resumes a paused task, on a person's request.
    Resume,
    /// Cancels the task. A current run continues.
    Cancel,
    /// Undoes a cancellation, on a person's request.
    Revive,
    /// Edits the task, by a person or the model.
    Edit(Box<TaskEdit>),
    /// Leases a due time to this turn.
    Lease(RunId, DueRun),
    /// Puts a due time off until the end of the chat's quiet hours, UTC.
    PutOff(DueRun, DateTime<Utc>),
    /// Runs the task now as this turn, on a person's request.
    RunNow(RunId),
    /// Records a missed due time that is not run.
    Miss(DateTime<Utc>, Missed),
    /// Skips the missed run that a person was asked about.
    Skip,
    /// Resumes a run that was abandoned by its process.
    TakeUp {
        /// Run that has the lease.
        run: RunId,
        /// `true` if the bot was not running, and the run is late now.
        late: bool,
        /// `true` if the run had begun, so that it may have crashed the process. A run that only waited cannot have.
        begun: bool,
    },
    /// Records the answer of the run; only the delivery is missing.
    Answered(RunId, Cost),
    /// Ends the run with this result, and its lease.
    Settle(RunId, TaskRunResult),
    /// Clears the pending notice, because people are being told.
    Told,
    /// Adds a message that shows the task, or updates its entry.
    Show(TaskMessage),
    /// Records the hash of an updated card, unless a person has opened something else in the message.
    Drawn(ChatId, MessageId, u64),
    /// Removes the entry of a message that no longer shows the task.
    Hide(ChatId, MessageId),
    /// Closes opened views and questions, because the task was changed by text.
    CloseOpened,
}

/// Error for a change that does not fit the current state of the task: another change came first, or the task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotNow;

impl TaskChange {
    /// Wraps an edit as a change.
    #[must_use]
    pub fn edit(edit: TaskEdit) -> Self {
        Self::Edit(Box::new(edit))
    }
}

impl Task {
    /// Applies a change and returns the entry added to the history, if any.
    ///
    /// # Errors
    /// If the change does not fit the state. The task is then unchanged.
    pub fn apply(&mut self, change: TaskChange, now: DateTime<Utc>) -> Result<Option<TaskRun>, NotNow> {
        match change {
            TaskChange::Pause(reason) => self.pause(reason, now)?,
            TaskChange::Resume => self.resume(now)?,
            TaskChange::Cancel => self.cancel(now)?,
            TaskChange::Revive => self.revive(now)?,
            TaskChange::Edit(edit) => self.edit(*edit, now),
            TaskChange::Lease(run, due) => self.lease(run, due, now)?,
            TaskChange::PutOff(due, until) => self.put_off(due, until)?,
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
            TaskState::Active => {}
            // Removing the bot from the chat does not override a person's earlier decision.
            TaskState::Paused(_) | TaskState::Done(_) | TaskState::Cancelled(_) => return Err(NotNow),
        }
        self.state = TaskState::Paused(reason);
        self.updated_at = now;
        self.rest(now);
        Ok(())
    }

    fn resume(&mut self, now: DateTime<Utc>) -> Result<(), NotNow> {
        let TaskState::Paused(_) = self.state else { return Err(NotNow) };
        self.state = TaskState::Active;
        self.failures = 0;
        self.updated_at = now;
        // Runs that passed during the pause were not wanted, so they are not missed. Only for a single time this is unclear:
        // a person is asked, as for a run that waited for a retry.
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
            TaskState::Cancelled(_) => return Err(NotNow),
            TaskState::Paused(reason) => Some(reason),
            TaskState::Active | TaskState::Done(_) => None,
        };
        self.state = TaskState::Cancelled(now);
        self.tell = None;
        self.updated_at = now;
        Ok(())
    }

    fn revive(&mut self, now: DateTime<Utc>) -> Result<(), NotNow> {
        let TaskState::Cancelled(_) = self.state else { return Err(NotNow) };
        self.state = self.was_paused.take().map_or(TaskState::Active, TaskState::Paused);
        self.updated_at = now;
        self.rest(now);
        Ok(())
    }

    fn lease(&mut self, run: RunId, due: DueRun, now: DateTime<Utc>) -> Result<(), NotNow> {
        if self.lease.is_some() || self.state != TaskState::Active {
            return Err(NotNow);
        }
        let DueRun { at, attempt, late } = due;
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

    /// Makes the due time the next attempt. The due times until then are passed over.
    fn put_off(&mut self, due: DueRun, until: DateTime<Utc>) -> Result<(), NotNow> {
        if self.lease.is_some() || self.state != TaskState::Active {
            return Err(NotNow);
        }
        let cost = self.retry.map(|retry| retry.cost).unwrap_or_default();
        self.retry = Some(Retry { due: due.at, attempt: due.attempt, at: until, cost });
        self.next = self.schedule.next(self.zone, until.max(due.at));
        Ok(())
    }

    fn run_now(&mut self, run: RunId, now: DateTime<Utc>) -> Result<(), NotNow> {
        if self.lease.is_some() || matches!(self.state, TaskState::Cancelled(_)) {
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
        if self.lease.is_some() || self.state != TaskState::Active {
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

    /// Sets the notice for a due time that is not run. Returns its status in the history, if it gets an entry.
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

    fn settle(
        &mut self,
        run: RunId,
        ended: TaskRunResult,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskRun>, NotNow> {
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
            TaskRunResult::Delivered(message) => TaskRun { status: RunStatus::Delivered, message, ..entry },
            TaskRunResult::Spoke(cost) => TaskRun { status: RunStatus::Delivered, cost: with(cost), ..entry },
            TaskRunResult::Silent(cost) => TaskRun { status: RunStatus::Silent, cost: with(cost), ..entry },
            TaskRunResult::Stopped(cost) => TaskRun { status: RunStatus::Stopped, cost: with(cost), ..entry },
            TaskRunResult::Withdrawn => TaskRun { status: RunStatus::Skipped, ..entry },
            TaskRunResult::Overdue => {
                let Some(status) = self.left_out(lease.due, self.if_missed.into()) else {
                    return Ok(None);
                };
                TaskRun { status, ..entry }
            }
            TaskRunResult::Failed { error, again, cost } => {
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

    /// Schedules a retry of a failed run, unless there were enough attempts or the next due time comes first.
    fn will_retry(&mut self, lease: &Lease, cost: Cost, now: DateTime<Utc>) -> bool {
        let pause = usize::try_from(lease.attempt - 1).ok().and_then(|tried| PAUSES.get(tried));
        let Some(at) = pause.map(|pause| now + *pause).filter(|_| !lease.by_hand) else { return false };
        let is_free = self.state == TaskState::Active && self.next.is_none_or(|next| at < next);
        if is_free {
            self.retry = Some(Retry { due: lease.due, attempt: lease.attempt + 1, at, cost });
        }
        is_free
    }

    /// Reports a failure, unless the same one occurred shortly before.
    fn fail(&mut self, error: &Reason, by_hand: bool, now: DateTime<Utc>) {
        if let TaskState::Cancelled(_) = self.state {
            return;
        }
        let before = self.last.as_ref().filter(|last| last.status == RunStatus::Failed);
        let is_new = before.is_none_or(|last| {
            last.error.as_ref() != Some(error) || now - last.ended_at >= REPEATED_FAILURE_WINDOW
        });
        self.failures += u32::from(error.counts() && !by_hand);
        let is_last = self.failures >= MAX_FAILURES && self.state == TaskState::Active && self.next.is_some();
        if is_last {
            self.state = TaskState::Paused(PauseReason::Failures);
            self.tell = Some(Tell::Paused(error.clone()));
        } else if is_new || by_hand {
            self.tell = Some(Tell::Failed(error.clone()));
        }
    }

    /// Ends the task if no runs are left.
    pub(super) fn rest(&mut self, now: DateTime<Utc>) {
        let is_over = self.next.is_none() && self.lease.is_none() && self.retry.is_none();
        let may_end = matches!(self.state, TaskState::Active | TaskState::Paused(_));
        if is_over && self.asked.is_none() && may_end {
            self.state = TaskState::Done(now);
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
