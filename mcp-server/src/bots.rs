//! Bots that calls act for: the one of the environment, and those of a parent.

use std::sync::Arc;

use rmcp::model::RequestMetaObject;

use crate::settings::Settings;
use crate::telegram::{Telegram, TelegramFailure, TelegramServer};
use crate::tokens::BotTokens;

/// Key of a request's `_meta` under which a parent names the bot that acts.
pub const BOT_META: &str = "figaro/bot";

/// Bots that calls act for. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Bots {
    server: TelegramServer,
    /// Bot of the environment; `None` under a parent that serves no other clients.
    own: Option<Arc<Telegram>>,
    tokens: BotTokens,
}

impl Bots {
    pub(crate) fn new(settings: &Settings) -> reqwest::Result<Self> {
        let server = TelegramServer::new(settings)?;
        let own = settings.token.as_ref().map(|token| Arc::new(server.bot(token)));
        Ok(Self { server, own, tokens: settings.bots.clone() })
    }

    /// Returns the bot of the environment.
    pub(crate) fn own(&self) -> Option<Arc<Telegram>> {
        self.own.clone()
    }

    /// Returns the bot that a request is for.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) async fn of(&self, meta: &RequestMetaObject) -> Result<Arc<Telegram>, TelegramFailure> {
        let none = |words: &str| TelegramFailure::new(401, format!("Unauthorized: {words}"));
        match key_of(meta) {
            Some(key) => match self.tokens.token(key).await {
                Some(token) => Ok(Arc::new(self.server.bot(&token))),
                None => Err(none("the bot of this call has left")),
            },
            None => {
                self.own().ok_or_else(|| none("no bot is served to other clients: set TELEGRAM_BOT_TOKEN"))
            }
        }
    }
}

/// Returns the key of the bot that a request is for; `None` for the bot of the environment.
fn key_of(meta: &RequestMetaObject) -> Option<&str> {
    meta.0.0.get(BOT_META)?.as_str()
}
