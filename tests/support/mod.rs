//! A world for one test: an offline Telegram, an offline model, an offline search, a folder, and the real `figaro` in it.
//! Dropping the world ends everything; nothing is left running.

pub mod arguments;
pub mod bot;
pub mod bytes;
pub mod calls;
pub mod canned;
pub mod db_proxy;
pub mod demo;
pub mod dialogue;
pub mod fleet;
pub mod http;
pub mod output;
pub mod postgres;
pub mod proc;
pub mod provider;
pub mod proxy;
pub mod records;
pub mod replay;
pub mod scene;
pub mod server;
pub mod site;
pub mod speech;
pub mod studio;
pub mod terminal;
pub mod wait;

use std::sync::Arc;
use std::time::Duration;

use figaro_offline::Runtime;
use figaro_offline::model::{OfflineModel, ReplyScript};
use figaro_offline::tavily::{OfflineTavily, TavilyAnswer};
use figaro_offline::telegram::{MINI_APP_KEY, OfflineTelegram, Person, TelegramOptions};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

pub use bot::Bot;

/// How long anything may take before a test fails: far longer than it ever does, on a busy machine too.
pub const TIMEOUT: Duration = Duration::from_secs(40);

/// A person who may talk to the bot: an owner by settings.
pub const ANN: i64 = 11;
/// A stranger.
pub const BOB: i64 = 12;

/// Everything a bot needs, on loopback.
pub struct World {
    pub telegram: OfflineTelegram,
    pub model: OfflineModel,
    pub script: ReplyScript,
    /// What searches the web for a bot that has its key.
    pub tavily: OfflineTavily,
    pub folder: TempDir,
    runtime: Runtime,
    /// Whether its bots keep to Telegram's pace, for which they wait a second before most messages.
    is_paced: bool,
}

impl World {
    /// A Telegram with Ann and Bob, and a model that says what the script says.
    pub async fn new() -> Self {
        // Any test may be the first that makes a client.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self::with(TelegramOptions::default()).await
    }

    /// The same with bots that keep to Telegram's pace, for tests of when something is sent.
    pub async fn paced() -> Self {
        let mut world = Self::new().await;
        world.is_paced = true;
        world
    }

    /// A world with a bot of these options.
    pub async fn with(options: TelegramOptions) -> Self {
        let runtime = Runtime::system();
        let telegram = OfflineTelegram::start(listener().await, options, &runtime).unwrap();
        for (id, name) in [(ANN, "Ann"), (BOB, "Bob")] {
            telegram.add_user(Person::new(id, name).username(&name.to_lowercase()).language("en"));
            telegram.add_private(id).unwrap();
        }
        let script = ReplyScript::new();
        let model = OfflineModel::start(listener().await, Arc::new(script.clone()), &runtime).unwrap();
        let failure = |_: &str| TavilyAnswer::failure(500, "Internal Server Error");
        let tavily = OfflineTavily::start(listener().await, failure, &runtime).unwrap();
        Self {
            telegram,
            model,
            script,
            tavily,
            folder: tempfile::tempdir().unwrap(),
            runtime,
            is_paced: false,
        }
    }

    /// The bot, started with the world's settings and waiting for updates.
    pub async fn start(&self) -> Bot {
        let bot = self.bot().spawn();
        bot.ready().await;
        bot
    }

    /// A bot with the world's settings, to be changed and spawned.
    pub fn bot(&self) -> bot::Recipe {
        bot::Recipe::new(self.folder.path())
            .set("TELEGRAM_RATES", if self.is_paced { "telegram" } else { "off" })
            .set("STORE_URL", &self.store_setting())
            .set("TELEGRAM_BOT_TOKEN", self.telegram.token())
            .set("TELEGRAM_API_URL", self.telegram.url())
            .set("TELEGRAM_PUBLIC_KEY", MINI_APP_KEY)
            .set("OPENAI_API_KEY", "sk-offline-key")
            .set("OPENAI_BASE_URL", self.model.url())
            .set("OPENAI_MODEL", "offline")
            .set("MCP_HTTP_PORT", "0")
            // A name is one more request for each conversation, which only tests of names expect.
            .set("SESSION_NAMES", "off")
            // So is a summary.
            .set("SUMMARY_EVERY", "0")
            // So is a look for facts to remember, one for each message.
            .set("MEMORY_LIMIT", "0")
            // Where there is one, no test waits a minute for it, or for a place at the one model.
            .set("MEMORY_DELAY", "0")
            .set("LLM_SLOTS", "1000")
            .set("OWNER_IDS", &ANN.to_string())
    }

    /// Ann writes to the bot, and the bot's next message in that chat is given back.
    pub async fn ask(&self, text: &str) -> Value {
        let before = self.bot_texts(ANN).len();
        self.telegram.say(ANN, ANN, text).unwrap();
        self.answers(ANN, before + 1).await.pop().unwrap()
    }

    /// Waits until the bot has written so many messages in a chat, and gives them all.
    pub async fn answers(&self, chat: i64, count: usize) -> Vec<Value> {
        let answers = self
            .telegram
            .wait_until(TIMEOUT, |view| {
                let messages: Vec<Value> = view.bot_messages(chat).into_iter().cloned().collect();
                (messages.len() >= count).then_some(messages)
            })
            .await;
        answers.unwrap_or_else(|| panic!("{count} messages in {chat}; there are {:?}", self.bot_texts(chat)))
    }

    /// The texts of the bot's messages in a chat.
    pub fn bot_texts(&self, chat: i64) -> Vec<String> {
        self.telegram.view(|view| {
            view.bot_messages(chat)
                .into_iter()
                .map(|m| m["text"].as_str().unwrap_or_default().to_owned())
                .collect()
        })
    }

    /// Everything that bots of this world have logged and said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("figaro.log")).unwrap_or_default()
    }
}

impl Drop for World {
    /// A model that was asked what no provider takes, or a Telegram that was called wrongly, fails the test.
    fn drop(&mut self) {
        self.runtime.stop();
        if !std::thread::panicking() {
            assert_eq!(self.model.violations(), Vec::<String>::new(), "requests no provider would take");
            assert_eq!(self.tavily.violations(), Vec::<String>::new(), "searches Tavily would not take");
        }
    }
}

pub async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}
