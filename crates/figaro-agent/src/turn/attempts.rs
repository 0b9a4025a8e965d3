//! Attempts at the question of a turn that ends.

use super::end::Ender;
use figaro_domain::turn::{ActiveTurn, Attempt};

impl Ender {
    /// Returns the number of attempts at the question of the turn that stand in the chat, with this one.
    pub(super) fn attempts(&self, turn: &ActiveTurn) -> usize {
        if !turn.again {
            return 1;
        }
        let attempts = self.conversations.attempts(turn.conversation);
        let attempts = attempts.inspect_err(|error| {
            self.reporter.report(error, "the attempts at a question could not be read");
        });
        let others = attempts.unwrap_or_default().into_iter().filter(|attempt| attempt.turn != turn.id);
        others.filter(Attempt::is_shown).count() + 1
    }
}
