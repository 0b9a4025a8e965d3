//! When the model fails: what can pass is tried again, the person gets an honest sentence, the owner a line more,
//! nobody a raw error, and the next message works.

use figaro_offline::model::ModelReply;
use futures::future::join_all;
use serde_json::{Value, json};

use super::{Left, is_like};
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, Bot, World};

/// What a failing provider says: nothing of it may reach anyone.
const RAW: &str = r#"raw words of the provider {"key": "sk-offline-key"}"#;

/// How the model fails a question, for each row of the table.
fn replies(fault: &str) -> Vec<ModelReply> {
    let error = json!({"error": {"code": "server_error", "message": RAW}});
    let incomplete = |reason: &str| json!({"incomplete_details": {"reason": reason}});
    let delta = |kind: &str, text: &str| delta(&format!("response.{kind}.delta"), text);
    match fault {
        "its key is refused" => vec![said(401, "invalid_request_error", "invalid_api_key")],
        "it is gone" => vec![said(404, "invalid_request_error", "model_not_found")],
        "the prompt is too long" => vec![said(400, "invalid_request_error", "context_length_exceeded")],
        "the request is bad" => vec![said(400, "invalid_request_error", "invalid_prompt")],
        "it is busy for a second" => {
            vec![ModelReply::status(429, RAW).retry_after(1), ModelReply::text("Now I can.")]
        }
        "it is busy for an hour" => vec![ModelReply::status(429, RAW).retry_after(3600)],
        "its server fails once" => vec![ModelReply::status(500, RAW), ModelReply::text("Back again.")],
        "its server fails always" => vec![ModelReply::status(500, RAW); 3],
        "it fails within the stream" => vec![events(&[ended("failed", error)]); 3],
        "it breaks off in the middle" => vec![ModelReply::text("I had begun to say something").cut_after(6)],
        "it breaks off at once" => {
            vec![ModelReply::text("never said").cut_after(0), ModelReply::text("Said at last.")]
        }
        "a web page stands in for it" => vec![ModelReply::page("<html>raw words</html>")],
        "it says nothing" => vec![ModelReply::empty()],
        "it refuses in words" => {
            vec![events(&[delta("refusal", "I will not."), ended("completed", json!({}))])]
        }
        "a filter stops it" => vec![events(&[ended("incomplete", incomplete("content_filter"))])],
        "its answer is too long" => {
            let written = delta("output_text", "As far as I got");
            vec![events(&[written, ended("incomplete", incomplete("max_output_tokens"))])]
        }
        "it falls silent" => vec![ModelReply::silence()],
        "it does not even begin" => vec![ModelReply::no_headers()],
        other => panic!("nobody knows how a model fails when {other}"),
    }
}

fn said(status: u16, kind: &str, code: &str) -> ModelReply {
    ModelReply::status_body(
        status,
        json!({"error": {"message": RAW, "type": kind, "param": null, "code": code}}),
    )
}

/// A stream of these events.
fn events(events: &[Value]) -> ModelReply {
    let lines =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    ModelReply::raw(lines.collect::<String>())
}

fn delta(kind: &str, text: &str) -> Value {
    json!({"type": kind, "sequence_number": 1, "item_id": "m", "output_index": 0, "content_index": 0, "delta": text})
}

fn ended(status: &str, more: Value) -> Value {
    let mut response =
        json!({"id": "r", "object": "response", "status": status, "output": [], "usage": null});
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{status}"), "sequence_number": 9, "response": response})
}

/// Every person's chat, and the log: no raw words, no key.
fn assert_clean(world: &World, bot: &Bot, people: impl Iterator<Item = i64>) {
    for chat in people {
        let texts = world.bot_texts(chat).join("\n");
        assert!(!texts.contains("raw words") && !texts.contains('{') && !texts.contains("sk-"), "{texts}");
    }
    assert!(!bot.log().contains("sk-offline-key"), "{}", bot.log());
}

/// Each row has a person of its own, and all of them one bot. Each question is tried as often as it is of some use, the
/// next one is answered, and the owner hears nothing.
pub async fn fail_in_every_way(rows: &[(&str, &str)]) {
    let world = World::new().await;
    let people = 100..100 + i64::try_from(rows.len()).unwrap();
    for (user, (fault, _)) in people.clone().zip(rows) {
        world.person(user, "Someone", "en");
        for reply in replies(fault) {
            world.when(&format!("question “{fault}”"), reply);
        }
    }
    world.otherwise(ModelReply::text("All is well."));
    let bot = world.bot().set("ACCESS", "open").set("LLM_IDLE_TIMEOUT", "3").spawn();
    bot.ready().await;
    let telling = people.clone().zip(rows).map(async |(user, (fault, person))| {
        let answer = world.told(user, user, &format!("question “{fault}”")).await;
        assert!(is_like(text(&answer), person), "{fault}: {answer}");
        assert!(!text(&answer).contains("turn "), "a member is not told the turn: {answer}");
        assert_eq!(text(&world.told(user, user, "and now?").await), "All is well.", "after {fault}");
    });
    join_all(telling).await;
    assert_eq!(world.script.left(), 0, "each was tried exactly as often as it is some use");
    assert_clean(&world, &bot, people);
    assert_eq!((world.refused(), world.bot_texts(ANN)), (Vec::new(), Vec::new()));
    bot.ends_well().await;
}

