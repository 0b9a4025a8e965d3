//! Telegram's menu button of private chats: it opens the dashboard as a Mini App, for those who have one.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::cards::Cards;
use crate::api::{Api, GetChatMenuButton, SetChatMenuButton};
use figaro_agent::sign_in::{MINI_APP_PATH, OfferedDashboard};
use figaro_base::ids::{ChatId, UserId};
use figaro_config::AccessSettings;
use figaro_store::SettingsStore;

/// Menu buttons of private chats. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct MenuButtons {
    cards: Cards,
    access: AccessSettings,
    settings: SettingsStore,
    /// Address of the Mini App; `None` if there is none.
    url: Option<Arc<str>>,
    /// `true` if everybody has a dashboard.
    for_everybody: bool,
    /// Labels of the chats that have a button of their own.
    labels: Arc<Mutex<HashMap<ChatId, &'static str>>>,
}

impl MenuButtons {
    /// Keeps the buttons of the people who have this dashboard.
    pub(super) fn new(
        cards: Cards,
        access: AccessSettings,
        settings: SettingsStore,
        dashboard: Option<&OfferedDashboard>,
    ) -> Self {
        let url = dashboard.and_then(|dashboard| dashboard.mini_app.clone());
        let for_everybody = dashboard.is_some_and(|dashboard| dashboard.for_everybody);
        Self { cards, access, settings, url, for_everybody, labels: Arc::default() }
    }

    /// Sets the buttons at the start of the bot, and removes those of a Mini App that is no longer offered.
    pub(super) async fn publish(&self) {
        let label = self.cards.languages.locales.of(None).dashboard_title();
        let everybodys = self.url.as_ref().filter(|_| self.for_everybody);
        self.replace(None, everybodys.map(|url| (label, &**url))).await;
        for owner in self.owners() {
            let Some(chat) = owner.telegram_id().map(ChatId) else { continue };
            match &self.url {
                Some(_) => self.keep(chat, None),
                None => self.replace(Some(chat), None).await,
            }
        }
    }

    /// Sets the button of a private chat for a person whose client uses `client`, unless it is already so. Does not wait for
    /// Telegram.
    pub(super) fn keep(&self, chat: ChatId, client: Option<&str>) {
        let Some(url) = self.url.clone().filter(|_| chat.0 > 0) else { return };
        let label = self.cards.languages.texts(chat, client).dashboard_title();
        let is_default =
            self.for_everybody && label == self.cards.languages.locales.of(None).dashboard_title();
        let has_own =
            !is_default && (self.for_everybody || self.owners().contains(&UserId::telegram(chat.0)));
        let wanted = has_own.then_some(label);
        let mut labels = self.labels.lock();
        let before = match wanted {
            Some(label) => labels.insert(chat, label),
            None => labels.remove(&chat),
        };
        if before == wanted {
            return;
        }
        let api = self.cards.sender.api.clone();
        self.cards.sender.background.spawn("menu", async move {
            set(&api, Some(chat), wanted.map(|label| (label, &*url))).await;
        });
    }

    /// Sets a button with this label and address if there is one to set; else removes one of ours.
    async fn replace(&self, chat: Option<ChatId>, button: Option<(&str, &str)>) {
        let api = &self.cards.sender.api;
        if button.is_none() {
            // The owner may have set another one.
            let found = api.call(GetChatMenuButton(of(chat, json!({})))).await.unwrap_or_default();
            let is_ours = found["web_app"]["url"].as_str().is_some_and(|url| url.ends_with(MINI_APP_PATH));
            if !is_ours {
                return;
            }
        }
        set(api, chat, button).await;
    }

    /// Returns the owners; those of the settings alone if the store cannot be read.
    fn owners(&self) -> Vec<UserId> {
        let named = self.settings.access().map(|list| list.owners.clone()).unwrap_or_default();
        self.access.owners.iter().cloned().chain(named).collect()
    }
}

/// Adds the chat to the arguments of a call.
fn of(chat: Option<ChatId>, mut body: Value) -> Value {
    if let Some(chat) = chat {
        body["chat_id"] = json!(chat.0);
    }
    body
}

/// Sets the button of a chat, or of all chats that have none of their own.
async fn set(api: &Api, chat: Option<ChatId>, button: Option<(&str, &str)>) {
    let button = match button {
        Some((label, url)) => json!({"type": "web_app", "text": label, "web_app": {"url": url}}),
        None => json!({"type": "default"}),
    };
    if let Err(error) = api.call(SetChatMenuButton(of(chat, json!({"menu_button": button})))).await {
        let chat = chat.map(|chat| chat.0);
        tracing::warn!(%error, chat, "the menu button that opens the dashboard could not be changed");
    }
}
