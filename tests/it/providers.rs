//! Every provider through the real bot, against the offline model in the provider's own dialect, which checks each request
//! as the service would: a table of scenarios, and each row for each provider.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::Say;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::support::canned::PNG;
use crate::support::provider::model;
use crate::support::{ANN, World};

/// A way through the bot that every provider must go.
type Scenario = for<'a> fn(&'a World) -> BoxFuture<'a, ()>;

/// What holds while a provider works. One bot goes through all of it, in this order, as one conversation.
const WORKING: [(&str, Scenario); 8] = [
    ("plain", |world| plain(world).boxed()),
    ("one tool", |world| {
        calls(world, vec![ReplyPart::Text("Let me see.".into()), note("milk")], &[true]).boxed()
    }),
    ("parallel tools", |world| calls(world, vec![note("bread"), note("salt")], &[true, true]).boxed()),
    ("tool error", |world| calls(world, vec![no_such_note()], &[false]).boxed()),
    ("image", |world| image(world).boxed()),
    ("structured output", |world| structured(world).boxed()),
    ("stop", |world| stop(world).boxed()),
    ("429, then ok", |world| limited(world).boxed()),
];

/// What holds while it does not, and another stands in for it.
const FAILING: [(&str, Scenario); 3] = [
    ("500", |world| gives_way(world, vec![ModelReply::status(500, "down"); 3]).boxed()),
    ("hang before its first word", |world| gives_way(world, vec![ModelReply::silence()]).boxed()),
    ("hang before anything", |world| gives_way(world, vec![ModelReply::no_headers()]).boxed()),
];

const PROVIDERS: [&str; 4] = ["openai", "compatible", "ollama", "gemini"];

fn note(content: &str) -> ReplyPart {
    ReplyPart::Call { name: "add_note".to_owned(), arguments: json!({"key": "list", "content": content}) }
}

fn no_such_note() -> ReplyPart {
    ReplyPart::Call { name: "remove_note".to_owned(), arguments: json!({"note_id": "no such note"}) }
}

impl World {
    /// The last request the model got.
    fn last_request(&self) -> ModelRequest {
        self.model.requests().pop().unwrap()
    }

    /// Goes through the scenarios; in none a reply is left over, or a call or a request is wrong.
    async fn goes_through(&self, provider: &str, scenarios: &[(&str, Scenario)]) {
        for (name, scenario) in scenarios {
            let outcome = AssertUnwindSafe(scenario(self)).catch_unwind().await;
            assert!(outcome.is_ok(), "{provider} fails in: {name}: {:?}", self.model.violations());
            assert_eq!((self.script.left(), self.refused()), (0, Vec::new()), "{provider}: {name}");
            assert_eq!(self.model.violations(), Vec::<String>::new(), "{provider}: {name}");
        }
    }
}

async fn plain(world: &World) {
    world.script.push(ModelReply::text("Hello, **Ann**!"));
    let hello = world.ask("hi").await;
    assert_eq!((&hello["text"], &hello["entities"][0]["type"]), (&json!("Hello, Ann!"), &json!("bold")));
}

/// The calls are made, all at once, and the model reads how each came out.
async fn calls(world: &World, parts: Vec<ReplyPart>, wanted: &[bool]) {
    world.script.push(ModelReply::turn(parts));
    world.script.push(ModelReply::text("Done."));
    assert_eq!(world.ask("do it").await["text"], "Done.");
    let request = world.last_request();
    let results = request.tool_results();
    let done = results.iter().map(|(_, output)| serde_json::from_str::<Value>(output).unwrap());
    assert_eq!(done.map(|result| result["success"] == true).collect::<Vec<_>>(), wanted, "{results:?}");
}

/// The model gets the picture that was sent, byte for byte.
async fn image(world: &World) {
    let before = world.bot_texts(ANN).len();
    world.script.push(ModelReply::text("A dot."));
    let photo = Say::new(ANN, ANN, "what is this?").photo(STANDARD.decode(PNG).unwrap());
    world.telegram.send(photo).unwrap();
    assert_eq!(world.answers(ANN, before + 1).await.pop().unwrap()["text"], "A dot.");
    let request = world.last_request();
    let pictures: Vec<_> = request.pictures().iter().map(|p| (p.mime_type, p.base64)).collect();
    assert_eq!(pictures, [("image/png", PNG)]);
}

