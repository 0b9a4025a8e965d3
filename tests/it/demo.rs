//! `figaro demo`: a talk in the browser that needs nobody outside, and leaves nothing behind.

use std::fs;
use std::process::Stdio;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;

use crate::support::bot::Recipe;
use crate::support::demo::{Demo, recipe};
use crate::support::output::{refused, words};
use crate::support::{TIMEOUT, World, proc};

/// Reads the demo's events until the bot says something with these words in the chat.
async fn hears(http: &reqwest::Client, url: &str, chat: i64, words: &str) -> bool {
    let events = http.get(format!("{url}demo/events")).send().await.unwrap();
    let mut stream = events.bytes_stream();
    let mut text = String::new();
    while let Some(bytes) = stream.next().await {
        text.push_str(&String::from_utf8_lossy(&bytes.unwrap()));
        let said = |event: &str| {
            let data = event.split_once("event: message\ndata: ")?.1;
            let message: Value = serde_json::from_str(data).ok()?;
            let is_it = message["chat"]["id"] == chat && message["from"]["is_bot"] == true;
            (is_it && message["text"].as_str()?.contains(words)).then_some(())
        };
        if text.split("\n\n").any(|event| said(event).is_some()) {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn the_demo_answers_in_the_browser_and_leaves_nothing() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let world = World::new().await;
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port().to_string();
    let recipe = Recipe::new(world.folder.path()).arg("demo").arg("--port").arg(&port);
    let figaro = recipe.command();
    // As a service manager or `nohup` may start it: without any standard input.
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" <&-"]).arg(figaro.get_program()).args(figaro.get_args());
    shell.current_dir(world.folder.path()).env_clear().env("TMPDIR", world.folder.path());
    let mut demo = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    assert!(line.contains(&url), "{line}");
    let http = reqwest::Client::builder().build().unwrap();
    let page = http.get(&url).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("<html"));
    let talk = [
        ("the barber of Seville", "knows only a few phrases"),
        ("search the web for wigs", "All about wigs (made up)"),
        ("remind me in 1 second to drink water", "⏰ Drink water!"),
        ("what is scheduled?", "Nothing is scheduled."),
    ];
    for (said, answer) in talk {
        let message = json!({"chat_id": 1001, "from": 1001, "text": said});
        let sent = http.post(format!("{url}demo/send")).json(&message);
        let hearing = tokio::time::timeout(TIMEOUT, hears(&http, &url, 1001, answer));
        let (heard, sent) = tokio::join!(hearing, sent.send());
        assert!(sent.unwrap().status().is_success() && heard.unwrap());
    }
    let pid = demo.id().unwrap();
    proc::signal(pid, "TERM");
    let output = tokio::time::timeout(TIMEOUT, demo.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", words(&output).1);
    assert_eq!(words(&output).1, "", "nothing to complain about");
    assert_eq!(proc::with_words(&url[..url.len() - 1]), Vec::<u32>::new(), "left running");
    let left: Vec<_> = fs::read_dir(world.folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_stranger_at_the_page_is_one_and_a_search_is_seen() {
    let world = World::new().await;
    let demo = Demo::start(world.folder.path(), &recipe(&world)).await;
    let hello = demo.hello().await;
    let chats = hello["chats"].as_array().unwrap().iter();
    let people: Vec<&Value> = chats.map(|chat| &chat["person"]).filter(|person| !person.is_null()).collect();
    let [sam, alex] = people.as_slice() else { panic!("two people: {people:?}") };
    assert_eq!((&sam["is_me"], &alex["is_me"]), (&json!(false), &json!(true)));
    let sam = sam["id"].as_i64().unwrap();
    let told = demo.event("message", |message| {
        let is_it = message["chat"]["id"] == sam && message["from"]["is_bot"] == true;
        is_it.then(|| message["text"].as_str().unwrap().to_owned())
    });
    let (told, ()) = tokio::join!(told, demo.say_as(sam, "hello?"));
    assert!(told.starts_with("This bot is private. I have asked its owner"), "{told}");
    let searching = demo.event("draft", |draft| draft["text"].as_str()?.starts_with('🔎').then_some(()));
    tokio::join!(searching, demo.say("search the web for wigs"));
    demo.stop().await;
}

#[tokio::test]
async fn a_demo_on_a_port_that_is_taken_says_so() {
    let world = World::new().await;
    let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let message =
        refused(&world, &Recipe::new(world.folder.path()).arg("demo").arg("--port").arg(&port)).await;
    assert!(message.contains(&port) && message.contains("--port"), "{message}");
}

#[tokio::test]
async fn a_demo_whose_chosen_model_lacks_something_names_the_way_back() {
    let world = World::new().await;
    let demo = Recipe::new(world.folder.path()).arg("demo");
    let message = refused(&world, &demo.set("LLM_PROVIDER", "ollama")).await;
    assert!(message.contains("\n  - OLLAMA_MODEL is missing: "), "{message}");
    assert!(message.contains("unset LLM_PROVIDER: then the offline model answers"), "{message}");
    assert!(!message.contains("not set up here"), "{message}");
}
