//! Messages to the bot's owners, each in private.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::send::{Outgoing, Sender};
use figaro_agent::delivery::Owners;
use figaro_agent::languages::Languages;
use figaro_base::ids::ChatId;
use figaro_config::AccessSettings;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::language::ByLanguage;
use figaro_markup::Formatted;
use figaro_policy::access::owners;
use figaro_store::SettingsStore;

/// Sends messages to the owners from the settings and by invite.
#[derive(Debug, Clone)]
pub struct TelegramOwners {
    /// Sends the messages within the rate limits.
    pub sender: Sender,
    /// Access settings, which may name owners by id.
    pub access: AccessSettings,
    /// Source of the owners who used an invite.
    pub settings: SettingsStore,
    /// Looks up the languages of their chats.
    pub languages: Languages,
}

#[async_trait]
impl Owners for TelegramOwners {
    async fn tell(&self, words: ByLanguage<String>) {
        let this = self.clone();
        // The caller does not wait for the messages.
        self.sender.background.spawn("owners", async move { this.write(&words).await });
    }
}

impl TelegramOwners {
    async fn write(&self, words: &ByLanguage<String>) {
        let list = self.settings.access().unwrap_or_else(|error| {
            tracing::error!(%error, label = error.label(), "owners by invite could not be looked up");
            Arc::default()
        });
        for owner in owners(&self.access, &list) {
            let place = Place { chat: ChatId(owner), kind: ChatKind::Private, title: None, topic: None };
            let language = self.languages.of(place.chat, None);
            let content = Formatted { text: words.of(language.as_deref()).clone(), entities: Vec::new() };
            let message = Outgoing { content, ..Outgoing::default() };
            if let Err(unsent) = self.sender.send(&place, &message, &CancellationToken::new()).await {
                tracing::warn!(owner, ?unsent, "an owner could not be told");
            }
        }
    }
}
