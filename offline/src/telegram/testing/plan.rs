//! Test plans for the offline Telegram: failing calls, updates and limits.

use serde_json::Value;

use super::super::OfflineTelegram;
use super::super::planned::PlannedFailure;
use super::super::world::ChatType;

impl OfflineTelegram {
    /// Adds a basic group with the bot as a member.
    pub fn add_group(&self, id: i64, title: &str) {
        self.add_chat(id, ChatType::Group, title);
    }

    /// Queues an update, even of a kind the bot did not ask for. Fills in `update_id` and returns it.
    pub fn push_raw(&self, update: Value) -> i64 {
        self.shared.change(|state| state.updates.push_raw(update))
    }

    /// Queues a raw text, JSON or not, in place of an update. Returns its update id. The text must contain the id itself, so
    /// `text` receives it.
    pub fn push_text(&self, text: impl FnOnce(i64) -> String) -> i64 {
        self.shared.change(|state| state.updates.push_text(text))
    }

    /// Plans a failure for the next `times` calls of a method; `*` means any method but `getUpdates`.
    pub fn fail(&self, method: &str, failure: PlannedFailure, times: usize) {
        self.shared.change(|state| state.testing.plan(method, failure, times));
    }

    /// Revokes the token: all later calls are refused.
    pub fn revoke_token(&self) {
        self.shared.change(|state| state.testing.is_revoked = true);
    }

    /// Enables Telegram's flood limits, with empty counters, or disables them.
    pub fn enforce_limits(&self, on: bool) {
        self.shared.change(|state| state.testing.enforce_limits(on));
    }
}
