//! [`ConversationStore`]: the last question of a conversation, and the attempts at it.

use chrono::{DateTime, Utc};

use super::records::turns::{self, Beginning};
use crate::{ConversationStore, Repetition, Result};
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::turn::{ActiveTurn, Attempt, AttemptChoice};

impl ConversationStore {
    /// Begins a turn that answers the last question of the current session again. The question and all messages after it
    /// count as replaced; the question is appended anew, with its edit, and returned, too. `None` if there is no question,
    /// or the edited message is not part of it; the update is then settled, durably. Otherwise as [`Self::begin_turn`].
    pub async fn begin_again(
        &self,
        conversation: ConversationId,
        request: Repetition,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Vec<Message>)>> {
        let at = Beginning { bot: self.0.bot(), conversation, now };
        let begun = self.0.change_durably("begin a turn again", move |tables, changes| {
            let rules = self.0.shared.pack_rules.in_chat(tables, conversation.chat)?;
            turns::begin_again(tables, changes, at, request, &rules)
        });
        Ok(begun.await?.map(|begun| (begun.turn, begun.question)))
    }

    /// Returns the last question of a person in the current session, and the messages after it; empty before the first.
    pub fn last_exchange(&self, conversation: ConversationId) -> Result<Vec<Message>> {
        self.0.read("read the last question", move |tables| turns::exchange_of(tables, conversation))
    }

    /// Returns the attempts at the last question of the current session, oldest first.
    pub fn attempts(&self, conversation: ConversationId) -> Result<Vec<Attempt>> {
        self.0.read("read the attempts at a question", move |tables| turns::attempts(tables, conversation))
    }

    /// Makes another attempt at the last question the one that counts, durably. Returns the delivery that shows its answer
    /// in place of the other; `None` if the shown attempt no longer counts, or a newer question has begun.
    pub async fn show_attempt(
        &self,
        conversation: ConversationId,
        choice: AttemptChoice,
        now: DateTime<Utc>,
    ) -> Result<Option<PendingDelivery>> {
        let at = Beginning { bot: self.0.bot(), conversation, now };
        self.0
            .change_durably("show another attempt", move |tables, changes| {
                turns::show_attempt(tables, changes, at, choice)
            })
            .await
    }
}