/// JSON is asked for in words and in the provider's way once the chat wants it, and shown as code.
async fn structured(world: &World) {
    let card = world.ask("/model output_format json").await;
    assert!(card["text"].as_str().unwrap().contains("form of the answer json (output_format)"), "{card}");
    world.script.push(ModelReply::text("{\"a\":1}"));
    let answer = world.ask("how many are there?").await;
    let code = &answer["entities"][0];
    assert_eq!((&answer["text"], &code["type"]), (&json!("{\"a\":1}"), &json!("pre")), "{answer}");
    let request = world.last_request();
    assert!(request.user_text().contains("JSON"), "{}", request.user_text());
    // With a form Ollama's models call no tools, so that it goes without.
    let is_ollama = request.model() == model("ollama");
    assert_eq!((request.wants_json(), request.tool_names().is_empty()), (!is_ollama, false));
    // OpenAI searches in no such request: a tool does it by a call of its own.
    let searches = (request.offers_search(), request.tool_names().contains(&"web_search"));
    let wanted = match request.model() {
        "gpt-4.1-mini" => (false, true),
        "gemini-3.5-flash" => (true, false),
        _ => (false, false),
    };
    assert_eq!(searches, wanted, "{}", request.model());
    world.ask("/model output_format clear").await;
}

/// `/stop` keeps what was written and closes the call.
async fn stop(world: &World) {
    let before = world.bot_texts(ANN).len();
    let drafts = world.telegram.view(|view| view.calls_of("sendMessageDraft").len());
    let long = "one word and another ".repeat(200);
    world.script.push(ModelReply::text(&long).paced(4, Duration::from_millis(50)));
    world.say(ANN, ANN, "tell me");
    world
        .see("the answer as it is written", |view| {
            let later = view.calls_of("sendMessageDraft").into_iter().skip(drafts);
            later.into_iter().find(|call| call.args["text"].to_string().contains("one word")).map(drop)
        })
        .await;
    world.say(ANN, ANN, "/stop");
    world.answers(ANN, before + 1).await;
    let texts = world.bot_texts(ANN).split_off(before);
    assert!(texts.iter().any(|text| text.starts_with("one word") && text.len() < long.len()), "{texts:?}");
}

/// Who asks for a moment gets it, and is asked again.
async fn limited(world: &World) {
    let before = world.model.requests().len();
    world.script.push(ModelReply::status(429, "slow down").retry_after(1));
    world.script.push(ModelReply::text("Now."));
    assert_eq!(world.ask("again").await["text"], "Now.");
    let models: Vec<String> = world.model.requests()[before..].iter().map(|r| r.model().to_owned()).collect();
    assert!(models.len() == 2 && models[0] == models[1], "{models:?}");
}

/// A model that fails before its first word gives way to another.
async fn gives_way(world: &World, failures: Vec<ModelReply>) {
    let before = world.model.requests().len();
    let failed = failures.len();
    failures.into_iter().for_each(|failure| world.script.push(failure));
    world.script.push(ModelReply::text("I stand in."));
    assert_eq!(world.ask("are you there?").await["text"], "I stand in.");
    let requests = world.model.requests().split_off(before);
    let models: Vec<&str> = requests.iter().map(ModelRequest::model).collect();
    let (stand_in, tried) = models.split_last().unwrap();
    assert!(tried.len() == failed && tried.iter().all(|model| model != stand_in), "{models:?}");
    let status = world.ask("/status").await;
    assert!(status["text"].as_str().unwrap().contains(&format!(":{stand_in}")), "{status}");
}

