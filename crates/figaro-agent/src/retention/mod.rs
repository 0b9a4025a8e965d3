//! Retention: deletes old data, such as finished tasks, processed update ids, unreadable updates, removed memories, old
//! audit log entries, expired undo data, and strangers who were told that the bot is private. Messages are deleted only on
//! request; then [`Rewriter`] rewrites the files of the store. Run in the background by `app`.

mod rewrite;

use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::yield_now;

use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::facts::REMOVED_FOR;
use figaro_domain::reception::KEPT_FOR;
use figaro_store::{
    AuditStore, ChildStore, FactStore, InboxStore, ReceptionStore, Result, SettingsStore, TaskStore,
    UndoStore,
};

pub use self::rewrite::Rewriter;

/// Interval between two rounds.
const EVERY: Duration = Duration::from_secs(3600);
/// Days before a stranger may be told again that the bot is private.
const STRANGER_DAYS: i64 = 90;

/// Deletes stored data once its retention period is over.
#[derive(Debug)]
pub struct Retention {
    /// Processed update ids and unreadable updates.
    pub inbox: InboxStore,
    /// Strangers who were told that the bot is private.
    pub settings: SettingsStore,
    /// Removed memories, deleted for good after [`REMOVED_FOR`].
    pub facts: FactStore,
    /// Audit log, limited by `audit_kept`.
    pub audit: AuditStore,
    /// Records of child agents, limited by `kept`.
    pub children: ChildStore,
    /// Undo data of turns, deleted when it expires.
    pub undos: UndoStore,
    /// Finished tasks, limited by `kept`.
    pub tasks: TaskStore,
    /// Receptions: records of what became of incoming messages, limited by [`KEPT_FOR`].
    pub receptions: ReceptionStore,
    /// Retention of audit log entries, from `AUDIT_DAYS`.
    pub audit_kept: TimeDelta,
    /// Retention of update ids, unreadable updates, children and finished tasks. At least a day, since Telegram may resend
    /// updates that long. Other data has periods of its own.
    pub kept: TimeDelta,
    /// Source of the current time; ages are measured by it.
    pub clock: Clock,
    /// Ends the retention task on request.
    pub background: TaskTracker,
}

impl Retention {
    /// Deletes old data at once, then every hour until the bot stops. Failures are logged and retried in the next round.
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
        report(self.settings.forget_strangers(strangers_before), "strangers");
        report(self.inbox.expire_set_aside(before), "updates that cannot be read");
        report(self.facts.purge(now - REMOVED_FOR, now), "removed memories");
        report(self.undos.expire(now), "what can be taken back no more");
        report(self.children.expire(before), "children of turns");
        let (audit_before, received_before) = (now - self.audit_kept, now - KEPT_FOR);
        self.until_none_is_left("entries of the audit log", || self.audit.expire(audit_before)).await;
        self.until_none_is_left("what became of messages", || self.receptions.expire(received_before)).await;
        self.until_none_is_left("ids of updates", || self.inbox.expire_seen(before)).await;
        self.until_none_is_left("ended tasks", || self.tasks.forget_ended(before)).await;
    }

    /// Calls `forget` until it deletes nothing more: each call deletes a bounded number.
    async fn until_none_is_left(&self, what: &str, forget: impl Fn() -> Result<usize>) {
        while !self.background.is_stopping() && report(forget(), what) > 0 {
            yield_now().await;
        }
    }
}

/// Logs the result and returns the number of deleted items; 0 after a failure.
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
