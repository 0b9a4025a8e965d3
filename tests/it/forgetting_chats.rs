//! What is forgotten in generated chats: private ones, groups, topics and sessions over HTTP, with tools, facts, summaries,
//! names, edits and quotes that carry the words on. Afterwards they are in no byte of the folder, no later request, message,
//! export or line of the log, while everything else stays.
//!
//! Each run has 4 times `FORGET_CHATS` chats (24 unless set); `FORGET_CHATS=250` makes a thousand.

use std::collections::BTreeSet;
use std::sync::Arc;

use figaro_config::EngineKind;
use figaro_offline::Runtime;
use figaro_offline::model::{Brain, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{MemberStatus, Person, Say};
use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

use super::forgetting::{BUSY, files};
use super::task_tools::{LEAP, recurring};
use crate::support::bytes;
use crate::support::http::{Asking, Gateway, KEY};
use crate::support::postgres::PostgresServer;
use crate::support::scene::{labels, number, text};
use crate::support::wait::eventually;
use crate::support::{World, listener};

/// Number of chats that go on at once.
const AT_ONCE: usize = 12;
/// Letters of a secret that are searched for: an index may keep the stem of a word.
const STEM: usize = 8;

/// Repeats the words of the question it is asked, in its answer or in the tool that they name.
struct Parrot;

impl Parrot {
    /// The tag, the tool and the words of the newest question.
    fn question(request: &ModelRequest) -> Option<(String, String, String)> {
        let said = request.user_text();
        let at = said.rfind("tag-")?;
        let mut words = said[at..].splitn(3, ' ');
        let rest = words.clone().nth(2)?;
        let rest = rest.split(['<', '\n']).next()?.trim().to_owned();
        Some((words.next()?.to_owned(), words.next()?.to_owned(), rest))
    }
}

fn tool(name: &str, words: &str) -> Option<Value> {
    Some(match name {
        "add_note" => json!({"key": "codes", "content": words}),
        "schedule_task" => recurring(words, LEAP),
        "pin" => json!({"content": words}),
        "set_config" => json!({"custom_prompt": words}),
        "recall" => json!({"query": words}),
        "list_notes" | "list_tasks" => json!({}),
        _ => return None,
    })
}

impl Brain for Parrot {
    fn answer(&self, request: &ModelRequest) -> ModelReply {
        let Some((tag, name, words)) = Self::question(request) else {
            return ModelReply::text("Nothing to say.");
        };
        let end = ModelReply::text(&format!("{tag} ends: {words}"));
        let Some(arguments) = tool(&name, &words) else { return end };
        let results = request.tool_results();
        if request.tool_names().contains(&name.as_str()) && results.iter().all(|(of, _)| *of != name) {
            return ModelReply::call(&name, arguments);
        }
        if results.is_empty() {
            ModelReply::call("find_tools", json!({"query": name.replace('_', " ")}))
        } else {
            end
        }
    }

    fn summarise(&self, request: &ModelRequest) -> Option<ModelReply> {
        let summary = format!("They spoke of {}.", named(request));
        Some(ModelReply::text(&json!({"summary": summary, "importance": 5}).to_string()))
    }

    fn name(&self, request: &ModelRequest) -> Option<ModelReply> {
        Some(ModelReply::text(&format!("Talk of {}", named(request))))
    }
}

/// All secrets of a request.
fn named(request: &ModelRequest) -> String {
    let all: Vec<String> = secrets_in(request.body.to_string().as_bytes()).into_iter().collect();
    all.join(", ")
}

/// Numbers that look thrown, and are the same in each run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A word that stands nowhere else.
fn secret(case: usize) -> String {
    let mut dice = Dice(u64::try_from(case).unwrap() + 77);
    let letter = |_| char::from(b'a' + u8::try_from(dice.throw(20)).unwrap());
    format!("zq{}", (0..STEM).map(letter).collect::<String>())
}

/// The beginnings of words that may be secrets.
fn secrets_in(bytes: &[u8]) -> BTreeSet<String> {
    let is_one =
        |part: &&[u8]| part[..2].eq_ignore_ascii_case(b"zq") && part[2..].iter().all(u8::is_ascii_alphabetic);
    let found = bytes.windows(STEM).filter(is_one);
    found.map(|part| String::from_utf8(part.to_ascii_lowercase()).unwrap()).collect()
}

/// Fails where a text has this secret, and shows what stands around it.
fn lacks(text: &str, secret: &str, what: &str) {
    if let Some(at) = text.to_ascii_lowercase().find(&stem(secret)) {
        let around: String =
            text.chars().skip(text[..at].chars().count().saturating_sub(400)).take(500).collect();
        panic!("{what}: {around}");
    }
}

fn stem(word: &str) -> String {
    word[..STEM].to_owned()
}

/// The secrets in the files of the store.
fn secrets_kept(world: &World) -> BTreeSet<String> {
    bytes::files(&world.store_folder()).into_values().flat_map(|bytes| secrets_in(&bytes)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Private,
    Group,
    Topic,
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Reply,
    Words,
    Conversation,
    Everything,
}

/// One generated chat.
struct Case<'a> {
    world: &'a World,
    gateway: &'a Gateway,
    model: &'a OfflineModel,
    number: usize,
    kind: Kind,
    means: Means,
    who: i64,
    chat: i64,
    topic: Option<i64>,
    steps: usize,
    secret: String,
    dice: Dice,
}

impl<'a> Case<'a> {
    fn new(world: &'a World, gateway: &'a Gateway, model: &'a OfflineModel, number: usize) -> Self {
        let mut dice = Dice(u64::try_from(number).unwrap());
        let kind = [Kind::Private, Kind::Group, Kind::Topic, Kind::Http][number % 4];
        let means = [Means::Reply, Means::Words, Means::Conversation, Means::Everything][dice.throw(4)];
        let id = i64::try_from(number).unwrap();
        let who = 50_000 + id;
        world.telegram.add_user(Person::new(who, &format!("Person {number}")).language("en"));
        let (chat, topic) = match kind {
            Kind::Private | Kind::Http => (who, None),
            Kind::Group | Kind::Topic => (-1_000_000_200_000 - id, None),
        };
        let mut case = Self {
            world,
            gateway,
            model,
            number,
            kind,
            means,
            who,
            chat,
            topic,
            steps: 0,
            secret: secret(number),
            dice,
        };
        case.open();
        case
    }

    fn open(&mut self) {
        let telegram = &self.world.telegram;
        match self.kind {
            Kind::Http => {}
            Kind::Private => drop(telegram.add_private(self.who).unwrap()),
            Kind::Group => telegram.add_supergroup(self.chat, "Group"),
            Kind::Topic => telegram.add_forum(self.chat, "Forum"),
        }
        if self.chat < 0 {
            telegram.set_member(self.chat, self.who, MemberStatus::Admin).unwrap();
        }
        if self.kind == Kind::Topic {
            self.topic = Some(telegram.add_topic(self.chat, "Garden").unwrap());
        }
    }

    fn say(&self, text: &str) -> Say {
        let say = Say::new(self.who, self.chat, text);
        self.topic.map_or(say.clone(), |topic| say.topic(topic))
    }

    /// Somebody asks, and the answer comes; gives the number of their message, and the tag in it.
    async fn asks(&mut self, tool: &str, words: &str, quoted: Option<i64>) -> (i64, String) {
        self.steps += 1;
        let tag = format!("tag-{}-{}-", self.number, self.steps);
        let said = format!("{tag} {tool} {words}");
        let end = format!("{tag} ends");
        if self.kind == Kind::Http {
            let asking = self.over_http(self.gateway.says(&said));
            assert!(asking.words().await.contains(&end));
            return (0, tag);
        }
        let at = if self.chat < 0 { "@figaro_bot " } else { "" };
        let say = self.say(&format!("{at}{said}"));
        let say = quoted.map_or(say.clone(), |message| say.reply_to(message));
        let sent = self.world.telegram.send(say).unwrap();
        self.hears(&end).await;
        (sent.message_id, tag)
    }

    async fn hears(&self, words: &str) -> Value {
        let what = format!("{words} in chat {} ({:?}, {:?})", self.number, self.kind, self.means);
        self.world
            .see(&what, |view| {
                let mut messages = view.bot_messages(self.chat).into_iter().rev();
                messages.find(|message| text(message).contains(words)).cloned()
            })
            .await
    }

    /// A card that comes to a command: a change of settings has one of its own, which may come late.
    async fn card(&self, say: Say) -> Value {
        let sent = self.world.telegram.send(say).unwrap();
        let what = format!("a card in chat {} ({:?}, {:?})", self.number, self.kind, self.means);
        let is_it = |message: &Value| {
            number(&message["message_id"]) > sent.message_id
                && labels(message).iter().any(|label| label != "Undo")
        };
        self.world
            .see(&what, |view| {
                view.bot_messages(self.chat).into_iter().find(|message| is_it(message)).cloned()
            })
            .await
    }

    /// The card after a press that has it ask whether to forget.
    async fn asked_whether(&self, card: &Value, label: &str) -> Value {
        self.world.press(self.who, card, label).await;
        self.world
            .see("the question", |view| {
                let all = view.messages(self.chat);
                let now = all.into_iter().find(|one| one["message_id"] == card["message_id"])?;
                labels(now).contains(&"Forget".to_owned()).then(|| now.clone())
            })
            .await
    }

    /// `true` if a session over HTTP is one of several of a user.
    fn has_user(&self) -> bool {
        self.means == Means::Words || self.means == Means::Reply
    }

    fn over_http(&self, asking: Asking) -> Asking {
        let asking = asking.key(KEY).session(&format!("talk-{}", self.number));
        if self.has_user() { asking.user(&format!("user-{}", self.number)) } else { asking }
    }

    /// Tools whose effects go with what is forgotten: notes and tasks stay when a whole conversation goes, and settings of
    /// a group take an approval.
    fn tools(&self) -> Vec<&'static str> {
        let is_whole = self.means == Means::Conversation;
        match self.kind {
            Kind::Http if self.has_user() => vec!["nothing", "pin"],
            Kind::Http => vec!["nothing", "pin", "add_note"],
            Kind::Private if is_whole => vec!["nothing", "pin", "set_config"],
            Kind::Group | Kind::Topic if is_whole => vec!["nothing", "pin"],
            Kind::Private => vec!["nothing", "pin", "add_note", "schedule_task", "set_config"],
            Kind::Group | Kind::Topic => vec!["nothing", "pin", "add_note", "schedule_task"],
        }
    }

    /// Says the secret in one message and has something made of it, among other messages; gives that message.
    async fn talks(&mut self) -> i64 {
        let keep = format!("My name is keep{}.", self.number);
        let is_first = self.dice.throw(2) == 0;
        if !is_first {
            self.asks("nothing", &keep, None).await;
        }
        let tools = self.tools();
        let tool = tools[self.dice.throw(tools.len())];
        // A result that has the secret, in a turn of its own.
        let reader = match tool {
            "add_note" => "list_notes",
            "schedule_task" => "list_tasks",
            _ => "recall",
        };
        let secret = format!("My code is {}.", self.secret);
        let (message, tag) = self.asks(tool, &secret, None).await;
        if is_first {
            // The session is named after the secret.
            self.asks("nothing", &keep, None).await;
        }
        for _ in 0..self.dice.throw(4) {
            match self.dice.throw(4) {
                0 => drop(self.asks(reader, "what is my code?", None).await),
                1 if self.kind != Kind::Http => {
                    drop(self.asks("nothing", "and that?", Some(message)).await);
                }
                2 if self.kind != Kind::Http => {
                    let edited = format!("{tag} {tool} My code was {}.", self.secret);
                    self.world.telegram.edit(self.who, self.chat, message, &edited).unwrap();
                }
                _ => drop(self.asks("nothing", "It rains, and I have an umbrella.", None).await),
            }
        }
        message
    }

    async fn forgets(&self, message: i64) {
        if self.kind == Kind::Http {
            let path = format!("/v1/sessions/talk-{}", self.number);
            let asking = self.gateway.plain(Method::DELETE, &path).key(KEY);
            let asking = if self.has_user() { asking.user(&format!("user-{}", self.number)) } else { asking };
            let (status, body) = asking.text().await;
            assert!(status.is_success(), "{status} {body}");
            return;
        }
        let at = if self.chat < 0 { "@figaro_bot" } else { "" };
        let command = format!("/forget{at}");
        let card = match self.means {
            Means::Reply => self.card(self.say(&command).reply_to(message)).await,
            Means::Words => {
                let card = self.card(self.say(&format!("{command} {}", self.secret))).await;
                let all = labels(&card).into_iter().find(|label| label.starts_with("Forget all"));
                let first = all.unwrap_or_else(|| labels(&card)[0].clone());
                self.asked_whether(&card, &first).await
            }
            Means::Conversation | Means::Everything => {
                let card = self.card(self.say(&command)).await;
                let label =
                    if self.means == Means::Conversation { "This conversation" } else { "Everything" };
                self.asked_whether(&card, label).await
            }
        };
        self.confirms(&card).await;
    }

    /// Presses *Forget*. The last question may have been edited, and is then being answered again.
    async fn confirms(&self, card: &Value) {
        let is_free = async || (self.world.press(self.who, card, "Forget").await != BUSY).then_some(());
        eventually(|| format!("chat {} is always busy", self.number), is_free).await;
        self.world.shows(self.chat, number(&card["message_id"]), "Forgotten").await;
    }

    /// The request for one more question.
    async fn next_request(&mut self) -> String {
        let (_, tag) = self.asks("nothing", "What now?", None).await;
        let requests = self.model.requests();
        requests.iter().rev().find(|one| one.user_text().contains(&tag)).unwrap().body.to_string()
    }

    /// Says all, forgets, and looks at everything that comes later in this chat.
    async fn runs(mut self) -> String {
        let message = self.talks().await;
        self.forgets(message).await;
        let (asked, called) = (self.model.requests().len(), self.world.telegram.calls().len());
        let told = format!("chat {}: {:?}, {:?}", self.number, self.kind, self.means);
        let request = self.next_request().await;
        lacks(&request, &self.secret, &told);
        let keeps = matches!(self.means, Means::Reply | Means::Words) && self.kind != Kind::Http;
        assert_eq!(request.contains(&format!("keep{}", self.number)), keeps, "{told}: {request}");
        if self.kind == Kind::Private && self.number.is_multiple_of(3) {
            let card = self.card(self.say("/export")).await;
            self.world.press(self.who, &card, "Everything").await;
            for (name, content) in files(self.world, self.chat, 2).await {
                lacks(&content, &self.secret, &format!("{told}: {name}"));
            }
        }
        for request in &self.model.requests()[asked..] {
            lacks(&request.body.to_string(), &self.secret, &told);
        }
        for call in &self.world.telegram.calls()[called..] {
            let all = Value::Object(call.args.clone()).to_string();
            lacks(&all, &self.secret, &format!("{told}: {}", call.method));
        }
        stem(&self.secret)
    }
}

