//! Records the outcome of each message, for `/why`.

use std::sync::Arc;

use super::Router;
use super::fate::{Arrival, UpdateFate};
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::{ChatId, MessageId, UpdateId};
use figaro_domain::reception::{ReceivedMessage, Reception};
use figaro_store::StoreError;

impl Router {
    /// Handles a message and records its outcome. A failure to record does not cost the answer.
    pub(super) async fn noted(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let fate = self.message(id, view, arrival).await?;
        // Nothing is recorded under the old id of a chat that migrates.
        let moves = view.migrate_to_chat_id.is_some() || view.migrate_from_chat_id.is_some();
        if let Some((what, user)) = reception(&fate).zip(inbound::writer(view)).filter(|_| !moves) {
            let (chat, message) = (ChatId(view.chat.id), MessageId(view.message_id));
            let received = ReceivedMessage { at: self.clock.now(), user, what, turn: None };
            if let Err(error) = self.receptions.note(chat, &[message], received) {
                tracing::warn!(%error, update = %id, "what became of a message could not be noted");
            }
        }
        Ok(fate)
    }
}

/// Returns the outcome to record; `None` if `/why` could not tell more than for an unknown message.
fn reception(fate: &UpdateFate) -> Option<Reception> {
    match fate {
        UpdateFate::Asked => Some(Reception::Asked),
        UpdateFate::Refused(why) | UpdateFate::Kept(why) => Some(*why),
        UpdateFate::Settled | UpdateFate::Pending => Some(Reception::Taken),
        UpdateFate::Dropped("denied") => Some(Reception::Denied),
        UpdateFate::Dropped("group_not_allowed") => Some(Reception::GroupNotAllowed),
        UpdateFate::Dropped("stranger" | "too_many_notices") => Some(Reception::Stranger),
        UpdateFate::Dropped("bots_loop") => Some(Reception::BotsLoop),
        UpdateFate::Dropped("no_person") => Some(Reception::NoPerson),
        UpdateFate::Dropped("no_room") => Some(Reception::NoRoom),
        UpdateFate::Dropped(_) => None,
    }
}
