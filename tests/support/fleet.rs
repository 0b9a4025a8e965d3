//! Several bots at one Telegram, with one model, in one process or in several.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyScript};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::bot::Recipe;
use super::wait::eventually;
use super::{ANN, BOB, TIMEOUT, listener};

/// Several bots, and a folder for each process.
pub struct Fleet {
    pub bots: Vec<OfflineTelegram>,
    pub model: OfflineModel,
    pub script: ReplyScript,
    folder: TempDir,
    runtime: Runtime,
}

impl Fleet {
    /// A Telegram with so many bots, each in a world with Ann and Bob.
    pub async fn of(count: usize) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let runtime = Runtime::system();
        let options = (0..count).map(|number| TelegramOptions {
            token: format!("{}:offline", 7_000_000_001 + number),
            username: format!("bot{number}_bot"),
            ..TelegramOptions::default()
        });
        let bots = OfflineTelegram::start_many(listener().await, options.collect(), &runtime).unwrap();
        for bot in &bots {
            for (id, name) in [(ANN, "Ann"), (BOB, "Bob")] {
                bot.add_user(Person::new(id, name).language("en"));
                bot.add_private(id).unwrap();
            }
        }
        let script = ReplyScript::new();
        let model = OfflineModel::start(listener().await, Arc::new(script.clone()), &runtime).unwrap();
        Self { bots, model, script, folder: tempfile::tempdir().unwrap(), runtime }
    }

    /// Has another model answer, by a function of the request. Processes that run keep the one before.
    pub async fn answer_by(&mut self, brain: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) {
        self.model = OfflineModel::start(listener().await, Arc::new(brain), &self.runtime).unwrap();
    }

    /// Has a model answer each question, written as `#7`, with its number.
    pub async fn answer_with_numbers(&mut self) {
        let brain = |request: &ModelRequest| {
            let all: Vec<String> =
                numbers(&request.user_text()).iter().map(|number| format!("#{number}")).collect();
            ModelReply::text(&all.join(" "))
        };
        self.answer_by(brain).await;
    }

    /// Numbers that a bot has answered to Ann so far, in order.
    pub fn numbers_answered(&self, bot: usize) -> Vec<usize> {
        texts(&self.bots[bot], ANN).iter().flat_map(|text| numbers(text)).collect()
    }

    /// Folder of a process.
    pub fn folder(&self, process: &str) -> PathBuf {
        let folder = self.folder.path().join(process);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A process for all bots, to be changed and spawned. The variable with the token of bot 0 is `TOKEN_0`.
    pub fn recipe(&self, process: &str) -> Recipe {
        let mut recipe = Recipe::new(&self.folder(process))
            .set("TELEGRAM_RATES", "off")
            .set("TELEGRAM_API_URL", self.bots[0].url())
            .set("OPENAI_API_KEY", "sk-offline-key")
            .set("OPENAI_BASE_URL", self.model.url())
            .set("OPENAI_MODEL", "offline")
            .set("MCP_HTTP_PORT", "0")
            .set("SESSION_NAMES", "off")
            .set("SUMMARY_EVERY", "0")
            .set("MEMORY_LIMIT", "0")
            .set("LLM_SLOTS", "1000")
            .set("OWNER_IDS", &ANN.to_string());
        for (number, bot) in self.bots.iter().enumerate() {
            recipe = recipe.set(&format!("TOKEN_{number}"), bot.token());
        }
        recipe
    }

    /// Writes the file of bots of a process.
    pub fn file(&self, process: &str, text: &str) {
        std::fs::write(self.folder(process).join("bots.yaml"), text).unwrap();
    }

    /// The file that names all bots: `bot0`, `bot1` and so on.
    pub fn file_of_all(&self, process: &str) {
        let lines = (0..self.bots.len()).map(|number| format!("bot{number}: {{token: TOKEN_{number}}}\n"));
        self.file(process, &lines.collect::<String>());
    }

    /// Someone asks a bot, and its answer is given back.
    pub async fn ask(&self, bot: usize, from: i64, text: &str) -> String {
        let telegram = &self.bots[bot];
        let before = texts(telegram, from).len();
        telegram.say(from, from, text).unwrap();
        let found = telegram
            .wait_until(TIMEOUT, |view| {
                let all = view.bot_messages(from);
                all.get(before).map(|m| m["text"].as_str().unwrap_or_default().to_owned())
            })
            .await;
        found.unwrap_or_else(|| panic!("bot {bot} says nothing to {from}; the logs:\n{}", self.logs()))
    }

    /// Waits until a bot has said these words.
    pub async fn says(&self, bot: usize, chat: i64, words: &str) {
        let has = |text: &&serde_json::Value| text["text"] == words;
        let found = self.bots[bot]
            .wait_until(TIMEOUT, |view| view.bot_messages(chat).iter().any(has).then_some(()))
            .await;
        found.unwrap_or_else(|| panic!("bot {bot} does not say {words}; the logs:\n{}", self.logs()));
    }

    /// Logs of all processes.
    pub fn logs(&self) -> String {
        let folders = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let log = |folder: &Path| std::fs::read_to_string(folder.join("figaro.log")).unwrap_or_default();
        folders.map(|folder| format!("== {:?}\n{}", folder.file_name(), log(&folder.path()))).collect()
    }

    /// Output of `figaro bots` beside a process.
    pub async fn listed(&self, recipe: &Recipe) -> String {
        let output = recipe.clone().arg("bots").run().await;
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until `figaro bots` has this state for a bot.
    pub async fn is_listed(&self, recipe: &Recipe, bot: &str, state: &str) {
        let is_there = |list: &str| list.lines().any(|line| line.starts_with(bot) && line.contains(state));
        eventually(
            || format!("{bot} is not {state}; the logs:\n{}", self.logs()),
            async || is_there(&self.listed(recipe).await).then_some(()),
        )
        .await;
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.runtime.stop();
    }
}

/// Numbers of questions in a text, each written as `#7`.
fn numbers(text: &str) -> Vec<usize> {
    let word =
        |word: &str| word.strip_prefix('#')?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    text.split_whitespace().filter_map(word).collect()
}

/// The texts of a bot's messages in a chat.
pub fn texts(telegram: &OfflineTelegram, chat: i64) -> Vec<String> {
    telegram.view(|view| {
        let words = |m: &&Value| m["text"].as_str().unwrap_or_default().to_owned();
        view.bot_messages(chat).iter().map(words).collect()
    })
}
