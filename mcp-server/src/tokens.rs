//! Tokens of the bots of a parent, which names them on standard input.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;
use tokio::sync::watch;

/// Time for the line about a bot to arrive, which may come after its first call.
const LINE_TIMEOUT: Duration = Duration::from_secs(2);

/// Tokens of the parent's bots, by the key that its calls carry. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct BotTokens(Arc<watch::Sender<HashMap<String, SecretString>>>);

/// Line of a parent: a bot, or the key of one that has left.
#[derive(Deserialize)]
struct BotLine {
    key: String,
    token: Option<String>,
}

impl BotTokens {
    /// Reads lines of a parent until it closes them. Blocking.
    pub(crate) fn read(&self, lines: impl BufRead) -> io::Result<()> {
        for line in lines.lines() {
            match serde_json::from_str(&line?) {
                Ok(BotLine { key, token }) => self.0.send_modify(|tokens| {
                    match token {
                        Some(token) => tokens.insert(key, token.into()),
                        None => tokens.remove(&key),
                    };
                }),
                // The line may hold a token.
                Err(_) => tracing::warn!("a line on standard input names no bot"),
            }
        }
        Ok(())
    }

    /// Returns the token of a bot by its key; `None` if the parent does not name it.
    pub(crate) async fn token(&self, key: &str) -> Option<SecretString> {
        let mut tokens = self.0.subscribe();
        let named = tokens.wait_for(|tokens| tokens.contains_key(key));
        tokio::time::timeout(LINE_TIMEOUT, named).await.ok()?.ok()?.get(key).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[tokio::test]
    async fn bots_come_and_go_by_lines_and_a_call_waits_for_its_line() {
        let tokens = BotTokens::default();
        let late = tokens.clone();
        let lines = "nonsense\n{\"key\":\"a\",\"token\":\"1:abc\"}\n{\"key\":\"b\",\"token\":\"2:abc\"}\n{\"key\":\"a\"}\n";
        let (asked, ()) = tokio::join!(late.token("b"), async { tokens.read(lines.as_bytes()).unwrap() });
        assert_eq!(asked.unwrap().expose_secret(), "2:abc");
        tokio::time::pause();
        assert!(tokens.token("a").await.is_none(), "it has left");
    }
}
