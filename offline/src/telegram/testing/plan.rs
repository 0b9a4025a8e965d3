//! What a test decides of the offline Telegram: which calls fail, which updates come, which limits hold.

use serde_json::Value;

use super::super::OfflineTelegram;
use super::super::planned::PlannedFailure;
use super::super::world::ChatType;

impl OfflineTelegram {
    /// Adds a basic group with the bot as a member.
    pub fn add_group(&self, id: i64, title: &str) {
        self.add_chat(id, ChatType::Group, title);
    }

    /// Queues any update, whatever the bot asked for; `update_id` is filled in. Gives it.
    pub fn push_raw(&self, update: Value) -> i64 {
        self.shared.change(|state| state.updates.push_raw(update))
    }

    /// Queues a text as it stands, JSON or not, in place of an update. Gives the id under which it waits and is
    /// acknowledged; the text gets it and has to name it itself.
    pub fn push_text(&self, text: impl FnOnce(i64) -> String) -> i64 {
        self.shared.change(|state| state.updates.push_text(text))
    }

    /// The next `times` calls of a method (`*`: of any but `getUpdates`) fail.
    pub fn fail(&self, method: &str, failure: PlannedFailure, times: usize) {
        self.shared.change(|state| state.testing.plan(method, failure, times));
    }

    /// From now on the token is refused.
    pub fn revoke_token(&self) {
        self.shared.change(|state| state.testing.is_revoked = true);
    }

    /// Turns Telegram's flood limits on, with empty counters, or off.
    pub fn enforce_limits(&self, on: bool) {
        self.shared.change(|state| state.testing.enforce_limits(on));
    }
}
