//! Every provider through the real bot: words, tools, failures, stops and stand-ins, against the offline model in the
//! provider's own dialect, which checks each request as the service would.

use std::time::Duration;

use figaro::demo::model::{Part, Reply};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::{ANN, PATIENCE, World};

const PROVIDERS: [&str; 4] = ["openai", "compatible", "ollama", "gemini"];

/// The model each is asked for.
fn model(provider: &str) -> &'static str {
    match provider {
        "gemini" => "gemini-3.5-flash",
        "ollama" => "llama3.2",
        _ => "offline",
    }
}

impl World {
    /// The bot with one provider that answers and, if named, one that stands in for it.
    pub fn bot_of(&self, provider: &str, other: Option<&str>) -> Recipe {
        let bot = self.bot().unset("OPENAI_API_KEY").unset("OPENAI_BASE_URL").unset("OPENAI_MODEL");
        let bot = self.with_provider(bot.set("LLM_PROVIDER", provider), provider);
        match other {
            Some(other) => {
                let name = format!("{other}:{}", model(other));
                self.with_provider(bot.set("LLM_FALLBACK", &name), other)
            }
            None => bot,
        }
    }

    fn with_provider(&self, bot: Recipe, provider: &str) -> Recipe {
        let prefix = provider.to_ascii_uppercase();
        let url = match provider {
            "ollama" => self.model.ollama_url().to_owned(),
            "gemini" => self.model.gemini_url(),
            _ => self.model.url().to_owned(),
        };
        let bot =
            bot.set(&format!("{prefix}_BASE_URL"), &url).set(&format!("{prefix}_MODEL"), model(provider));
        if provider == "ollama" { bot } else { bot.set(&format!("{prefix}_API_KEY"), "sk-offline-key") }
    }

    /// The results of the last request that brought any, as the model read them.
    fn last_results(&self) -> Vec<Value> {
        let requests = self.model.requests();
        let results = requests.iter().rev().map(|request| {
            let results = request.tool_results().into_iter();
            results.map(|(_, output)| serde_json::from_str(&output).unwrap()).collect::<Vec<Value>>()
        });
        results.into_iter().find(|results| !results.is_empty()).unwrap_or_default()
    }
}

fn note(content: &str) -> Part {
    Part::Call { name: "add_note".to_owned(), arguments: json!({"key": "list", "content": content}) }
}

/// One bot, one question after the other: what is true for every provider.
async fn converses(provider: &str) {
    let world = World::new().await;
    let bot = world.bot_of(provider, None).spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello, **Ann**!"));
    let hello = world.ask("hi").await;
    assert_eq!((&hello["text"], &hello["entities"][0]["type"]), (&json!("Hello, Ann!"), &json!("bold")));
    calls(&world).await;
    world.script.push(Reply::status(429, "slow down").retry_after(1));
    world.script.push(Reply::text("Now."));
    assert_eq!(world.ask("again").await["text"], "Now.");
    assert_eq!(world.script.left(), 0);
    assert_eq!(world.refused(), Vec::<String>::new());
    assert!(bot.stop().success());
}

/// One call, two at once, and one that fails.
async fn calls(world: &World) {
    let missing = Part::Call { name: "remove_note".into(), arguments: json!({"note_id": "no such note"}) };
    let cases = [
        (vec![Part::Text("Let me see.".into()), note("milk")], vec![true]),
        (vec![note("bread"), note("salt")], vec![true, true]),
        (vec![missing], vec![false]),
    ];
    for (parts, wanted) in cases {
        world.script.push(Reply::turn(parts));
        world.script.push(Reply::text("Done."));
        assert_eq!(world.ask("do it").await["text"], "Done.");
        let done: Vec<bool> = world.last_results().iter().map(|result| result["success"] == true).collect();
        assert!(done.ends_with(&wanted), "{done:?}");
    }
}

/// `/stop` keeps what was written and closes the call.
async fn stops(provider: &str) {
    let world = World::new().await;
    let bot = world.bot_of(provider, None).spawn();
    bot.ready().await;
    let long = "one word and another ".repeat(200);
    world.script.push(Reply::text(&long).paced(4, Duration::from_millis(100)));
    world.say(ANN, ANN, "tell me");
    let drafted = world
        .telegram
        .wait_until(PATIENCE, |view| view.calls_of("sendMessageDraft").get(2).map(|_| ()))
        .await;
    drafted.expect("the answer is seen as it is written");
    world.say(ANN, ANN, "/stop");
    world.answers(ANN, 2).await;
    let texts = world.bot_texts(ANN);
    assert!(texts.iter().any(|text| text.starts_with("one word") && text.len() < long.len()), "{texts:?}");
    assert!(bot.stop().success());
}

/// A model that fails before its first word gives way to another.
async fn falls_back(provider: &str, other: &str) {
    let world = World::new().await;
    let bot = world.bot_of(provider, Some(other)).set("LLM_IDLE_TIMEOUT", "1").spawn();
    bot.ready().await;
    for _ in 0..3 {
        world.script.push(Reply::status(500, "down"));
    }
    world.script.push(Reply::text("I stand in."));
    assert_eq!(world.ask("are you there?").await["text"], "I stand in.");
    let status = world.ask("/status").await;
    let named = format!("{other}:{}", model(other));
    assert!(status["text"].as_str().unwrap().contains(&named), "{status}");

    // Ollama says nothing while it loads a model, and is waited for much longer.
    if provider != "ollama" {
        world.script.push(Reply::silence());
        world.script.push(Reply::text("Still here."));
        assert_eq!(world.ask("and now?").await["text"], "Still here.");
    }
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn openai_converses_calls_and_recovers() {
    converses("openai").await;
}

#[tokio::test]
async fn compatible_converses_calls_and_recovers() {
    converses("compatible").await;
}

#[tokio::test]
async fn ollama_converses_calls_and_recovers() {
    converses("ollama").await;
}

#[tokio::test]
async fn gemini_converses_calls_and_recovers() {
    converses("gemini").await;
}

#[tokio::test]
async fn every_provider_is_stopped() {
    futures::future::join_all(PROVIDERS.map(stops)).await;
}

#[tokio::test]
async fn every_provider_gives_way_to_another() {
    let next = |at: usize| PROVIDERS[(at + 1) % PROVIDERS.len()];
    let all = PROVIDERS.into_iter().enumerate().map(|(at, provider)| falls_back(provider, next(at)));
    futures::future::join_all(all).await;
}
