//! Who gave a command or pressed a button, and where.

use figaro_base::ids::MessageId;
use figaro_domain::chat::Place;
use figaro_domain::message::{Inbound, Speaker};
use figaro_policy::access::Standing;

/// Who gave a command or pressed a button, and where.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    /// The chat and topic of the command.
    pub(crate) place: Place,
    /// The person who sent the command.
    pub(crate) speaker: Speaker,
    /// The IETF tag of the language to speak to them in: that of their client, unless the chat has set one.
    pub(crate) language: Option<String>,
    /// The IETF tag of the language of their client.
    pub(crate) client: Option<String>,
    /// What they may do.
    pub(crate) standing: Standing,
    /// The message to answer in a group; of a press, the one with the button.
    pub(crate) message: Option<MessageId>,
}

impl Asker {
    /// The writer of a message.
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

    /// Whether an owner asks where nobody else reads the answer.
    pub(super) fn is_owner_alone(&self) -> bool {
        self.standing == Standing::Owner && !self.place.is_group()
    }
}
