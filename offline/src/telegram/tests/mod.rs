//! The offline Telegram, tested through its door: HTTP calls of a bot, people acting in the chats.

mod acts;
mod calls;
mod faults;
mod keep;
mod mini_app;
mod page;
mod polling;
mod table;
mod teloxide;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{MemberStatus, OfflineTelegram, Person, TelegramOptions};
use crate::Runtime;

const ANN: i64 = 11;
const BOB: i64 = 12;
const GROUP: i64 = -21;
const FORUM: i64 = -1_000_000_000_031;
const NOW: &str = "2026-03-01T12:00:00Z";

/// A small world: Ann's private chat, a group and a forum with Ann (owner), Bob and the bot.
struct Bed {
    tg: OfflineTelegram,
    runtime: Runtime,
    http: reqwest::Client,
    topic: i64,
}

impl Bed {
    async fn new() -> Self {
        Self::with(TelegramOptions::default()).await
    }

    async fn with(options: TelegramOptions) -> Self {
        let now = NOW.parse().unwrap();
        let runtime = Runtime::new(move || now);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tg = OfflineTelegram::start(listener, options, &runtime).unwrap();
        tg.add_user(Person::new(ANN, "Ann").username("ann"));
        tg.add_user(Person::new(BOB, "Bob").language("de"));
        tg.add_private(ANN).unwrap();
        tg.add_group(GROUP, "Family");
        tg.add_forum(FORUM, "Project");
        for chat in [GROUP, FORUM] {
            tg.set_member(chat, ANN, MemberStatus::Owner).unwrap();
            tg.set_member(chat, BOB, MemberStatus::Member).unwrap();
        }
        let topic = tg.add_topic(FORUM, "Bugs").unwrap();
        Self { tg, runtime, http: client(), topic }
    }

    fn address(&self, method: &str) -> String {
        format!("{}/bot{}/{method}", self.tg.url(), self.tg.token())
    }

    /// The result, or the description of the error.
    async fn call(&self, method: &str, args: Value) -> Result<Value, String> {
        let mut body = self.answer(method, &args).await;
        match body["ok"].as_bool() {
            Some(true) => Ok(body["result"].take()),
            _ => Err(body["description"].as_str().unwrap().to_owned()),
        }
    }

    async fn answer(&self, method: &str, args: &Value) -> Value {
        let response = self.http.post(self.address(method)).json(args).send().await.unwrap();
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        assert_eq!(status, body["error_code"].as_u64().unwrap_or(200) as u16);
        body
    }

    async fn send(&self, chat: i64, text: &str) -> i64 {
        let sent = self.call("sendMessage", json!({"chat_id": chat, "text": text})).await.unwrap();
        sent["message_id"].as_i64().unwrap()
    }

    /// Updates not acknowledged yet.
    async fn updates(&self) -> Vec<Value> {
        self.call("getUpdates", json!({})).await.unwrap().as_array().unwrap().clone()
    }

    /// A test leaves nothing running.
    async fn end(self) {
        self.runtime.stop();
        assert!(self.runtime.finish(Duration::from_secs(5)).await, "the server still runs");
    }
}

fn client() -> reqwest::Client {
    // The second test of a process finds the provider installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap()
}