/// Number of chats of each test.
#[expect(clippy::disallowed_methods, reason = "a run of the tests is told by its environment")]
fn chats() -> usize {
    std::env::var("FORGET_CHATS").map_or(24, |count| count.parse().unwrap())
}

/// Waits until nothing holds what was forgotten; what nobody forgot is still there.
async fn leaves_the_store(kept_in: impl Fn() -> BTreeSet<String>, forgotten: &BTreeSet<String>, kept: &str) {
    let left = |found: &BTreeSet<String>| -> Vec<String> { found.intersection(forgotten).cloned().collect() };
    let found = eventually(
        || format!("{:?}", left(&kept_in())),
        async || Some(kept_in()).filter(|found| left(found).is_empty()),
    )
    .await;
    assert!(found.contains(&stem(kept)), "what nobody forgot is kept");
}

/// Where a bot keeps its store.
enum Place {
    Folder(EngineKind),
    Database(&'static PostgresServer),
}

async fn what_is_forgotten_is_nowhere(place: Place, embedder: &str, first: usize) {
    let count = chats();
    let world = World::new().await;
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(Parrot), &runtime).unwrap();
    let setting = match &place {
        Place::Folder(kind) => format!("{kind}:./data"),
        Place::Database(server) => server.url_for(world.folder.path()).to_string(),
    };
    let recipe = world
        .bot()
        .set("OPENAI_BASE_URL", model.url())
        .set("ACCESS", "open")
        .set("STORE_URL", &setting)
        .set("ERASE_AFTER", "1")
        .set("EMBEDDER", embedder)
        .set("MEMORY_LIMIT", "50")
        .set("SUMMARY_EVERY", "4")
        .set("SESSION_NAMES", "on")
        .set("API_KEYS", &format!("app:{KEY}"));
    let gateway = world.gateway_of(recipe).await;
    let numbers = first..first + count;
    // One that nobody forgets shows that the search finds what is there.
    let mut kept = Case::new(&world, &gateway, &model, first + count * 4);
    kept.talks().await;
    let cases = numbers.map(|number| Case::new(&world, &gateway, &model, number).runs());
    let forgotten: BTreeSet<String> = futures::stream::iter(cases).buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(forgotten.len(), count);
    for asked in [model.extraction_requests(), model.summary_requests(), model.naming_requests()] {
        let carries = |request: &ModelRequest| !secrets_in(request.body.to_string().as_bytes()).is_empty();
        assert!(asked.iter().any(carries), "work in the background carries secrets on");
    }
    let kept_in = || match &place {
        Place::Folder(_) => secrets_kept(&world),
        Place::Database(server) => secrets_in(&server.dump(world.folder.path())),
    };
    leaves_the_store(kept_in, &forgotten, &kept.secret).await;
    let log = gateway.bot.log();
    let is_told = |line: &&str| !secrets_in(line.as_bytes()).is_disjoint(&forgotten);
    let told: Vec<&str> = log.lines().filter(is_told).collect();
    assert_eq!(told, [""; 0], "words of people in the log");
    assert!(gateway.bot.stop().await.success());
    assert_eq!(model.violations(), Vec::<String>::new());
    runtime.stop();
}

