//! Edited messages: what is stored and pinned of them follows.

use super::Router;
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_policy::access::{Verdict, judge};
use figaro_store::StoreError;

impl Router {
    /// Takes in an edit: the question that it changes, and the pins of the message.
    pub(super) async fn edited(&self, id: UpdateId, view: &MessageView) -> Result<(), StoreError> {
        let Some(edited) = inbound::read(id, view, &self.me) else { return Ok(()) };
        self.mailboxes.edit(&edited);
        self.conversations.edit_message(&edited).await?;
        let Inbound { origin, place, speaker, text, .. } = edited;
        let list = self.settings.access().await?;
        if !matches!(judge(&self.access, &list, &place, &speaker.user, self.clock.now()), Verdict::Allow(_)) {
            return Ok(());
        }
        // Of a command the words behind it were pinned.
        let words = inbound::command(view, &self.me).map_or(text, |line| line.argument);
        match origin.message() {
            Some(message) => self.pins.follow_edit(place.chat, message, &words).await,
            None => Ok(()),
        }
    }
}
