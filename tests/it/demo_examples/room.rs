//! A chat of the demo's page, in which Alex speaks and the bot answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::TIMEOUT;
use crate::support::demo::{ALEX, Demo, Page};

/// Words of an answer that does not fit: nothing was understood, or something failed.
const NO_ANSWERS: [&str; 15] = [
    "knows only a few phrases",
    "só conhece algumas frases",
    "solo conoce algunas frases",
    "{\"",
    "I could not do that",
    "Não consegui fazer isso",
    "No pude hacerlo",
    "I would need a tool",
    "no rule",
    "texts on compound interest, inflation",
    "When shall that be?",
    "There is no task here",
    "⚠️",
    "went wrong",
    "no longer up to date",
];

/// So long a change of a card is waited for that need not come.
const SOON: Duration = Duration::from_millis(300);

/// A chat, or a topic of one.
pub struct Room<'a> {
    demo: &'a Demo,
    page: Page,
    chat: i64,
    topic: Option<i64>,
    /// What a message to the bot begins with.
    mention: &'static str,
    /// The messages of the bot by their ids, as they are now.
    messages: BTreeMap<i64, Value>,
}

impl<'a> Room<'a> {
    pub async fn private(demo: &'a Demo) -> Self {
        Self::new(demo, ALEX, None, "").await
    }

    pub async fn group(demo: &'a Demo, chat: i64, topic: Option<i64>) -> Self {
        Self::new(demo, chat, topic, "@figaro_bot ").await
    }

    async fn new(demo: &'a Demo, chat: i64, topic: Option<i64>, mention: &'static str) -> Self {
        Self { demo, page: demo.open().await, chat, topic, mention, messages: BTreeMap::new() }
    }

    /// Alex writes to the bot; gives the id of the message.
    pub async fn say(&self, text: &str, reply_to: Option<i64>) -> i64 {
        let text = if text.starts_with('/') { text.to_owned() } else { format!("{}{text}", self.mention) };
        let message = json!({
            "chat_id": self.chat, "message_thread_id": self.topic, "from": ALEX, "text": text, "reply_to": reply_to,
        });
        self.demo.does("send", &message).await.unwrap()["message_id"].as_i64().unwrap()
    }

    /// Alex sends a file with these words, one that ends as `.gif` as a photo; gives the id of the message.
    pub async fn send(&self, name: &str, content: &str, caption: &str) -> i64 {
        let sizes = if name.ends_with(".gif") { json!([[1, 2]]) } else { json!([]) };
        let about = json!({"chat_id": self.chat, "from": ALEX, "caption": caption, "sizes": sizes});
        self.demo.upload(&about, name, content).await
    }

    /// Alex says something, and gets an answer with these words; gives the message that has them.
    pub async fn ask(&mut self, text: &str, words: &str) -> Value {
        self.reply(text, None, words).await
    }

    /// The same as a reply.
    pub async fn reply(&mut self, text: &str, reply_to: Option<i64>, words: &str) -> Value {
        let asked = self.say(text, reply_to).await;
        self.hears(asked, words, text).await
    }

    /// The bot's message after this one that has these words, new or changed.
    pub async fn hears(&mut self, after: i64, words: &str, why: &str) -> Value {
        let is_it = |message: &Value| id(message) > after && shown(message).contains(words);
        if let Some(known) = self.messages.values().find(|message| is_it(message)) {
            return known.clone();
        }
        let heard = async {
            loop {
                let (name, data) = self.page.next().await;
                if let Some(message) = self.keep(&name, &data)
                    && is_it(&message)
                {
                    return message;
                }
            }
        };
        let heard = tokio::time::timeout(TIMEOUT, heard).await.ok();
        heard.unwrap_or_else(|| {
            panic!("{why}: no `{words}` in {:#?}", self.messages.values().map(shown).collect::<Vec<_>>())
        })
    }

    /// Waits until this message of the bot shows these words.
    pub async fn shows(&mut self, message: i64, words: &str) {
        let shown_so = async {
            while !self.messages.get(&message).is_some_and(|now| shown(now).contains(words)) {
                let (name, data) = self.page.next().await;
                self.keep(&name, &data);
            }
        };
        let seen = tokio::time::timeout(TIMEOUT, shown_so).await;
        seen.unwrap_or_else(|_| panic!("no `{words}` in {:?}", self.messages.get(&message).map(shown)));
    }

