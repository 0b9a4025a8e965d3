//! What became of each message, noted for whoever asks why it was or was not answered.

use std::sync::Arc;

use super::Router;
use super::fate::{Arrival, Fate};
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::{ChatId, MessageId, UpdateId};
use figaro_domain::reception::{Received, Reception};
use figaro_store::StoreError;

impl Router {
    /// Deals with a message and notes what became of it. No answer is lost for a note that cannot be stored.
    pub(super) async fn noted(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        let fate = self.message(id, view, arrival).await?;
        // Of a chat that gets another number nothing is noted under the old one any more.
        let moves = view.migrate_to_chat_id.is_some() || view.migrate_from_chat_id.is_some();
        if let Some((what, user)) = reception(&fate).zip(inbound::writer(view)).filter(|_| !moves) {
            let (chat, message) = (ChatId(view.chat.id), MessageId(view.message_id));
            let received = Received { at: self.clock.now(), user, what, turn: None };
            if let Err(error) = self.receptions.note(chat, &[message], received).await {
                tracing::warn!(%error, update = %id, "what became of a message could not be noted");
            }
        }
        Ok(fate)
    }
}

/// What is noted; nothing where nobody could be told more than that the message is not known.
fn reception(fate: &Fate) -> Option<Reception> {
    match fate {
        Fate::Asked => Some(Reception::Asked),
        Fate::Refused(why) | Fate::Kept(why) => Some(*why),
        Fate::Settled | Fate::Pending => Some(Reception::Taken),
        Fate::Dropped("denied") => Some(Reception::Denied),
        Fate::Dropped("group_not_allowed") => Some(Reception::GroupNotAllowed),
        Fate::Dropped("stranger" | "too_many_notices") => Some(Reception::Stranger),
        Fate::Dropped("bots_loop") => Some(Reception::BotsLoop),
        Fate::Dropped("no_person") => Some(Reception::NoPerson),
        Fate::Dropped("no_room") => Some(Reception::NoRoom),
        Fate::Dropped(_) => None,
    }
}