#[tokio::test]
async fn what_is_forgotten_in_any_chat_is_nowhere_on_redb() {
    what_is_forgotten_is_nowhere(Place::Folder(EngineKind::Redb), "off", 0).await;
}

#[tokio::test]
async fn what_is_forgotten_in_any_chat_is_nowhere_on_redb_with_an_embedder() {
    what_is_forgotten_is_nowhere(Place::Folder(EngineKind::Redb), "openai:text-embedding-3-small", 1_000)
        .await;
}

#[tokio::test]
async fn what_is_forgotten_in_any_chat_is_nowhere_on_sled() {
    what_is_forgotten_is_nowhere(Place::Folder(EngineKind::Sled), "off", 2_000).await;
}

#[tokio::test]
async fn what_is_forgotten_in_any_chat_is_nowhere_on_sled_with_an_embedder() {
    what_is_forgotten_is_nowhere(Place::Folder(EngineKind::Sled), "openai:text-embedding-3-small", 3_000)
        .await;
}

#[tokio::test]
async fn what_is_forgotten_in_any_chat_is_nowhere_in_a_database() {
    let Some(server) = PostgresServer::get() else { return };
    what_is_forgotten_is_nowhere(Place::Database(server), "openai:text-embedding-3-small", 4_000).await;
}
