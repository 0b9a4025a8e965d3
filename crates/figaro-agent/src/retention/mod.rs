//! Forgets what is over and was kept long enough: ended tasks, ids of updates, updates that cannot be read, removed memories, old entries of the audit log, what can be taken back no more,
//! and strangers who were told that the bot is private. Messages go only when somebody erases them: then the files of the store
//! are rewritten ([`Rewriter`]). Run in the background by `app`.

mod rewrite;

use std::time::Duration;

use chrono::TimeDelta;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::facts::REMOVED_FOR;
use figaro_domain::reception::KEPT_FOR;
use figaro_store::{
    AuditStore, ChildStore, FactStore, InboxStore, ReceptionStore, Result, SettingsStore, TaskStore,
    UndoStore,
};

pub use self::rewrite::Rewriter;

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(3600);
/// A stranger who was told that the bot is private is told again after so many days at the earliest.
const STRANGER_DAYS: i64 = 90;

/// Forgets by age.
#[derive(Debug)]
pub struct Retention {
    /// Ids of updates, and updates that cannot be read.
    pub inbox: InboxStore,
    /// Strangers who were told that the bot is private.
    pub settings: SettingsStore,
    /// Memories that were removed.
    pub facts: FactStore,
    /// The audit log.
    pub audit: AuditStore,
    /// The children of turns.
    pub children: ChildStore,
    /// What turns did that could be taken back.
    pub undos: UndoStore,
    /// Tasks that have ended.
    pub tasks: TaskStore,
    /// What became of messages that came in.
    pub receptions: ReceptionStore,
    /// How long entries of the audit log are kept.
    pub audit_kept: TimeDelta,
    /// How long all but strangers, memories, the audit log, what became of messages and what can be taken back are kept: a day at
    /// least, so long Telegram may send an update again.
    pub kept: TimeDelta,
    /// Gives the current time: ages are reckoned by it.
    pub clock: Clock,
    /// It ends when this is asked to stop.
    pub background: TaskTracker,
}

impl Retention {
    /// Looks at once, then every hour until the bot stops. What could not be forgotten is logged and tried again with the
    /// next look.
    pub async fn run(self) {
        loop {
            self.forget().await;
            tokio::select! {
                () = self.background.stopping() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    async fn forget(&self) {
        let now = self.clock.now();
        let (before, strangers_before) = (now - self.kept, now - TimeDelta::days(STRANGER_DAYS));
        report(self.settings.forget_strangers(strangers_before).await, "strangers");
        report(self.inbox.expire_set_aside(before).await, "updates that cannot be read");
        report(self.facts.purge(now - REMOVED_FOR, now).await, "removed memories");
        report(self.undos.expire(now).await, "what can be taken back no more");
        report(self.children.expire(before).await, "children of turns");
        let (audit_before, received_before) = (now - self.audit_kept, now - KEPT_FOR);
        self.until_none_is_left("entries of the audit log", || self.audit.expire(audit_before)).await;
        self.until_none_is_left("what became of messages", || self.receptions.expire(received_before)).await;
        self.until_none_is_left("ids of updates", || self.inbox.expire_seen(before)).await;
        self.until_none_is_left("ended tasks", || self.tasks.forget_ended(before)).await;
    }

    /// Calls again as long as something was forgotten: each call forgets a bounded number.
    async fn until_none_is_left<F: Future<Output = Result<usize>>>(
        &self,
        what: &str,
        forget: impl Fn() -> F,
    ) {
        while !self.background.is_stopping() && report(forget().await, what) > 0 {}
    }
}

/// How many there were; none if it failed, which is logged.
fn report(forgotten: Result<usize>, what: &str) -> usize {
    let logged = forgotten.inspect_err(|error| {
        tracing::error!(%error, label = error.label(), "{what} could not be forgotten; trying again in an hour");
    });
    let forgotten = logged.unwrap_or_default();
    if forgotten > 0 {
        tracing::debug!(count = forgotten, "{what} forgotten");
    }
    forgotten
}