    /// Presses a button of a message, by the beginning of its label; gives the words over it.
    pub async fn press(&mut self, message: &Value, label: &str) -> String {
        let found = buttons(message).into_iter().find(|(shown, _)| shown.starts_with(label));
        let (_, data) = found.unwrap_or_else(|| panic!("no {label} under {message}"));
        self.try_press(id(message), &data).await.unwrap()
    }

    /// Presses a button; an error if the message has no such button any more, or the bot says so.
    pub async fn try_press(&mut self, message: i64, data: &str) -> Result<String, String> {
        let press = json!({"chat_id": self.chat, "message_id": message, "from": ALEX, "data": data});
        let pressed = self.demo.does("press", &press).await?;
        let answered = async {
            loop {
                let (name, event) = self.page.next().await;
                self.keep(&name, &event);
                if name == "callback_answer" && event["callback_query_id"] == pressed["callback_query_id"] {
                    return event["text"].as_str().unwrap_or_default().to_owned();
                }
            }
        };
        let toast = tokio::time::timeout(TIMEOUT, answered).await.ok();
        let toast = toast.unwrap_or_else(|| panic!("{data}: the press is not answered"));
        if NO_ANSWERS.iter().any(|words| toast.contains(words)) {
            Err(format!("{data}: {toast}"))
        } else {
            Ok(toast)
        }
    }

    /// Presses Stop while an answer is written, as soon as this word of it is seen.
    pub async fn stop(&mut self, word: &str) {
        let draft = async {
            loop {
                let (name, data) = self.page.next().await;
                self.keep(&name, &data);
                if name == "draft" && data["text"].as_str().is_some_and(|text| text.contains(word)) {
                    return data["draft_id"].clone();
                }
            }
        };
        let draft = tokio::time::timeout(TIMEOUT, draft).await.expect("no draft");
        self.demo.does("stop", &json!({"chat_id": self.chat, "draft_id": draft})).await.unwrap();
    }

    /// A message of the bot as it is once it has changed; as it was if it does not change soon.
    pub async fn changed(&mut self, message: i64) -> Value {
        let change = async {
            loop {
                let (name, data) = self.page.next().await;
                if self.keep(&name, &data).is_some_and(|changed| id(&changed) == message) {
                    return;
                }
            }
        };
        tokio::time::timeout(SOON, change).await.ok();
        self.messages[&message].clone()
    }

    /// Keeps a message of the bot in this room, and gives it; one that is no answer fails the test.
    fn keep(&mut self, name: &str, data: &Value) -> Option<Value> {
        let is_here = data["chat"]["id"] == self.chat && data["message_thread_id"].as_i64() == self.topic;
        if name != "message" || !is_here || data["from"]["is_bot"] != true {
            return None;
        }
        let text = shown(data);
        assert!(!NO_ANSWERS.iter().any(|words| text.contains(words)), "no answer: {text}");
        self.messages.insert(id(data), data.clone());
        Some(data.clone())
    }
}

pub fn id(message: &Value) -> i64 {
    message["message_id"].as_i64().unwrap()
}

/// What a message shows.
pub fn shown(message: &Value) -> String {
    let options = message["poll"]["options"].as_array().into_iter().flatten();
    let options = options.filter_map(|option| option["text"].as_str()).collect::<Vec<_>>().join(", ");
    let parts = [&message["text"], &message["caption"], &message["poll"]["question"]];
    let mut words = parts.into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    rich(&message["rich_message"], &mut words);
    let labels = buttons(message).into_iter().map(|(label, _)| format!("[{label}]")).collect::<String>();
    format!("{words} {options}{labels}")
}

/// Adds the words of a rich message.
fn rich(part: &Value, words: &mut String) {
    match part {
        Value::String(text) => *words += text,
        Value::Array(parts) => parts.iter().for_each(|part| rich(part, words)),
        Value::Object(fields) => ["blocks", "items", "cells", "summary", "text", "expression"]
            .iter()
            .filter_map(|name| fields.get(*name))
            .for_each(|part| rich(part, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The labels and the data of a message's buttons.
pub fn buttons(message: &Value) -> Vec<(String, String)> {
    let rows = message["reply_markup"]["inline_keyboard"].as_array().into_iter().flatten();
    let all = rows.filter_map(Value::as_array).flatten();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    all.filter_map(|button| Some((text(&button["text"])?, text(&button["callback_data"])?))).collect()
}
