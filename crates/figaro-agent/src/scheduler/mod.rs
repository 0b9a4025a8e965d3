//! Scheduler of tasks: leases due tasks and queues them, sends notices, and takes up runs left by a crash. Sleeps until the
//! store's next task, so idle tasks cost nothing.

mod notice;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;

use crate::delivery::Owners;
use crate::languages::Languages;
use crate::turn::queue::{Job, Mailboxes};
use figaro_base::clock::Clock;
use figaro_base::ids::{RunId, TaskId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::tz::Tz;
use figaro_config::AccessSettings;
use figaro_domain::access::AccessList;
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::task::{
    Cost, Lease, MAX_TAKEN_UP, ON_TIME, PauseReason, Reason, Task, TaskChange, TaskRunResult, Tell, Wake,
};
use figaro_policy::access::{Verdict, judge};
use figaro_prompts::texts::Texts;
use figaro_store::{ConversationStore, Result, SettingsStore, StoreError, TaskStore};

/// Maximum number of tasks that run at the same time. Other queues are for people.
pub(crate) const MAX_RUNNING: usize = 16;
/// Number of due tasks handled per round.
const BATCH: usize = 256;
/// Maximum pause between two checks, since the clock may be set or the machine may sleep.
const LOOK_EVERY: TimeDelta = TimeDelta::seconds(60);
/// Minimum pause between two checks, whatever the store says.
const MIN_PAUSE: TimeDelta = TimeDelta::milliseconds(5);
/// Pause after a failure of the store.
const AFTER_FAILURE: TimeDelta = TimeDelta::seconds(10);

/// Runs tasks when they are due.
#[derive(Debug)]
pub struct Scheduler {
    /// Tasks and their leases.
    pub store: TaskStore,
    /// Access rules from the settings.
    pub access: AccessSettings,
    /// Access list kept by the owners.
    pub settings: SettingsStore,
    /// Active turns: tells which left runs had begun.
    pub conversations: ConversationStore,
    /// Queues that tasks run in.
    pub mailboxes: Mailboxes,
    /// Texts for people, and the language of each chat.
    pub languages: Languages,
    /// Owners, told when the clock was set.
    pub owners: Arc<dyn Owners>,
    /// Time zone of chats that have none.
    pub default_zone: Tz,
    /// Source of the current time; decides when tasks are due.
    pub clock: Clock,
    /// Ends the scheduler on request.
    pub background: TaskTracker,
}

/// A leased run that no worker processes.
#[derive(Debug, Clone, Copy)]
struct LeftRun {
    lease: Lease,
    /// `Some(true)` if the run starts late; `None` if it is too late to run.
    late: Option<bool>,
    /// `true` if the run had begun and is resumed.
    has_begun: bool,
}

impl Scheduler {
    /// Schedules tasks until the bot stops. Deliveries and turns left by the last stop must be back in their queues before.
    pub async fn run(self) {
        let news = self.store.news();
        let mut hands = Hands::new(&self.clock);
        // Runs due before the start were missed: the bot was not running.
        let mut awake = hands.now;
        self.replan(None).await;
        if let Err(error) = self.take_up_all(hands.now).await {
            tracing::error!(%error, label = error.label(), "runs that a stop left could not be taken up");
        }
        loop {
            let now = self.keep_time(&mut hands, &mut awake).await;
            let looked = AssertUnwindSafe(self.look(now, awake)).catch_unwind().await;
            let pause = match looked.unwrap_or_else(|_panic| {
                Err(StoreError::Failed {
                    operation: "look after tasks",
                    reason: "a task broke the code that looks after it".to_owned(),
                })
            }) {
                Ok(next) => next.map_or(LOOK_EVERY, |next| (next - self.clock.now()).min(LOOK_EVERY)),
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "tasks could not be looked after");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                biased;
                () = self.background.stopping() => return,
                () = news.notified() => {}
                () = tokio::time::sleep(pause.max(MIN_PAUSE).to_std().unwrap_or(Duration::ZERO)) => {}
            }
        }
    }

    /// Reads the clocks again and returns the time. If the machine slept or the clock was set, `awake` starts anew.
    async fn keep_time(&self, hands: &mut Hands, awake: &mut DateTime<Utc>) -> DateTime<Utc> {
        let before = std::mem::replace(hands, Hands::new(&self.clock));
        let step = hands.step_since(&before);
        if step.is_some() || hands.now - before.now > LOOK_EVERY + ON_TIME {
            tracing::warn!(since = %before.now, "the machine has slept, or its clock was set");
            *awake = hands.now;
        }
        if step.is_some() {
            self.replan(step).await;
        }
        hands.now
    }

    /// Recomputes due times, and tells the owners that the clock was set: by `step`, or by an unknown amount while the bot
    /// was not running.
    async fn replan(&self, step: Option<TimeDelta>) {
        let now = self.clock.now();
        let changed = match self.store.replan(now).await {
            Ok(changed) => changed,
            Err(error) => {
                tracing::error!(%error, label = error.label(), "when tasks are due could not be worked out anew");
                return;
            }
        };
        if step.is_none() && changed == 0 {
            return;
        }
        let seconds = step.map(|step| step.num_seconds());
        tracing::warn!(?seconds, changed, "the clock of the machine was set");
        let words = |texts: &Texts| notice::clock_set(texts, step, changed);
        self.owners.tell(self.languages.locales.map(words)).await;
    }

    /// Processes due tasks and returns the next wake-up time. A due task without room starts when a run ends, which the
    /// store signals.
    async fn look(&self, now: DateTime<Utc>, awake: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        loop {
            let under_way = self.under_way(now).await?;
            let due = self.store.due(now, BATCH)?;
            let did = self.tell(&due, now, awake).await? | self.begin(&due, &under_way, now, awake).await?;
            if self.background.is_stopping() {
                return Ok(None);
            }
            if !did {
                // Times are stored in milliseconds but compared in full precision: one of these may be due in a moment.
                let soon = due.iter().filter_map(Task::wakes_at).filter(|at| *at > now).min();
                let next = self.store.next_wake(now)?;
                return Ok(soon.into_iter().chain(next).min());
            }
        }
    }

    /// Returns the leased tasks. Takes up runs that have left their queue without an end, once their lease has expired.
    async fn under_way(&self, now: DateTime<Utc>) -> Result<Vec<Task>> {
        let leased = self.store.leased()?;
        for task in &leased {
            let is_lost = |lease: &Lease| lease.until <= now && !self.mailboxes.holds(lease.run);
            if let Some(lease) = task.lease.filter(is_lost) {
                let left = LeftRun { lease, late: Some(lease.late), has_begun: true };
                self.take_up(task, left, now).await?;
            }
        }
        Ok(leased)
    }

    /// Takes up the runs left by the last stop, unless it is too late for them. No other process works on them: the store
    /// belongs to this one.
    async fn take_up_all(&self, now: DateTime<Utc>) -> Result<()> {
        let begun: HashSet<RunId> = self.conversations.active_runs()?.into_iter().map(|run| run.id).collect();
        for task in self.store.leased()? {
            let Some(lease) = task.lease.filter(|lease| !self.mailboxes.holds(lease.run)) else { continue };
            let has_begun = begun.contains(&lease.run);
            let late = task.after_absence(lease.due, now, lease.by_hand || has_begun);
            self.take_up(&task, LeftRun { lease, late, has_begun }, now).await?;
        }
        Ok(())
    }

    /// Puts a left run back into its queue, or settles it as overdue if `late` is `None`. A run fails if it was taken up
    /// too often, or if its answer is neither delivered nor pending.
    async fn take_up(
        &self,
        task: &Task,
        LeftRun { lease, late, has_begun }: LeftRun,
        now: DateTime<Utc>,
    ) -> Result<()> {
        tracing::warn!(task = %task.id, run = %lease.run, before = lease.taken_up, "a task's run was left");
        let is_hopeless = lease.answered.is_some() || lease.taken_up >= MAX_TAKEN_UP;
        let change = match late {
            _ if is_hopeless => {
                let ended =
                    TaskRunResult::Failed { error: Reason::Internal, again: false, cost: Cost::default() };
                TaskChange::Settle(lease.run, ended)
            }
            None => TaskChange::Settle(lease.run, TaskRunResult::Overdue),
            Some(late) => TaskChange::TakeUp { run: lease.run, late, begun: has_begun },
        };
        let changed = self.change(task.id, change, now).await?;
        if let Some(task) = changed.filter(|task| task.lease.is_some()) {
            self.mailboxes.post(task.place.conversation(), Job::Task(Box::new(task)));
        }
        Ok(())
    }

    /// Leases due runs while there is room, and records missed ones.
    async fn begin(
        &self,
        due: &[Task],
        under_way: &[Task],
        now: DateTime<Utc>,
        awake: DateTime<Utc>,
    ) -> Result<bool> {
        let mut changes: Vec<(TaskId, TaskChange)> = Vec::new();
        // One per chat: a second one would only wait in its queue and take another chat's place.
        let mut taken: HashSet<ConversationId> =
            under_way.iter().map(|task| task.place.conversation()).collect();
        let mut room = MAX_RUNNING.saturating_sub(under_way.len());
        let list = self.settings.access()?;
        for task in due {
            match task.wake(now, awake) {
                Wake::Run(_) | Wake::Miss(..) if !self.may_run(task, &list) => {
                    tracing::info!(task = %task.id, user = %task.creator.user, "a task of someone who may not talk to the bot any more is paused");
                    changes.push((task.id, TaskChange::Pause(PauseReason::Denied)));
                }
                Wake::Run(due) => {
                    if let Some(until) = self.quiet_until(task, now) {
                        changes.push((task.id, TaskChange::PutOff(due, until)));
                    } else if room > 0 && taken.insert(task.place.conversation()) {
                        room -= 1;
                        changes.push((task.id, TaskChange::Lease(RunId::new(), due)));
                    }
                }
                Wake::Miss(at, missed) => changes.push((task.id, TaskChange::Miss(at, missed))),
                Wake::Lapse => changes.push((task.id, TaskChange::Skip)),
                Wake::Tell | Wake::Nothing => {}
            }
        }
        if changes.is_empty() {
            return Ok(false);
        }
        let changed = self.store.change(changes, Vec::new(), now).await?;
        for task in changed.into_iter().flatten().filter(|task| task.lease.is_some()) {
            tracing::info!(task = %task.id, chat = %task.place.chat, "a task is due");
            self.mailboxes.post(task.place.conversation(), Job::Task(Box::new(task)));
        }
        Ok(true)
    }

    /// Returns the end of the quiet hours of a task's chat, UTC; `None` if there are none now.
    fn quiet_until(&self, task: &Task, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // Unreadable settings keep no task from its time.
        let config = self.settings.chat_config(task.place.chat).unwrap_or_default();
        config.quiet_hours?.end_after(now, config.timezone.unwrap_or(self.default_zone))
    }

    /// Returns `true` if the creator may talk to the bot. A task has no more rights than its creator.
    fn may_run(&self, task: &Task, list: &AccessList) -> bool {
        let verdict = judge(&self.access, list, &task.place, &task.creator.user, self.clock.now());
        matches!(verdict, Verdict::Allow(_))
    }

    /// Sends the due notices. Missed runs of one place share a message.
    async fn tell(&self, due: &[Task], now: DateTime<Utc>, awake: DateTime<Utc>) -> Result<bool> {
        let to_tell: Vec<&Task> = due.iter().filter(|task| task.wake(now, awake) == Wake::Tell).collect();
        let mut missed: BTreeMap<ConversationId, Vec<&Task>> = BTreeMap::new();
        for task in &to_tell {
            match &task.tell {
                Some(Tell::Missed(_)) => missed.entry(task.place.conversation()).or_default().push(task),
                Some(tell) => {
                    self.send(&[task], notice::notice(&self.languages, task, tell, self.clock.now())).await?
                }
                None => {}
            }
        }
        for tasks in missed.values() {
            if let Some(notice) = notice::missed_notice(&self.languages, tasks, self.clock.now()) {
                self.send(tasks, notice).await?;
            }
        }
        Ok(!to_tell.is_empty())
    }

    async fn send(&self, tasks: &[&Task], notice: PendingDelivery) -> Result<()> {
        let told = tasks.iter().map(|task| (task.id, TaskChange::Told)).collect();
        let changed = self.store.change(told, vec![notice.clone()], notice.created_at).await?;
        if changed.iter().any(Option::is_some) {
            self.mailboxes.post(notice.place.conversation(), Job::Deliver(notice));
        }
        Ok(())
    }

    async fn change(&self, id: TaskId, change: TaskChange, now: DateTime<Utc>) -> Result<Option<Task>> {
        Ok(self.store.change(vec![(id, change)], Vec::new(), now).await?.pop().flatten())
    }
}

/// Readings of both clocks at one moment.
#[derive(Debug)]
struct Hands {
    now: DateTime<Utc>,
    steady: Duration,
}

impl Hands {
    fn new(clock: &Clock) -> Self {
        Self { now: clock.now(), steady: clock.steady() }
    }

    /// Returns the change of the wall clock since `before`, if it exceeds [`ON_TIME`].
    fn step_since(&self, before: &Self) -> Option<TimeDelta> {
        let passed = TimeDelta::from_std(self.steady.saturating_sub(before.steady)).unwrap_or(TimeDelta::MAX);
        let step = (self.now - before.now).checked_sub(&passed)?;
        (step.abs() > ON_TIME).then_some(step)
    }
}
