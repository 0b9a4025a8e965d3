//! Looks after tasks: claims those that are due and puts them into their lanes, tells people what they are to know, and
//! takes up what a crash left. It sleeps until the store's next task, so that any number of them costs nothing at rest.

mod notice;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::clock::Clock;
use crate::config::AccessSettings;
use crate::domain::access::AccessList;
use crate::domain::conversation::Conversation;
use crate::domain::delivery::PendingDelivery;
use crate::domain::task::{Cost, Ended, MOST_TAKEN_UP, ON_TIME, PauseReason, Task, TaskChange, Tell, Wake};
use crate::ids::{RunId, TaskId};
use crate::policy::access::{Verdict, judge};
use crate::prompts::texts::Locales;
use crate::session::mailbox::{Job, Mailboxes};
use crate::shutdown::Tasks;
use crate::store::{OutboxStore, Result, SettingsStore, TaskStore};

/// So many tasks run at the same time; the other lanes are for people.
pub const MOST_RUNNING: usize = 16;
/// So many are looked at together.
const BATCH: usize = 64;
/// However far away the next task is: the machine's clock may be set, or the machine may have slept.
const LOOK_EVERY: TimeDelta = TimeDelta::seconds(60);
/// Times are kept in milliseconds and compared in full: the next task may be due a moment after the store says so.
const SHORTEST: TimeDelta = TimeDelta::milliseconds(5);
/// The pause after the store failed.
const AFTER_FAILURE: TimeDelta = TimeDelta::seconds(10);

/// Runs tasks when they are due.
#[derive(Debug)]
pub struct Scheduler {
    /// The tasks.
    pub store: Arc<dyn TaskStore>,
    /// Who may talk to the bot, by settings.
    pub access: AccessSettings,
    /// Who may talk to it, by what owners said.
    pub settings: Arc<dyn SettingsStore>,
    /// Answers on their way.
    pub outbox: Arc<dyn OutboxStore>,
    /// The lanes that tasks run in.
    pub mailboxes: Mailboxes,
    /// Words.
    pub locales: Arc<Locales>,
    /// The time.
    pub clock: Clock,
    /// It ends when these stop.
    pub tasks: Tasks,
}

