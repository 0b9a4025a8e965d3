//! Updates of the bot as the resource `telegram://updates` and the tool `read_incoming_messages`, with `--with-updates`.
//! Polls Telegram while the server runs, and keeps the newest updates in memory. Used by `server`.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{
    CallToolResult, Resource, ResourceContents, ResourceUpdatedNotificationParam, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::everyday::arguments;
use crate::schema::entries;
use crate::table::ApiTable;
use crate::telegram::{Telegram, TelegramFailure, TelegramRequest};

/// URI of the resource.
pub(crate) const URI: &str = "telegram://updates";
/// Name of the tool that returns the newest of them.
pub(crate) const READ: &str = "read_incoming_messages";
/// Maximum number of kept updates; the newest stay.
const MAX_UPDATES: usize = 100;
/// Number of updates that the tool returns without a limit.
const DEFAULT_LIMIT: usize = 20;
/// Seconds that Telegram holds a poll without updates.
const POLL_SECONDS: u64 = 50;
/// Time that a reader waits for the answer to the first poll.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// Pause after a failed poll.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
/// Pause after a conflict. Each poll would end that of the other process.
const CONFLICT_PAUSE: Duration = Duration::from_secs(60);
/// Kinds of updates: messages and pressed buttons.
const KINDS: [&str; 5] =
    ["message", "edited_message", "channel_post", "edited_channel_post", "callback_query"];

/// Kept updates and their subscribers, shared by all sessions.
#[derive(Debug)]
pub(crate) struct Updates {
    telegram: Arc<Telegram>,
    received: Mutex<ReceivedUpdates>,
    /// Subscribed sessions, by their number.
    subscribers: Mutex<HashMap<u64, Peer<RoleServer>>>,
    /// Wakes clients of the newest revision, which subscribe by a request that stays open.
    changed: watch::Sender<()>,
    /// `true` once Telegram has answered the first poll.
    answered: watch::Sender<bool>,
    /// Number of the last session.
    sessions: AtomicU64,
}

#[derive(Debug, Default)]
struct ReceivedUpdates {
    /// Updates as Telegram sent them, oldest first.
    updates: VecDeque<Value>,
    /// Reason why the last poll failed.
    error: Option<String>,
}

/// Arguments of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    #[serde(default)]
    limit: Value,
}

impl Updates {
    pub(crate) fn new(telegram: Arc<Telegram>) -> Self {
        Self {
            telegram,
            received: Mutex::default(),
            subscribers: Mutex::default(),
            changed: watch::Sender::new(()),
            answered: watch::Sender::new(false),
            sessions: AtomicU64::new(0),
        }
    }

    /// Returns the resource for `resources/list`.
    pub(crate) fn resource() -> Resource {
        Resource::new(URI, "telegram-updates")
            .with_title("Incoming messages")
            .with_description(
                "The newest 100 messages, edits and pressed buttons since the server started, as JSON",
            )
            .with_mime_type("application/json")
    }

    /// Returns the kept updates, and the error of the last poll if it failed.
    pub(crate) async fn contents(&self) -> ResourceContents {
        self.wait_for_first().await;
        let value = self.received.lock().newest(MAX_UPDATES);
        ResourceContents::text(value.to_string(), URI).with_mime_type("application/json")
    }

