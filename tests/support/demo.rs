//! A running `figaro demo`, as its page and its terminal see it.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};

use super::bot::Recipe;
use super::wait::eventually;
use super::{TIMEOUT, World, proc};

/// The person at the page.
pub const ALEX: i64 = 1001;

/// A running demo; killed when dropped.
pub struct Demo {
    child: tokio::process::Child,
    url: String,
    terminal: PathBuf,
    http: reqwest::Client,
}

/// A demo of this test on a port of its own.
pub fn recipe(world: &World) -> Recipe {
    let folder = world.folder.path();
    let recipe = Recipe::new(folder).set("TMPDIR", &folder.to_string_lossy());
    recipe.arg("demo").arg("--port").arg("0")
}

/// An open page: its events, one after the other.
pub struct Page {
    stream: BoxStream<'static, Vec<u8>>,
    text: Vec<u8>,
}

impl Page {
    /// The name and the data of the next event.
    pub async fn next(&mut self) -> (String, Value) {
        loop {
            if let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.text.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let parts = event.strip_prefix("event: ").and_then(|event| event.split_once("\ndata: "));
                // What is no event keeps the connection alive.
                let Some((name, data)) = parts else { continue };
                return (name.to_owned(), serde_json::from_str(data).unwrap());
            }
            self.text.extend_from_slice(&self.stream.next().await.expect("the events ended"));
        }
    }
}

impl Demo {
    pub async fn start(folder: &Path, recipe: &Recipe) -> Self {
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
    pub async fn printed(&self, words: &str) -> String {
        let text = || fs::read_to_string(&self.terminal).unwrap();
        eventually(
            || format!("no `{words}` in:\n{}", text()),
            async || Some(text()).filter(|text| text.lines().any(|line| line.contains(words))),
        )
        .await
    }

    /// Opens the page.
    pub async fn open(&self) -> Page {
        let events = self.http.get(format!("{}demo/events", self.url)).send().await.unwrap();
        Page { stream: events.bytes_stream().map(|bytes| bytes.unwrap().to_vec()).boxed(), text: Vec::new() }
    }

    /// Reads the events of the page until one of this name is what is looked for.
    pub async fn event<T>(&self, name: &str, mut find: impl FnMut(&Value) -> Option<T>) -> T {
        let mut page = self.open().await;
        let reading = async {
            loop {
                let (event, data) = page.next().await;
                if let Some(found) = (event == name).then(|| find(&data)).flatten() {
                    return found;
                }
            }
        };
        tokio::time::timeout(TIMEOUT, reading).await.expect("no such event")
    }

    pub async fn hello(&self) -> Value {
        self.event("hello", |hello| Some(hello.clone())).await
    }

    /// The texts of the private chat as a page that opens now shows them.
    pub async fn history(&self) -> Vec<String> {
        let hello = self.hello().await;
        let messages = hello["messages"].as_array().unwrap().iter();
        let here = messages.filter(|message| message["chat"]["id"] == ALEX);
        here.map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits until the private chat has this text.
    pub async fn shows(&self, text: &str) {
        let last = RefCell::new(Vec::new());
        eventually(
            || format!("no `{text}` in {:?}", last.borrow()),
            async || {
                let history = self.history().await;
                let is_there = history.iter().any(|known| known == text);
                *last.borrow_mut() = history;
                is_there.then_some(())
            },
        )
        .await;
    }

    /// Alex says something, and the bot's message with these words comes.
    pub async fn ask(&self, text: &str, answer: &str) {
        // The page is open before anything is said: a quick answer would be gone by else.
        let mut page = self.open().await;
        self.say(text).await;
        let heard = async {
            loop {
                let (event, message) = page.next().await;
                let is_it = message["chat"]["id"] == ALEX && message["from"]["is_bot"] == true;
                let words = message["text"].as_str().unwrap_or_default();
                if event == "message" && is_it && words.contains(answer) {
                    return;
                }
            }
        };
        tokio::time::timeout(TIMEOUT, heard).await.unwrap_or_else(|_| panic!("{text}: no `{answer}`"));
    }

    /// Alex says something in the private chat.
    pub async fn say(&self, text: &str) {
        self.say_as(ALEX, text).await;
    }

    /// Somebody says something in their private chat.
    pub async fn say_as(&self, person: i64, text: &str) {
        self.does("send", &json!({"chat_id": person, "from": person, "text": text})).await.unwrap();
    }

    /// Somebody does something at the page: `send`, `press` or `stop`. Gives the page's answer, or why it cannot be done.
    pub async fn does(&self, what: &str, body: &Value) -> Result<Value, String> {
        let done = self.http.post(format!("{}demo/{what}", self.url)).json(body).send().await.unwrap();
        if done.status().is_success() {
            Ok(done.json().await.unwrap())
        } else {
            Err(done.text().await.unwrap())
        }
    }

    /// The visitor sends a file; gives the id of the message.
    pub async fn upload(&self, about: &Value, name: &str, content: &str) -> i64 {
        let part = |head: &str, body: &str| {
            format!("--end\r\ncontent-disposition: form-data; name={head}\r\n\r\n{body}\r\n")
        };
        let file = part(&format!("\"file\"; filename=\"{name}\""), content);
        let body = part("\"about\"", &about.to_string()) + &file + "--end--\r\n";
        let post = self.http.post(format!("{}demo/upload", self.url));
        let sent = post.header("content-type", "multipart/form-data; boundary=end").body(body).send().await;
        let sent: Value = sent.unwrap().error_for_status().unwrap().json().await.unwrap();
        sent["message_id"].as_i64().unwrap()
    }

    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub fn signal(&self, name: &str) {
        proc::signal(self.child.id().unwrap(), name);
    }

    pub async fn ended(&mut self) -> ExitStatus {
        tokio::time::timeout(TIMEOUT, self.child.wait()).await.expect("it does not end").unwrap()
    }

    pub async fn stop(self) {
        assert_eq!(self.end().await, Some(0));
    }

    /// Stops it and gives the code with which it ends.
    pub async fn end(mut self) -> Option<i32> {
        self.signal("TERM");
        self.ended().await.code()
    }
}
