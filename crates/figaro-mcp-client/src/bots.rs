//! Bots that the Telegram MCP server acts for. The server is told of each by a line on its standard input.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;

use figaro_base::secret::{ExposeSecret, SecretString};

/// Bots of this process, and the lines about them that the server has not had yet.
#[derive(Debug, Clone)]
pub(super) struct BotRegister {
    tokens: Arc<Mutex<BTreeMap<String, SecretString>>>,
    lines: mpsc::UnboundedSender<SecretString>,
}

/// A bot that the server acts for, until this is dropped.
#[derive(Debug)]
pub(super) struct RegisteredBot {
    register: BotRegister,
    /// Key of the bot in calls.
    pub(super) key: SecretString,
}

impl BotRegister {
    /// Makes an empty register, and the end at which lines for the server arrive.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<SecretString>) {
        let (lines, arriving) = mpsc::unbounded_channel();
        (Self { tokens: Arc::default(), lines }, arriving)
    }

    /// Adds a bot under a new key.
    pub(super) fn add(&self, key: SecretString, token: SecretString) -> RegisteredBot {
        let line = line(key.expose_secret(), Some(&token));
        self.tokens.lock().insert(key.expose_secret().to_owned(), token);
        self.send(line);
        RegisteredBot { register: self.clone(), key }
    }

    /// Returns the lines about all bots, for a server that has just started.
    pub(super) fn all(&self) -> Vec<SecretString> {
        self.tokens.lock().iter().map(|(key, token)| line(key, Some(token))).collect()
    }

    fn send(&self, line: SecretString) {
        // Without a supervisor there is no server that could act.
        let _ended = self.lines.send(line);
    }
}

/// Returns the line about a bot, or about the end of one.
fn line(key: &str, token: Option<&SecretString>) -> SecretString {
    let token = token.map(ExposeSecret::expose_secret);
    format!("{}\n", json!({"key": key, "token": token})).into()
}

impl Drop for RegisteredBot {
    fn drop(&mut self) {
        let key = self.key.expose_secret();
        self.register.tokens.lock().remove(key);
        self.register.send(line(key, None));
    }
}