/// Both tables for a provider, each with a bot of its own.
async fn keeps_to_the_matrix(provider: &str, other: &str) {
    let working = async {
        let world = World::new().await;
        let mut bot = world.bot_of(provider).spawn();
        bot.ready().await;
        world.goes_through(provider, &WORKING).await;
        bot.signal("TERM");
        assert!(bot.ended().await.success());
    };
    let failing = async {
        let world = World::new().await;
        let bot = world.bot_of(provider).set("LLM_FALLBACK", &format!("{other}:{}", model(other)));
        // Shorter, and a busy machine takes what works for what hangs.
        let bot =
            world.with_provider(bot, other).set("LLM_IDLE_TIMEOUT", "5").set("OLLAMA_LOAD_TIMEOUT", "0m5s");
        let mut bot = bot.spawn();
        bot.ready().await;
        world.goes_through(provider, &FAILING).await;
        bot.signal("TERM");
        assert!(bot.ended().await.success());
    };
    futures::join!(working, failing);
}

#[tokio::test]
async fn every_provider_keeps_to_the_matrix() {
    let others = PROVIDERS.iter().cycle().skip(1);
    let all = PROVIDERS.iter().zip(others).map(|(provider, other)| keeps_to_the_matrix(provider, other));
    futures::future::join_all(all).await;
}

/// Where tools and a form do not go together, the form waits for the pass that has no tools.
#[tokio::test]
async fn a_form_goes_without_tools_where_they_cannot_be_combined() {
    let world = World::new().await;
    let bot = world.with_provider(world.bot_of("ollama"), "gemini").set("MAX_PASSES", "2").spawn();
    bot.ready().await;
    world.ask("/model output_format json").await;
    for model in
        ["ollama:qwen3-vl:8b", "gemini:gemini-2.5-flash", "gemini:gemini-3.5-flash", "ollama:gemma3:4b"]
    {
        world.ask(&format!("/model {model}")).await;
        let before = world.model.requests().len();
        let combines = model.ends_with("3.5-flash");
        let calls = model != "ollama:gemma3:4b";
        if calls {
            world.script.push(ModelReply::turn(vec![note("salt")]));
        }
        world.script.push(ModelReply::text("{\"a\":1}"));
        assert_eq!(world.ask("note salt").await["entities"][0]["type"], "pre", "{model}");
        let asked = world.model.requests().split_off(before);
        let asked: Vec<_> = asked.iter().map(|r| (!r.tool_names().is_empty(), r.wants_json())).collect();
        let wanted = if calls { vec![(true, combines), (false, true)] } else { vec![(false, true)] };
        assert_eq!(asked, wanted, "{model}");
    }
    bot.ends_well().await;
}

/// Of what a model thought before calls that are left out nothing goes back, and all else does.
#[tokio::test]
async fn thoughts_go_back_with_the_calls_that_are_made() {
    let providers = [
        ("openai", "gpt-5-mini", r#""type":"reasoning""#, 33),
        ("compatible", "deepseek-reasoner", r#""reasoning_content":"Hm."#, 1),
        ("ollama", "qwen3-vl:8b", r#""thinking":"Hm."#, 1),
        ("gemini", "gemini-3.5-flash", "FigaroSigned", 1),
    ];
    for (provider, model, thought, count) in providers {
        let world = World::new().await;
        let bot = world.bot_of(provider).set(&format!("{}_MODEL", provider.to_ascii_uppercase()), model);
        let bot = bot.spawn();
        bot.ready().await;
        let call =
            |at| ReplyPart::Call { name: "list_notes".into(), arguments: json!({"key": format!("k{at}")}) };
        let parts = (0..40).flat_map(|at| [ReplyPart::Thought("Hm.".into()), call(at)]);
        world.script.push(ModelReply::turn(parts.collect()));
        world.script.push(ModelReply::text("Done."));
        assert_eq!(world.ask("look everywhere").await["text"], "Done.", "{provider}");
        let request = world.last_request();
        assert_eq!(request.tool_results().len(), 33, "{provider}");
        let body = request.body.to_string();
        assert_eq!(body.matches(thought).count(), count, "{provider}: {body}");
        assert_eq!(world.model.violations(), Vec::<String>::new(), "{provider}");
        bot.ends_well().await;
    }
}
