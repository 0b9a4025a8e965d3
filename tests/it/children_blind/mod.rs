//! Attacks on agents that ask agents, written from the documents alone: kills at many moments, stops of every kind, words that are
//! said twice, rights that are borrowed, arguments that make no sense.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use figaro_base::clock::Clock;
use figaro_base::ids::ChatId;
use figaro_domain::child::{ChildEnd, ChildRun};
use figaro_domain::conversation::{ConversationId, MessageRole};
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::text;
use crate::support::{ANN, Bot, TIMEOUT, World, listener};

mod budgets;
mod delegating;
mod erasing;
mod kills;
mod misuse;
mod rights;
mod speaking;
mod stops;

/// How the instructions of the leader begin.
const BOSS: &str = "You lead others.";

/// How an agent's instructions are known in a request.
fn mark(name: &str) -> String {
    if name == "boss" { BOSS.to_owned() } else { format!("You are agent {name}.") }
}

/// Writes an agent into the folder of the world; `extra` holds further keys of `json_schema_extra`, a line each.
fn agent(world: &World, name: &str, extra: &[&str]) {
    let extra: String = extra.iter().map(|line| format!("  {line}\n")).collect();
    let file = format!(
        "type: object\ndescription: {}\njson_schema_extra:\n  kind: agent\n  name: {name}\n  version: \"1\"\n{extra}",
        mark(name)
    );
    write(world, name, &file);
}

fn write(world: &World, name: &str, file: &str) {
    let folder = world.folder.path().join("prompts/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.yaml")), file).unwrap();
}

fn is_of(request: &ModelRequest, name: &str) -> bool {
    request.instructions().contains(&mark(name))
}

/// How many requests are of this agent.
fn count(model: &OfflineModel, name: &str) -> usize {
    model.requests().iter().filter(|request| is_of(request, name)).count()
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

fn asks(agent: &str, input: &str) -> ReplyPart {
    asks_within(agent, input, 60)
}

fn asks_within(agent: &str, input: &str, seconds: u64) -> ReplyPart {
    call("ask_agent", json!({"agent_name": agent, "input_text": input, "timeout_seconds": seconds}))
}

fn hands_over(agent: &str, input: &str) -> ReplyPart {
    call("action", json!({"type": "delegate", "payload": {"agent": agent, "input": input}}))
}

/// A model of its own for the agents, and the bot that asks it.
struct Scene {
    world: World,
    recipe: Recipe,
    model: OfflineModel,
    runtime: Runtime,
}

impl Scene {
    async fn new(world: World, brain: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> Self {
        let runtime = Runtime::system();
        let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
        let recipe = world.bot().set("OPENAI_BASE_URL", model.url()).set("ACCESS", "open");
        Self { world, recipe, model, runtime }
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.recipe = self.recipe.clone().set(name, value);
        self
    }

    async fn start(&self) -> Bot {
        let bot = self.recipe.spawn();
        bot.ready().await;
        bot
    }

    /// The bot, with this chat led by the boss.
    async fn led_in(&self, chat: i64) -> Bot {
        let bot = self.start().await;
        self.world.told(ANN, chat, "/config agent boss").await;
        bot
    }

    async fn led(&self) -> Bot {
        self.led_in(ANN).await
    }

    /// Waits until so many requests of an agent have come.
    async fn asked(&self, name: &str, wanted: usize) {
        let find = |requests: &[ModelRequest]| {
            (requests.iter().filter(|r| is_of(r, name)).count() >= wanted).then_some(())
        };
        let found = self.model.wait_until(TIMEOUT, find).await;
        assert!(found.is_some(), "{name} was not asked {wanted} times; {:?}", self.world.bot_texts(ANN));
    }

    /// Waits for a message with these words in a chat.
    async fn says(&self, chat: i64, words: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            view.bot_messages(chat).into_iter().find(|m| text(m).contains(words)).cloned()
        };
        let found = self.world.telegram.wait_until(TIMEOUT, find).await;
        found.unwrap_or_else(|| panic!("never said: {words}; {:?}", self.world.bot_texts(chat)))
    }

    /// The children of Ann's chat; the bot must not run.
    async fn children(&self) -> Vec<ChildRun> {
        self.children_in(ANN).await
    }

    async fn children_in(&self, chat: i64) -> Vec<ChildRun> {
        let store = self.world.stored().await;
        let here = ConversationId { chat: ChatId(chat), topic: None };
        let session = store.conversations().session(here, Clock::system().now()).unwrap().id;
        let messages = store.conversations().recent(session, 100).unwrap();
        let mut children = Vec::new();
        for turn in messages.iter().filter(|m| m.role == MessageRole::User).filter_map(|m| m.turn) {
            children.extend(store.children().of_run(turn).unwrap());
        }
        children
    }

    /// After this, nobody is asked anything and Telegram is not called with these methods for a while.
    async fn is_quiet(&self, methods: &[&str]) {
        let asked = self.model.requests().len();
        let calls = |view: &TelegramView<'_>| methods.iter().map(|m| view.calls_of(m).len()).sum::<usize>();
        let called = self.world.telegram.view(calls);
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let late: Vec<String> = self.model.requests()[asked..].iter().map(|r| r.user_text()).collect();
        assert_eq!(late, Vec::<String>::new(), "requests after the end");
        assert_eq!(self.world.telegram.view(calls), called, "calls after the end");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.runtime.stop();
        if !std::thread::panicking() {
            assert_eq!(self.model.violations(), Vec::<String>::new());
        }
    }
}

/// How each child of an agent ended.
fn ends(children: &[ChildRun], name: &str) -> Vec<Option<ChildEnd>> {
    children.iter().filter(|c| c.agent == name).map(|c| c.outcome.as_ref().map(|o| o.end)).collect()
}

/// All results of tools that a request holds, as text.
fn results(request: &ModelRequest) -> Vec<String> {
    request.tool_results().into_iter().map(|(_, result)| result).collect()
}

/// The last request of an agent.
fn last_of(model: &OfflineModel, name: &str) -> ModelRequest {
    model
        .requests()
        .into_iter()
        .rev()
        .find(|r| is_of(r, name))
        .unwrap_or_else(|| panic!("no request of {name}"))
}
