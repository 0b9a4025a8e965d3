//! The language in which Figaro itself speaks in a chat: the one that the chat has set, else that of whoever it speaks to.

use std::sync::Arc;

use figaro_base::ids::ChatId;
use figaro_domain::language::primary;
use figaro_prompts::texts::{Locales, Texts};
use figaro_store::SettingsStore;

/// Finds the language of a chat. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Languages {
    /// The texts for people, by language.
    pub locales: Arc<Locales>,
    /// The settings of chats, their languages among them.
    pub settings: SettingsStore,
}

impl Languages {
    /// The IETF tag of the language that a chat has set; `None` if it has set none, or one that Figaro has no texts in.
    /// Settings that cannot be read set none.
    pub async fn set_in(&self, chat: ChatId) -> Option<&'static str> {
        let config = self.settings.chat_config(chat).await.ok()?;
        self.locales.named(config.language.as_deref()?)
    }

    /// The IETF tag of the language to speak in a chat, to somebody whose client speaks `client`.
    pub async fn of(&self, chat: ChatId, client: Option<&str>) -> Option<String> {
        Self::spoken(self.set_in(chat).await, client)
    }

    /// The language to speak where `set` is set, to somebody whose client speaks `client`.
    #[must_use]
    pub fn spoken(set: Option<&'static str>, client: Option<&str>) -> Option<String> {
        // Theirs says more, such as the region.
        let is_theirs = client.is_some_and(|client| set.is_none_or(|set| set == primary(client)));
        if is_theirs { client } else { set }.map(str::to_owned)
    }

    /// The texts to speak with in a chat, to somebody whose client speaks `client`.
    pub async fn texts(&self, chat: ChatId, client: Option<&str>) -> &Texts {
        self.locales.of(self.of(chat, client).await.as_deref())
    }
}