    /// Returns the tool for clients that do not show resources to their models.
    pub(crate) fn tool() -> Tool {
        let title = "Read incoming messages";
        let description = "Read the newest messages, edits and pressed buttons that reached the bot since the server \
                           started, oldest first.";
        let schema = json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_UPDATES, "default": DEFAULT_LIMIT}
            },
            "additionalProperties": false
        });
        let hints = ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true);
        Tool::new(READ, description, entries(schema))
            .with_title(title)
            .with_annotations(hints.open_world(true))
    }

    /// Calls the tool. The result has the form of the resource, and is an error if polls fail and nothing was received.
    pub(crate) async fn read(&self, args: Map<String, Value>) -> Result<CallToolResult, String> {
        let ReadArguments { limit } = arguments(args)?;
        let count = if limit.is_null() { Some(DEFAULT_LIMIT as u64) } else { limit.as_u64() };
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| (1..=MAX_UPDATES).contains(count));
        let count = count.ok_or_else(|| format!("limit must be a whole number from 1 to {MAX_UPDATES}"))?;
        if !self.wait_for_first().await {
            return Err("the first messages are still being fetched: ask again in a few seconds".to_owned());
        }
        let received = self.received.lock();
        let has_failed = received.error.is_some() && received.updates.is_empty();
        let result = received.newest(count);
        Ok(if has_failed {
            CallToolResult::structured_error(result)
        } else {
            CallToolResult::structured(result)
        })
    }

    /// Waits a little for the answer to the first poll, so that an early reader is not told that nothing has come. Returns
    /// `false` if it has not come yet.
    async fn wait_for_first(&self) -> bool {
        let mut answered = self.answered.subscribe();
        let outcome = tokio::time::timeout(FIRST_WAIT, answered.wait_for(|answered| *answered)).await;
        outcome.is_ok_and(|answered| answered.is_ok())
    }

    /// Returns the number of a new session.
    pub(crate) fn new_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn subscribe(&self, session: u64, peer: Peer<RoleServer>) {
        let mut subscribers = self.subscribers.lock();
        subscribers.retain(|_, peer| !peer.is_transport_closed());
        subscribers.insert(session, peer);
    }

    pub(crate) fn unsubscribe(&self, session: u64) {
        self.subscribers.lock().remove(&session);
    }

    /// Notifies a client of the newest revision until it cancels its subscription.
    pub(crate) async fn listen(&self, subscription: &SubscriptionContext) {
        let mut changed = self.changed.subscribe();
        loop {
            tokio::select! {
                outcome = changed.changed() => if outcome.is_err() { return },
                () = subscription.cancelled() => return,
            }
            if let Err(error) = subscription.sink().notify_resource_updated(URI).await {
                tracing::debug!(%error, "a client does not hear of updates");
                return;
            }
        }
    }

    /// Polls Telegram. The offset confirms the updates before it, so that Telegram does not send them again.
    pub(crate) async fn poll(&self) -> Infallible {
        let mut offset = None;
        loop {
            match self.next(offset).await {
                Ok(updates) => {
                    let last = updates.iter().filter_map(|update| update.get("update_id")?.as_i64()).max();
                    offset = last.map(|last| last + 1).or(offset);
                    self.receive(updates).await;
                    self.answered.send_replace(true);
                }
                Err(failure) => {
                    let pause = match (failure.error_code, failure.retry_after) {
                        (409, _) => CONFLICT_PAUSE,
                        (_, Some(seconds)) => Duration::from_secs(seconds),
                        (_, None) => RETRY_PAUSE,
                    };
                    self.fail(failure).await;
                    self.answered.send_replace(true);
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn next(&self, offset: Option<i64>) -> Result<Vec<Value>, TelegramFailure> {
        let unreadable = || TelegramFailure::new(502, "Telegram sent no list of updates");
        let method = ApiTable::get().method("getUpdates").ok_or_else(unreadable)?;
        // The first poll says at once what waits.
        let seconds = if *self.answered.borrow() { POLL_SECONDS } else { 0 };
        let mut args: Map<String, Value> = entries(json!({"timeout": seconds, "allowed_updates": KINDS}));
        args.extend(offset.map(|offset| ("offset".to_owned(), json!(offset))));
        match self.telegram.call(TelegramRequest { method, args: &args, uploads: &[] }).await? {
            Value::Array(updates) => Ok(updates),
            _ => Err(unreadable()),
        }
    }

    async fn receive(&self, updates: Vec<Value>) {
        let is_changed = {
            let mut received = self.received.lock();
            let is_changed = received.error.take().is_some() || !updates.is_empty();
            received.updates.extend(updates);
            let excess = received.updates.len().saturating_sub(MAX_UPDATES);
            received.updates.drain(..excess);
            is_changed
        };
        if is_changed {
            self.notify().await;
        }
    }

    async fn fail(&self, failure: TelegramFailure) {
        let error = match failure.error_code {
            409 if failure.description.contains("webhook") => {
                "a webhook takes this bot's updates: remove it with deleteWebhook (--with-lifecycle)"
                    .to_owned()
            }
            409 => {
                "another process reads this bot's updates: stop it, or leave out --with-updates".to_owned()
            }
            _ => failure.description,
        };
        if self.received.lock().error.as_ref() == Some(&error) {
            return;
        }
        tracing::warn!(error_code = failure.error_code, "no updates are read: {error}");
        self.received.lock().error = Some(error);
        self.notify().await;
    }

    async fn notify(&self) {
        self.changed.send_replace(());
        let subscribers: Vec<(u64, Peer<RoleServer>)> =
            self.subscribers.lock().iter().map(|(session, peer)| (*session, peer.clone())).collect();
        for (session, peer) in subscribers {
            let updated = ResourceUpdatedNotificationParam::new(URI);
            if let Err(error) = peer.notify_resource_updated(updated).await {
                tracing::debug!(%error, "a client does not hear of updates");
                self.unsubscribe(session);
            }
        }
    }
}

/// Returns the error for the resource without the option that serves it.
pub(crate) fn unserved() -> ErrorData {
    let message = format!("{URI} is not served here: `figaro-mcp --with-updates` serves it");
    ErrorData::resource_not_found(message, None)
}

impl ReceivedUpdates {
    /// Returns the newest updates, and the error of the last poll if it failed.
    fn newest(&self, count: usize) -> Value {
        let excess = self.updates.len().saturating_sub(count);
        let newest: Vec<&Value> = self.updates.iter().skip(excess).collect();
        match &self.error {
            Some(error) => json!({"updates": newest, "error": error}),
            None => json!({"updates": newest}),
        }
    }
}
