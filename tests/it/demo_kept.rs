//! `figaro demo --store`: what was said is there at the next start, however the last one ended; and what every demo
//! says of the model that answers and of what leaves the machine.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Value, json};

use crate::check::refused;
use crate::support::bot::Recipe;
use crate::support::{PATIENCE, World, proc};

const ALEX: i64 = 1001;

/// A running demo; killed when dropped.
struct Demo {
    child: tokio::process::Child,
    url: String,
    terminal: std::path::PathBuf,
    http: reqwest::Client,
}

fn recipe(world: &World) -> Recipe {
    let folder = world.folder.path();
    let recipe = Recipe::new(folder).set("TMPDIR", &folder.to_string_lossy());
    recipe.arg("demo").arg("--port").arg("0")
}

fn kept(world: &World) -> Recipe {
    recipe(world).arg("--store").arg("kept")
}

fn world_file(world: &World) -> std::path::PathBuf {
    world.folder.path().join("kept/demo/world.json")
}

impl Demo {
    async fn start(folder: &Path, recipe: &Recipe) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let terminal = folder.join("terminal.txt");
        let mut command = tokio::process::Command::from(recipe.command());
        command.stdin(Stdio::null()).stdout(File::create(&terminal).unwrap()).kill_on_drop(true);
        let child = command.spawn().unwrap();
        let http = reqwest::Client::builder().build().unwrap();
        let mut demo = Self { child, url: String::new(), terminal, http };
        let first = demo.printed("open http://").await;
        demo.url = first.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        demo
    }

    /// Waits until the terminal shows these words, and gives all of it.
    async fn printed(&self, words: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = fs::read_to_string(&self.terminal).unwrap();
            if text.lines().any(|line| line.contains(words)) {
                return text;
            }
            assert!(Instant::now() < deadline, "no `{words}` in:\n{text}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Reads the events of the page until one of this name is what is looked for.
    async fn event<T>(&self, name: &str, mut find: impl FnMut(&Value) -> Option<T>) -> T {
        let events = self.http.get(format!("{}demo/events", self.url)).send().await.unwrap();
        let mut stream = events.bytes_stream();
        let mut text = Vec::new();
        let reading = async {
            while let Some(bytes) = stream.next().await {
                text.extend_from_slice(&bytes.unwrap());
                while let Some(end) = text.windows(2).position(|two| two == b"\n\n") {
                    let event: Vec<u8> = text.drain(..end + 2).collect();
                    let event = String::from_utf8(event).unwrap();
                    let data = event.strip_prefix(&format!("event: {name}\ndata: "));
                    if let Some(found) = data.and_then(|data| find(&serde_json::from_str(data).unwrap())) {
                        return found;
                    }
                }
            }
            panic!("the events ended");
        };
        tokio::time::timeout(PATIENCE, reading).await.expect("no such event")
    }

    async fn hello(&self) -> Value {
        self.event("hello", |hello| Some(hello.clone())).await
    }

    /// The texts of the private chat as a page that opens now shows them.
    async fn history(&self) -> Vec<String> {
        let hello = self.hello().await;
        let messages = hello["messages"].as_array().unwrap().iter();
        let here = messages.filter(|message| message["chat"]["id"] == ALEX);
        here.map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Alex says something, and the bot's message with these words comes.
    async fn ask(&self, text: &str, answer: &str) {
        let message = json!({"chat_id": ALEX, "from": ALEX, "text": text});
        let heard = self.event("message", |message| {
            let is_it = message["chat"]["id"] == ALEX && message["from"]["is_bot"] == true;
            (is_it && message["text"].as_str()?.contains(answer)).then_some(())
        });
        let sent = self.http.post(format!("{}demo/send", self.url)).json(&message).send();
        let ((), sent) = tokio::join!(heard, sent);
        assert!(sent.unwrap().status().is_success());
    }

    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn stop(mut self) {
        proc::signal(self.child.id().unwrap(), "TERM");
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        assert!(status.success());
    }
}

#[tokio::test]
async fn a_kept_demo_goes_on_where_it_was() {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the barber of Seville", "the barber of Seville").await;
    assert!(demo.printed("kept/demo/world.json").await.contains("kept"));
    demo.stop().await;
    let mut demo = Demo::start(folder, &kept(&world)).await;
    let mut known = demo.history().await;
    assert!(known.iter().filter(|text| text.contains("the barber of Seville")).count() >= 2, "{known:?}");
    // Killed at once after each answer: the last moment may be lost, and what was there before it not.
    for round in 0..3 {
        demo.ask(&format!("word {round}"), &format!("word {round}")).await;
        demo.kill().await;
        demo = Demo::start(folder, &kept(&world)).await;
        let now = demo.history().await;
        assert!(now.len() >= known.len() && now[..known.len()] == known, "{known:?} {now:?}");
        known = now;
    }
    demo.ask("and the end", "and the end").await;
    demo.stop().await;
    let saved: Value = serde_json::from_slice(&fs::read(world_file(&world)).unwrap()).unwrap();
    let chats = saved["chats"].as_array().unwrap();
    let private = chats.iter().find(|chat| chat["id"] == ALEX).unwrap();
    assert!(private["messages"].to_string().contains("and the end"));
    assert_eq!(
        fs::read_dir(world_file(&world).parent().unwrap()).unwrap().count(),
        2,
        "the world and its lock"
    );
}

#[tokio::test]
async fn a_kept_demo_without_a_world_that_can_be_read_begins_anew_and_answers() {
    let world = World::new().await;
    let folder = world.folder.path();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the first", "the first").await;
    demo.stop().await;
    let cases =
        [("{\"version\": 1, \"chats\"", "it is damaged"), ("{\"version\": 99}", "it is of version 99")];
    for (text, words) in cases {
        fs::write(world_file(&world), text).unwrap();
        let demo = Demo::start(folder, &kept(&world)).await;
        let said = demo.printed(words).await;
        let aside = said.split_once("That file is now ").unwrap().1.split_once(';').unwrap().0;
        assert_eq!(fs::read_to_string(folder.join(aside)).unwrap(), text);
        assert_eq!(demo.history().await, Vec::<String>::new());
        demo.ask(words, words).await;
        demo.stop().await;
    }
    // As an earlier version left it: a store, and no world.
    fs::remove_file(world_file(&world)).unwrap();
    let demo = Demo::start(folder, &kept(&world)).await;
    demo.ask("the last", "the last").await;
    let message = refused(&world, &kept(&world)).await;
    assert!(message.contains("another demo is using") && message.contains("--store"), "{message}");
    demo.stop().await;
}

#[tokio::test]
async fn page_and_terminal_say_which_model_answers_and_what_leaves_the_machine() {
    let world = World::new().await;
    let folder = world.folder.path();
    let offline = "A small offline model answers; nothing leaves this machine.";
    let unused = "GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it.";
    let gemini = [("LLM_PROVIDER", "gemini"), ("GEMINI_API_KEY", "g-test-key")];
    let own = [("OPENAI_BASE_URL", world.model.url()), ("OPENAI_MODEL", "offline")];
    let here = format!(
        "The model openai:offline answers. Your messages go to openai at {} (on this machine).",
        world.model.url().trim_start_matches("http://").trim_end_matches("/v1")
    );
    let cases = [
        (vec![("DAILY_USD", "0.01")], offline, ""),
        (vec![gemini[1], ("LLM_FALLBACK", "gemini:x")], offline, unused),
        (
            gemini.to_vec(),
            "The model gemini:gemini-3.5-flash answers. Your messages go to gemini at \
             generativelanguage.googleapis.com.",
            "",
        ),
        (own.to_vec(), here.as_str(), ""),
    ];
    for (variables, notice, line) in cases {
        let recipe = variables.iter().fold(recipe(&world), |recipe, (name, value)| recipe.set(name, value));
        let demo = Demo::start(folder, &recipe).await;
        demo.printed(notice).await;
        demo.printed(line).await;
        assert_eq!(demo.hello().await["notice"], notice, "{variables:?}");
        if notice == offline {
            demo.ask("is there anybody?", "is there anybody?").await;
        }
        demo.stop().await;
    }
}
