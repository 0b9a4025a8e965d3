//! Asks people in their private chats whether facts about them may be remembered.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::commands::consent_card;
use super::send::Sender;
use figaro_agent::delivery::Consents;
use figaro_agent::languages::Languages;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_store::ProfileStore;

/// The bot's account as the one who asks.
#[derive(Debug, Clone)]
pub struct TelegramConsents {
    /// Sends the question.
    pub sender: Sender,
    /// The language of a chat.
    pub languages: Languages,
    /// The languages of people.
    pub profiles: Arc<dyn ProfileStore>,
}

#[async_trait]
impl Consents for TelegramConsents {
    async fn ask(&self, user: &UserId) -> bool {
        let Some(chat) = user.telegram_id().map(ChatId) else { return false };
        let profile = self.profiles.profile(user).await.ok().flatten();
        let client = profile.and_then(|profile| profile.language);
        let texts = self.languages.texts(chat, client.as_deref()).await;
        let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
        let message = consent_card(texts).outgoing();
        let sent = self.sender.send(&place, &message, &CancellationToken::new()).await;
        if let Err(unsent) = &sent {
            // Who has never written to the bot cannot be written to: they are asked once they do.
            tracing::info!(%chat, ?unsent, "whether facts may be remembered could not be asked");
        }
        sent.is_ok()
    }
}
