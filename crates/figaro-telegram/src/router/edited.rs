//! Edited messages: updates the stored message and its pins.

use super::Router;
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_policy::access::{Verdict, judge};
use figaro_store::StoreError;

impl Router {
    /// Applies an edit to the question and to the pins of the message.
    pub(super) async fn edited(&self, id: UpdateId, view: &MessageView) -> Result<(), StoreError> {
        let Some(edited) = inbound::read(id, view, &self.me) else { return Ok(()) };
        self.mailboxes.edit(&edited);
        self.conversations.edit_message(&edited).await?;
        let Inbound { origin, place, speaker, text, .. } = edited;
        let list = self.settings.access().await?;
        if !matches!(judge(&self.access, &list, &place, &speaker.user, self.clock.now()), Verdict::Allow(_)) {
            return Ok(());
        }
        // For a command, the pin contains only its argument.
        let words = inbound::command(view, &self.me).map_or(text, |line| line.argument);
        match origin.message() {
            Some(message) => self.pins.follow_edit(place.chat, message, &words).await,
            None => Ok(()),
        }
    }
}
