//! Language of Figaro's own texts in a chat: the chat's setting, else the language of the addressee.

use std::sync::Arc;

use figaro_base::ids::ChatId;
use figaro_domain::language::primary;
use figaro_prompts::texts::{Locales, Texts};
use figaro_store::SettingsStore;

/// Finds the language of a chat. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Languages {
    /// Texts for people, by language.
    pub locales: Arc<Locales>,
    /// Settings of chats, including their languages.
    pub settings: SettingsStore,
}

impl Languages {
    /// Returns the IETF tag of the chat's language; `None` if it has set none, Figaro has no texts in it, or the settings
    /// cannot be read.
    pub fn set_in(&self, chat: ChatId) -> Option<&'static str> {
        let config = self.settings.chat_config(chat).ok()?;
        self.locales.named(config.language.as_deref()?)
    }

    /// Returns the IETF tag of the language for a chat and an addressee whose client speaks `client`.
    pub fn of(&self, chat: ChatId, client: Option<&str>) -> Option<String> {
        Self::spoken(self.set_in(chat), client)
    }

    /// Chooses between the chat's language `set` and the `client` language of the addressee.
    #[must_use]
    pub fn spoken(set: Option<&'static str>, client: Option<&str>) -> Option<String> {
        // For the same language the client's tag is more specific, such as by region.
        let is_theirs = client.is_some_and(|client| set.is_none_or(|set| set == primary(client)));
        if is_theirs { client } else { set }.map(str::to_owned)
    }

    /// Returns the texts for a chat and an addressee whose client speaks `client`.
    pub fn texts(&self, chat: ChatId, client: Option<&str>) -> &Texts {
        self.locales.of(self.of(chat, client).as_deref())
    }
}
