//! What people see of the bot: drafts with words and messages, each with its chat and its time.

use std::time::Instant;

use figaro_base::shutdown::TaskTracker;
use figaro_offline::telegram::OfflineTelegram;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

/// Something of the bot that reached a chat.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) chat: i64,
    pub(crate) at: Instant,
    pub(crate) what: What,
}

/// What it was.
#[derive(Debug)]
pub(crate) enum What {
    /// A draft with these words.
    Draft(String),
    /// A message.
    Message,
}

/// Passes on what the bot shows from now on. A task of its own takes the times: a benchmark that is busy does not make
/// them later.
pub(crate) fn watch(telegram: &OfflineTelegram) -> mpsc::UnboundedReceiver<Seen> {
    let mut events = telegram.subscribe();
    let (sees, seen) = mpsc::unbounded_channel();
    TaskTracker::new().spawn("watch", async move {
        loop {
            let event = match events.recv().await {
                Err(RecvError::Closed) => return,
                event => event.expect("the watcher keeps up"),
            };
            let (at, data) = (Instant::now(), &event.data);
            let (chat, what) = match event.name {
                "draft" => match data["text"].as_str().filter(|text| !text.is_empty()) {
                    Some(text) => (number(&data["chat_id"]), What::Draft(text.to_owned())),
                    None => continue,
                },
                // A message in a chat that the bot is no member of: the chat is not known, and 0 stands for it.
                "inline" if data.get("reply_markup").is_some() => {
                    (0, What::Draft(data["text"].as_str().unwrap_or_default().to_owned()))
                }
                "inline" => (0, What::Message),
                "message" if data["from"]["is_bot"] == true => (number(&data["chat"]["id"]), What::Message),
                _ => continue,
            };
            if sees.send(Seen { chat, at, what }).is_err() {
                return;
            }
        }
    });
    seen
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}