/// Whatever the provider, that is told as what it is, and not as the model's refusal.
pub async fn a_web_page_stands_in_for_each_provider() -> Left {
    let world = World::new().await;
    let bot = world.many().set("OLLAMA_BASE_URL", world.model.ollama_url()).set("OLLAMA_MODEL", "llama3.2");
    let bot = bot.spawn();
    bot.ready().await;
    let models =
        ["openai:gpt-4.1-mini", "compatible:offline-text", "ollama:llama3.2", "gemini:gemini-2.5-flash"];
    world.otherwise(ModelReply::text("All is well."));
    for model in models {
        world.told(BOB, BOB, &format!("/model {model}")).await;
        world.when("my question", ModelReply::page("<html>raw words</html>"));
        world.told(BOB, BOB, "my question").await;
        world.told(BOB, BOB, "and now?").await;
    }
    assert_clean(&world, &bot, [BOB].into_iter());
    let mut left = Left::stopped(&world, BOB, bot).await;
    left.person.retain(|text| !text.contains(" answers here."));
    left
}

/// With all others of its provider: there is none to name.
pub async fn a_model_is_gone_with_all_others() -> Left {
    let world = World::new().await;
    let all = ["2.5-flash", "2.5-pro", "3-flash-preview", "3-pro-preview", "3.5-flash"];
    let bot = world.bot_of("gemini").set("ACCESS", "open").spawn();
    bot.ready().await;
    for model in all {
        world.model.retire(&format!("gemini-{model}"));
    }
    world.told(BOB, BOB, "are you there?").await;
    Left::stopped(&world, BOB, bot).await
}

/// Every call of the model counts; the last has to answer, and a call made three times is refused.
pub async fn a_model_calls_tools_without_end() -> Left {
    let world = World::new().await;
    for _ in 0..3 {
        world.script.push(ModelReply::call("list_notes", json!({})));
    }
    world.script.push(ModelReply::text("That is all I found."));
    // The next turn's model does not stop at all.
    world.otherwise(ModelReply::call("list_notes", json!({})));
    let bot = world.bot().set("ACCESS", "open").set("MAX_PASSES", "4").spawn();
    bot.ready().await;
    world.told(BOB, BOB, "look everywhere").await;
    let requests = world.asked();
    assert_eq!(requests.len(), 4, "every call of the model counts");
    assert!(requests[..3].iter().all(|request| request.tool_names().contains(&"list_notes")));
    assert_eq!(requests[3].tool_names(), Vec::<&str>::new(), "the last pass has to answer");
    let results = requests[3].tool_results();
    let results: Vec<Value> =
        results.iter().map(|(_, result)| serde_json::from_str(result).unwrap()).collect();
    let worked: Vec<bool> = results.iter().map(|result| result["success"].as_bool().unwrap()).collect();
    assert_eq!(worked, [true, true, false]);
    assert!(results[2]["error"].as_str().unwrap().contains("already"), "{results:?}");
    world.told(BOB, BOB, "again").await;
    assert_eq!(world.asked().len(), 8);
    Left::stopped(&world, BOB, bot).await
}

/// The owner finds the turn in the log; others are told in their language.
pub async fn a_key_is_refused() -> Left {
    const RUI: i64 = 13;
    let world = World::new().await;
    world.person(RUI, "Rui", "pt");
    world.when("mine", said(401, "invalid_request_error", "invalid_api_key"));
    world.when("meu", ModelReply::status(401, RAW));
    let bot = world.start_open().await;
    world.ask("mine").await;
    let told = world.ask("/why").await;
    let (_, detail) = text(&told).split_once("In the log: turn ").unwrap();
    let turn = detail.lines().next().unwrap();
    let log = bot.log();
    assert!(log.lines().any(|line| line.contains(turn) && line.contains("a turn failed")), "{log}");
    world.told(RUI, RUI, "meu").await;
    assert_clean(&world, &bot, [ANN, RUI].into_iter());
    Left::stopped(&world, RUI, bot).await
}

/// In a group it is one reaction each.
pub async fn a_model_fails_in_a_group() -> Left {
    let world = World::new().await;
    world.team();
    let replies = [
        said(404, "x", "model_not_found"),
        ModelReply::status(429, RAW).retry_after(600),
        said(400, "x", "invalid_prompt"),
    ];
    for (reply, words) in replies.into_iter().zip(["first", "second", "third"]) {
        world.when(words, reply);
    }
    world.when("fourth", ModelReply::text("Well again."));
    let bot = world.start_open().await;
    let sent =
        ["first", "second", "third"].map(|words| world.say(BOB, TEAM, &format!("@figaro_bot {words}")));
    world.told(ANN, TEAM, "@figaro_bot fourth").await;
    for sent in sent {
        assert_eq!(world.reactions(TEAM, sent.message_id), ["🤷"]);
    }
    let reacted = world.telegram.view(|view| view.calls_of("setMessageReaction").len());
    assert_eq!(reacted, 3);
    assert_clean(&world, &bot, [TEAM].into_iter());
    Left::stopped(&world, TEAM, bot).await
}
