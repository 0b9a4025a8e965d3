//! Waiting turns with a call that needs approval.

use super::Parked;
use super::waiting::{ClosedBy, WaitingTurn};
use figaro_base::ids::{RunId, UserId};
use figaro_domain::approval::Ruling;
use figaro_domain::conversation::ConversationId;
use figaro_domain::origin::Origin;
use figaro_domain::turn::ParkedTurn;
use figaro_store::StoreError;

impl Parked {
    /// Returns `true` if a call that somebody other than this person asked for waits for approval in this conversation.
    #[must_use]
    pub fn has_approval_of_others(&self, conversation: ConversationId, user: &UserId) -> bool {
        let waiting = self.waiting();
        waiting
            .iter()
            .any(|one| one.parked.turn.conversation == conversation && one.is_approval_of_others(user))
    }

    /// Returns the turns with a call that waits for approval, oldest first.
    #[must_use]
    pub fn with_approvals(&self) -> Vec<ParkedTurn> {
        let waiting = self.waiting();
        let asked = waiting.iter().map(|one| &one.parked).filter(|parked| parked.question.approval.is_some());
        let mut asked: Vec<ParkedTurn> = asked.cloned().collect();
        asked.sort_by_key(|parked| (parked.parked_at, parked.turn.id));
        asked
    }

    /// Returns the turn with this id if it waits with a call that needs approval.
    #[must_use]
    pub fn with_approval(&self, run: RunId) -> Option<ParkedTurn> {
        let waiting = self.waiting();
        let parked = &waiting.iter().find(|one| one.run() == run)?.parked;
        parked.question.approval.is_some().then(|| parked.clone())
    }

    /// Stores a person's ruling on a call. Returns the conversation in which the turn continues; `None` if there was a
    /// ruling before or this one is too late. With `press_shows`, the handler of the button press updates the message
    /// itself.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn rule(
        &self,
        run: RunId,
        ruling: Ruling,
        press: Origin,
        press_shows: bool,
    ) -> Result<Option<ConversationId>, StoreError> {
        let closed_by = Some(ClosedBy { name: ruling.name.clone(), ruled: Some(ruling.ruled) });
        let conversation = self.0.store.rule(run, ruling, press).await?;
        if conversation.is_some() {
            self.forget(run, |one| {
                if !press_shows {
                    self.0.closing.close(WaitingTurn { closed_by, ..one });
                }
            });
        }
        Ok(conversation)
    }
}