impl Scheduler {
    /// Looks after tasks until the bot stops. What the last stop left undelivered or unended must be back in its lane.
    pub async fn run(self) {
        let news = self.store.task_news();
        let mut seen = self.clock.now();
        // What came due before was missed: nobody was there.
        let mut awake = seen;
        loop {
            let now = self.clock.now();
            if now - seen > LOOK_EVERY + ON_TIME {
                tracing::warn!(since = %seen, "the machine has slept, or its clock was set");
                awake = now;
            }
            seen = now;
            let pause = match self.look(now, awake).await {
                Ok(next) => next.map_or(LOOK_EVERY, |next| (next - self.clock.now()).min(LOOK_EVERY)),
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "tasks could not be looked after");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                biased;
                () = self.tasks.stopping() => return,
                () = news.notified() => {}
                () = tokio::time::sleep(pause.max(SHORTEST).to_std().unwrap_or(Duration::ZERO)) => {}
            }
        }
    }

    /// Does what is due; gives the time of what comes next. With all places taken that is when one becomes free.
    async fn look(&self, now: DateTime<Utc>, awake: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        loop {
            let room = self.room(now).await?;
            let due = self.store.due_tasks(now, BATCH).await?;
            let did = self.forget(&due, (now, awake)).await?
                | self.tell(&due, (now, awake)).await?
                | self.begin(&due, room, (now, awake)).await?;
            if self.tasks.is_stopping() {
                return Ok(None);
            }
            if !did {
                let is_waiting = due.iter().any(|task| matches!(task.wake(now, awake), Wake::Run(_)));
                return if is_waiting { Ok(None) } else { self.store.next_wake().await };
            }
        }
    }

    /// How many more may run. A run that has gone from its lane without an end is taken up again on the way.
    async fn room(&self, now: DateTime<Utc>) -> Result<usize> {
        let claimed = self.store.claimed_tasks().await?;
        for task in &claimed {
            self.take_up(task, now).await?;
        }
        Ok(MOST_RUNNING.saturating_sub(claimed.len()))
    }

    /// Puts a run that nobody works on back into its lane: its answer to be delivered, its turn to be gone on with or
    /// begun. A run that was lost too often has failed.
    async fn take_up(&self, task: &Task, now: DateTime<Utc>) -> Result<()> {
        let Some(claim) = &task.claim else { return Ok(()) };
        if self.mailboxes.holds(claim.run) {
            if claim.lease_until <= now {
                self.change(task.id, TaskChange::Renew(claim.run), now).await?;
            }
            return Ok(());
        }
        let job = match claim.answered {
            Some(_) => self.undelivered(task.id).await?.map(Job::Deliver),
            None => Some(Job::Task(Box::new(task.clone()))),
        };
        tracing::warn!(task = %task.id, run = %claim.run, before = claim.taken_up, "a task's run was left; taking it up");
        match job.filter(|_| claim.taken_up < MOST_TAKEN_UP) {
            Some(job) => {
                if self.change(task.id, TaskChange::TakeUp(claim.run), now).await?.is_some() {
                    self.mailboxes.post(task.place.conversation(), job);
                }
            }
            None => {
                let error = self.locales.of(task.language.as_deref()).reason_internal.clone();
                let ended = Ended::Failed { error, again: false, cost: Cost::default() };
                self.change(task.id, TaskChange::Settle(claim.run, ended), now).await?;
            }
        }
        Ok(())
    }

    async fn undelivered(&self, task: TaskId) -> Result<Option<PendingDelivery>> {
        Ok(self.outbox.deliveries().await?.into_iter().find(|delivery| delivery.task == Some(task)))
    }

    async fn forget(&self, due: &[Task], when: (DateTime<Utc>, DateTime<Utc>)) -> Result<bool> {
        let over = due.iter().filter(|task| task.wake(when.0, when.1) == Wake::Forget);
        let mut did = false;
        for task in over {
            self.store.forget_task(task.id).await?;
            did = true;
        }
        Ok(did)
    }

    /// Claims what is to run, as far as there is room, and leaves out what was missed.
    async fn begin(
        &self,
        due: &[Task],
        mut room: usize,
        (now, awake): (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<bool> {
        let mut changes: Vec<(TaskId, TaskChange)> = Vec::new();
        let list = self.settings.access().await?;
        for task in due {
            match task.wake(now, awake) {
                Wake::Run(_) if !self.may_run(task, &list) => {
                    tracing::info!(task = %task.id, user = %task.creator.user, "a task of someone who may not talk to the bot any more is paused");
                    changes.push((task.id, TaskChange::Pause(PauseReason::Denied)));
                }
                Wake::Run(due) if room > 0 => {
                    room -= 1;
                    changes.push((task.id, TaskChange::Claim(RunId::new(), due)));
                }
                Wake::Miss(at, missed) => changes.push((task.id, TaskChange::Miss(at, missed))),
                Wake::Run(_) | Wake::Tell | Wake::Forget | Wake::Nothing => {}
            }
        }
        if changes.is_empty() {
            return Ok(false);
        }
        let changed = self.store.change_tasks(changes, Vec::new(), now).await?;
        for task in changed.into_iter().flatten().filter(|task| task.claim.is_some()) {
            tracing::info!(task = %task.id, chat = %task.place.chat, "a task is due");
            self.mailboxes.post(task.place.conversation(), Job::Task(Box::new(task)));
        }
        Ok(true)
    }

    /// A task has no more rights than whoever made it.
    fn may_run(&self, task: &Task, list: &AccessList) -> bool {
        let verdict = judge(&self.access, list, &task.place, &task.creator.user);
        matches!(verdict, Verdict::Allow(_))
    }

    /// Tells people what they are to know. Several missed runs of a place make one message.
    async fn tell(&self, due: &[Task], (now, awake): (DateTime<Utc>, DateTime<Utc>)) -> Result<bool> {
        let to_tell: Vec<&Task> = due.iter().filter(|task| task.wake(now, awake) == Wake::Tell).collect();
        let mut missed: BTreeMap<Conversation, Vec<&Task>> = BTreeMap::new();
        for task in &to_tell {
            match &task.tell {
                Some(Tell::Missed(_)) => missed.entry(task.place.conversation()).or_default().push(task),
                Some(tell) => self.send(&[task], self.notice(task, tell)).await?,
                None => {}
            }
        }
        for tasks in missed.values() {
            if let Some(notice) = self.missed_notice(tasks) {
                self.send(tasks, notice).await?;
            }
        }
        Ok(!to_tell.is_empty())
    }

    async fn send(&self, tasks: &[&Task], notice: PendingDelivery) -> Result<()> {
        let told = tasks.iter().map(|task| (task.id, TaskChange::Told)).collect();
        let changed = self.store.change_tasks(told, vec![notice.clone()], notice.created_at).await?;
        if changed.iter().any(Option::is_some) {
            self.mailboxes.post(notice.place.conversation(), Job::Deliver(notice));
        }
        Ok(())
    }

    async fn change(&self, id: TaskId, change: TaskChange, now: DateTime<Utc>) -> Result<Option<Task>> {
        Ok(self.store.change_tasks(vec![(id, change)], Vec::new(), now).await?.pop().flatten())
    }
}
