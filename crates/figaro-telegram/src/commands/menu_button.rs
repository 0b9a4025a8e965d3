//! Telegram's menu button of private chats: it opens the dashboard as a Mini App, for those who have one.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::cards::Cards;
use super::handles::Handles;
use crate::api::{Api, GetChatMenuButton, SetChatMenuButton};
use crate::error::ApiError;
use figaro_agent::sign_in::{MINI_APP_PATH, OfferedDashboard};
use figaro_base::ids::{ChatId, UserId};
use figaro_config::AccessSettings;
use figaro_domain::chat::Place;
use figaro_policy::access::Standing;
use figaro_store::{ProfileStore, SettingsStore, StoreError};

/// Menu buttons of private chats. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct MenuButtons {
    cards: Cards,
    access: AccessSettings,
    settings: SettingsStore,
    profiles: ProfileStore,
    dashboard: Option<OfferedDashboard>,
    /// Labels of the chats that have a button of their own.
    labels: Arc<Mutex<HashMap<ChatId, &'static str>>>,
}

impl MenuButtons {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            access: handles.access.clone(),
            settings: handles.store.settings(),
            profiles: handles.store.profiles(),
            dashboard: handles.dashboard.clone(),
            labels: Arc::default(),
        }
    }

    /// Sets the buttons at the start of the bot, and removes those of a Mini App that is no longer offered.
    pub(super) async fn publish(&self) {
        let api = &self.cards.sender.api;
        let owners = match self.owners() {
            Ok(owners) => owners,
            Err(error) => return tracing::warn!(%error, "the owners of menu buttons could not be read"),
        };
        warn(match self.url().filter(|_| self.is_for_everybody()) {
            Some(url) => set(api, None, Some((self.usual_label(), url))).await,
            None => remove(api, None).await,
        });
        for (chat, user) in owners.iter().filter_map(chat_of) {
            if self.url().is_none() {
                warn(remove(api, Some(chat)).await);
                continue;
            }
            let profile = self.profiles.find(user).ok().flatten();
            self.keep_label(chat, profile.and_then(|profile| profile.language).as_deref(), true);
        }
    }

    /// Sets the button of a private chat, unless it is already so. Does not wait for Telegram. A failed call is repeated at the
    /// next message of the chat.
    pub(super) fn keep(&self, place: &Place, client: Option<&str>, standing: Standing) {
        let has_dashboard = self.is_for_everybody() || standing == Standing::Owner;
        if !place.is_group() {
            self.keep_label(place.chat, client, has_dashboard);
        }
    }

    fn keep_label(&self, chat: ChatId, client: Option<&str>, has_dashboard: bool) {
        let Some(url) = self.url() else { return };
        let label = self.cards.languages.texts(chat, client).dashboard_title();
        let has_own = has_dashboard && !(self.is_for_everybody() && label == self.usual_label());
        let wanted = has_own.then_some(label);
        let before = self.replace(chat, wanted);
        if before == wanted {
            return;
        }
        let (this, api, url) = (self.clone(), self.cards.sender.api.clone(), url.to_owned());
        self.cards.sender.background.spawn("menu", async move {
            if let Err(error) = set(&api, Some(chat), wanted.map(|label| (label, &*url))).await {
                this.replace(chat, before);
                tracing::warn!(%error, %chat, "the menu button that opens the dashboard could not be changed");
            }
        });
    }

    /// Sets the label of a chat and returns the previous one.
    fn replace(&self, chat: ChatId, label: Option<&'static str>) -> Option<&'static str> {
        let mut labels = self.labels.lock();
        match label {
            Some(label) => labels.insert(chat, label),
            None => labels.remove(&chat),
        }
    }

    /// Returns the address of the Mini App.
    fn url(&self) -> Option<&str> {
        self.dashboard.as_ref()?.mini_app.as_deref()
    }

    fn is_for_everybody(&self) -> bool {
        self.dashboard.as_ref().is_some_and(|dashboard| dashboard.for_everybody)
    }

    /// Returns the label of the button that all chats have.
    fn usual_label(&self) -> &'static str {
        self.cards.languages.locales.of(None).dashboard_title()
    }

    fn owners(&self) -> Result<Vec<UserId>, StoreError> {
        let named = self.settings.access()?.owners.clone();
        Ok(self.access.owners.iter().cloned().chain(named).collect())
    }
}

/// Logs that a button could not be changed: one owner may not have written yet, and the buttons of the others go on.
fn warn(done: Result<(), ApiError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the menu button that opens the dashboard could not be changed");
    }
}

/// Returns the private chat of a person of Telegram.
fn chat_of(user: &UserId) -> Option<(ChatId, &UserId)> {
    Some((ChatId(user.telegram_id()?), user))
}

/// Adds the chat to the arguments of a call.
fn with_chat(chat: Option<ChatId>, mut body: Value) -> Value {
    if let Some(chat) = chat {
        body["chat_id"] = json!(chat.0);
    }
    body
}

/// Sets the button of a chat, or of all chats that have none of their own.
async fn set(api: &Api, chat: Option<ChatId>, button: Option<(&str, &str)>) -> Result<(), ApiError> {
    let button = match (button, chat) {
        (Some((label, url)), _) => json!({"type": "web_app", "text": label, "web_app": {"url": url}}),
        (None, Some(_)) => json!({"type": "default"}),
        // For all chats `default` keeps the button that was set before: https://core.telegram.org/api/bots/menu
        (None, None) => json!({"type": "commands"}),
    };
    let body = with_chat(chat, json!({"menu_button": button}));
    api.call(SetChatMenuButton(body)).await.map(drop)
}

/// Removes a button that opens a dashboard. The owner may have set another one, which stays.
async fn remove(api: &Api, chat: Option<ChatId>) -> Result<(), ApiError> {
    let found = api.call(GetChatMenuButton(with_chat(chat, json!({})))).await?;
    let is_ours = found["web_app"]["url"].as_str().is_some_and(|url| url.ends_with(MINI_APP_PATH));
    if is_ours { set(api, chat, None).await } else { Ok(()) }
}
