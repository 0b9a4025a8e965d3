//! Sender of a command or of a button press, with the place.

use figaro_base::ids::MessageId;
use figaro_domain::chat::Place;
use figaro_domain::message::{Inbound, Speaker};
use figaro_policy::access::Standing;

/// Sender of a command or of a button press, with the place.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) place: Place,
    pub(crate) speaker: Speaker,
    /// IETF tag of the language for replies: that of their client, unless the chat has set one.
    pub(crate) language: Option<String>,
    /// IETF tag of the language of the sender's Telegram client.
    pub(crate) client: Option<String>,
    /// Rights of the sender in this place.
    pub(crate) standing: Standing,
    /// Message to reply to in a group; for a press, the message with the button.
    pub(crate) message: Option<MessageId>,
}

impl Asker {
    #[must_use]
    pub(crate) fn new(part: &Inbound, standing: Standing) -> Self {
        Self {
            place: part.place.clone(),
            speaker: part.speaker.clone(),
            language: part.language.clone(),
            client: part.client.clone(),
            standing,
            message: part.origin.message(),
        }
    }

    /// Returns `true` if an owner asks in a private chat, where nobody else reads the answer.
    pub(super) fn is_owner_alone(&self) -> bool {
        self.standing == Standing::Owner && !self.place.is_group()
    }
}
