//! What of a model's answer has the next one asked, what each attempt costs, and how long a service is waited for that asks for it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::World;
use crate::support::bot::Recipe;
use crate::support::replay::{Replay, Sent};
use crate::support::terminal::{asking, events, said};

/// The whole answer of a chat completion in one chunk, which takes 23 tokens and 5.
fn chat(delta: Value, reason: &str) -> Sent {
    let usage = json!({"prompt_tokens": 23, "completion_tokens": 5, "total_tokens": 28});
    let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": usage});
    Sent::events(&format!("data: {chunk}\n\ndata: [DONE]\n\n"))
}

fn refused(status: u16) -> Sent {
    Sent::document(status, &json!({"detail": "not in this form"}))
}

fn stand_in() -> Sent {
    let message = json!({"role": "assistant", "content": "I stand in."});
    Sent::lines(&format!(
        "{}\n",
        json!({"message": message, "done": true, "prompt_eval_count": 30, "eval_count": 7})
    ))
}

/// A bot of the first service, for which the second stands in.
fn both(world: &World, first: &Replay, second: &Replay) -> Recipe {
    world
        .bot_of("compatible")
        .set("COMPATIBLE_BASE_URL", &format!("{}/v1", first.url))
        .set("LLM_FALLBACK", "ollama:m")
        .set("OLLAMA_BASE_URL", &second.url)
        .set("OLLAMA_MODEL", "m")
}

/// What `figaro ask --json` tells last.
async fn ask(world: &World, first: &Replay, second: &Replay) -> Value {
    let recipe = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "OWNER_IDS"]
        .iter()
        .fold(both(world, first, second), |recipe, name| recipe.unset(name));
    let (out, ..) = said(&asking(recipe, &["How many loaves?", "--json"]).run().await);
    events(&out).pop().unwrap()
}

#[tokio::test]
async fn a_model_that_says_nothing_or_is_refused_gives_way_to_the_next() {
    let cases = [
        ("an empty answer", chat(json!({"content": ""}), "stop"), ""),
        ("blanks", chat(json!({"content": " \n"}), "stop"), ""),
        ("reasoning in a field", chat(json!({"reasoning_content": "They ask."}), "stop"), ""),
        ("reasoning in the text", chat(json!({"content": "<think>They ask."}), "stop"), ""),
        ("reasoning up to the bound", chat(json!({"content": "<think>They ask."}), "length"), ""),
        ("withheld without a word", chat(json!({"content": ""}), "content_filter"), ""),
        ("an unknown method", refused(405), ""),
        ("a form that is not known", refused(422), ""),
        ("a request that is not taken", refused(400), ""),
        ("withheld after a word", chat(json!({"content": "Two lo"}), "content_filter"), "Two lo"),
        ("an answer", chat(json!({"content": "Two loaves."}), "stop"), "Two loaves."),
    ];
    let world = World::new().await;
    let first = Replay::start(cases.iter().map(|(_, sent, _)| sent.clone()).collect()).await;
    let second = Replay::start(vec![stand_in()]).await;
    let bot = both(&world, &first, &second).spawn();
    bot.ready().await;
    let mut stood_in = 0;
    for (at, (name, _, own)) in cases.iter().enumerate() {
        let told = world.ask("how many loaves?").await["text"].as_str().unwrap().to_owned();
        if own.is_empty() {
            stood_in += 1;
            assert_eq!(told, "I stand in.", "{name}");
        } else {
            assert!(told.starts_with(own), "{name}: {told}");
        }
        assert_eq!((first.requests().len(), second.requests().len()), (at + 1, stood_in), "{name}");
    }
    bot.ends_well().await;
}

#[tokio::test]
async fn each_attempt_is_booked_and_the_last_one_is_told_of() {
    let world = World::new().await;
    let first = Replay::start(vec![chat(json!({"content": ""}), "stop")]).await;
    let cases = [(stand_in(), "done", "I stand in."), (refused(422), "error", "refused")];
    for (sent, last, wanted) in cases {
        let second = Replay::start(vec![sent]).await;
        let told = ask(&world, &first, &second).await;
        assert_eq!(
            (&told["event"], told.get("text").or(told.get("label"))),
            (&json!(last), Some(&json!(wanted))),
            "{told}"
        );
        let tokens = if last == "done" { (53, 12, 65) } else { (23, 5, 28) };
        let counted =
            (&told["usage"]["input_tokens"], &told["usage"]["output_tokens"], &told["spent"]["tokens"]);
        assert_eq!(counted, (&json!(tokens.0), &json!(tokens.1), &json!(tokens.2)), "{told}");
    }
}

#[tokio::test]
async fn an_attempt_that_had_set_to_work_is_booked_by_what_it_was_sent() {
    let world = World::new().await;
    let unread = json!({"error": {"message": "Failed to call a function.", "code": "tool_use_failed"}});
    let first = Replay::start(vec![Sent::document(400, &unread)]).await;
    let second = Replay::start(vec![stand_in()]).await;
    let told = ask(&world, &first, &second).await;
    assert_eq!((first.requests().len(), told["text"].as_str()), (2, Some("I stand in.")), "{told}");
    assert_eq!(told["usage"]["input_tokens"], 30, "{told}");
    let lost = told["spent"]["tokens"].as_u64().unwrap() - 37;
    assert!(lost > 1_000 && lost.is_multiple_of(2), "{told}");
}

#[tokio::test]
async fn a_service_that_says_when_to_come_back_is_waited_for_or_its_time_is_told() {
    let busy = |header| Sent::document(503, &json!({"error": {"message": "busy"}})).with_header(header);
    let limited = |header| Sent::document(429, &json!({"error": {"message": "busy"}})).with_header(header);
    let world = World::new().await;
    let first = Replay::start(vec![
        busy("retry-after: 2"),
        chat(json!({"content": "Two loaves."}), "stop"),
        limited("retry-after: 3600"),
        limited("retry-after: 864000"),
    ])
    .await;
    let recipe = world.bot_of("compatible").set("COMPATIBLE_BASE_URL", &format!("{}/v1", first.url));
    let bot = recipe.set("DEFAULT_TIMEZONE", "Etc/UTC").spawn();
    bot.ready().await;
    let begun = Instant::now();
    assert_eq!(world.ask("how many loaves?").await["text"], "Two loaves.");
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    for format in ["%H:%M", "%Y-%m-%d %H:%M"] {
        let told = world.ask("and now?").await["text"].as_str().unwrap().to_owned();
        let (_, behind) = told.split_once("takes no more requests until ").unwrap();
        let (time, _) = behind.split_once(" (Etc/UTC)").unwrap();
        let is_time = |time| match format {
            "%H:%M" => chrono::NaiveTime::parse_from_str(time, format).is_ok(),
            _ => chrono::NaiveDateTime::parse_from_str(time, format).is_ok(),
        };
        assert!(is_time(time), "{told}");
    }
    assert_eq!(first.requests().len(), 4, "nobody waits for long");
    bot.ends_well().await;
}

#[tokio::test]
async fn where_another_model_stands_in_no_service_is_waited_for_long() {
    let busy = json!({"error": {"message": "busy"}});
    let world = World::new().await;
    let first = Replay::start(vec![
        Sent::document(429, &busy).with_header("retry-after: 30"),
        chat(json!({"content": "Two loaves."}), "stop"),
    ])
    .await;
    let second = Replay::start(vec![stand_in()]).await;
    let bot = both(&world, &first, &second).spawn();
    bot.ready().await;
    assert_eq!(world.ask("how many loaves?").await["text"], "I stand in.");
    assert_eq!(first.requests().len(), 1);
    bot.ends_well().await;
}
