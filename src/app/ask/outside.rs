//! The terminal in the place of Telegram: turns tell it what they do, and it passes that on in order. There is no chat, so nobody
//! administers one, nobody is asked, and no file was sent.

use async_trait::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::delivery::{Consents, Delivery, Listener, Owners, Titles, TurnEvent};
use crate::domain::chat::Place;
use crate::domain::conversation::Conversation;
use crate::domain::delivery::PendingDelivery;
use crate::domain::language::ByLanguage;
use crate::files::{FileError, Files};
use crate::ids::{ChatId, MessageId, RunId, UserId};
use crate::policy::access::Admins;

/// What turns tell the terminal.
#[derive(Debug)]
pub(super) enum Told {
    /// What happens while a turn works.
    Event(TurnEvent),
    /// Its words at the end, in Markdown.
    Words(String),
    /// Why a question was not taken up.
    Declined(String),
}

/// Passes on what turns tell.
#[derive(Debug)]
pub(super) struct Terminal(UnboundedSender<Told>);

impl Terminal {
    /// One, and where what it is told arrives until it is gone.
    pub(super) fn new() -> (Self, UnboundedReceiver<Told>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Where nobody listens any more, the process is about to end.
    fn tell(&self, told: Told) {
        drop(self.0.send(told));
    }
}

impl Listener for Terminal {
    fn hear(&self, event: &TurnEvent) {
        self.tell(Told::Event(event.clone()));
    }
}

#[async_trait]
impl Delivery for Terminal {
    async fn deliver(&self, delivery: PendingDelivery, _stop: &CancellationToken) {
        // Cards have buttons, which there are none of here.
        if delivery.card.is_none() {
            self.tell(Told::Words(delivery.markdown));
        }
    }

    async fn has_shown(&self, _run: RunId) -> bool {
        false
    }

    async fn withdraw(&self, _run: RunId) {}

    async fn decline(&self, _place: &Place, _message: MessageId, words: &str) {
        self.tell(Told::Declined(words.to_owned()));
    }
}

#[async_trait]
impl Owners for Terminal {
    /// Whoever asks hears of a fault by the end of the turn.
    async fn tell(&self, _words: ByLanguage<String>) {}
}

/// The port of a chat that there is not.
#[derive(Debug)]
pub(super) struct NoChat;

#[async_trait]
impl Titles for NoChat {
    async fn set(&self, _topic: Conversation, _title: &str) -> bool {
        false
    }
}

#[async_trait]
impl Consents for NoChat {
    async fn ask(&self, _user: &UserId) -> bool {
        false
    }
}

#[async_trait]
impl Files for NoChat {
    async fn fetch(&self, _file_id: &str, _most: usize) -> Result<Vec<u8>, FileError> {
        Err(FileError::Gone("nothing is sent to the terminal".to_owned()))
    }
}

#[async_trait]
impl Admins for NoChat {
    async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
        false
    }

    async fn has_right(&self, _chat: ChatId, _user: &UserId, _right: &str) -> bool {
        false
    }
}
