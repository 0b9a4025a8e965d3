//! When the model fails: what can pass is tried again, the person gets an honest sentence, the owner a line more,
//! nobody a raw error, and the next message works.

use figaro::demo::model::Reply;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, Bot, World};

/// What a failing provider says: nothing of it may reach anyone.
const RAW: &str = r#"raw words of the provider {"key": "sk-offline-key"}"#;

/// A question's words, how the model fails it, and what the person is told.
type Case = (&'static str, Vec<Reply>, &'static str);

fn said(status: u16, kind: &str, code: &str) -> Reply {
    Reply::status_body(status, json!({"error": {"message": RAW, "type": kind, "param": null, "code": code}}))
}

/// A stream of these events.
fn events(events: &[Value]) -> Reply {
    let lines =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    Reply::raw(lines.collect::<String>())
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

fn cases() -> Vec<Case> {
    let unavailable = "⚠️ My model cannot be reached right now.";
    let error = json!({"error": {"code": "server_error", "message": RAW}});
    let limit = json!({"incomplete_details": {"reason": "max_output_tokens"}});
    let filter = json!({"incomplete_details": {"reason": "content_filter"}});
    let words = "response.output_text.delta";
    vec![
        ("key", vec![said(401, "invalid_request_error", "invalid_api_key")], "⚠️ My model refuses its key."),
        (
            "gone",
            vec![said(404, "invalid_request_error", "model_not_found")],
            "⚠️ openai:offline is not served any more. Its provider has: openai:offline-text. Choose one",
        ),
        (
            "long",
            vec![said(400, "invalid_request_error", "context_length_exceeded")],
            "⚠️ This conversation has become too long",
        ),
        (
            "bad",
            vec![said(400, "invalid_request_error", "invalid_prompt")],
            "⚠️ The model refused this request.",
        ),
        ("soon", vec![Reply::status(429, RAW).retry_after(1), Reply::text("Now I can.")], "Now I can."),
        ("later", vec![Reply::status(429, RAW).retry_after(3600)], "⚠️ My model is overloaded right now."),
        ("once", vec![Reply::status(500, RAW), Reply::text("Back again.")], "Back again."),
        ("always", vec![Reply::status(500, RAW); 3], unavailable),
        ("inside", vec![events(&[ended("failed", error)]); 3], unavailable),
        ("cut", vec![Reply::text("I had begun to say something").cut_after(6)], "I had begun to say somet"),
        (
            "broken",
            vec![Reply::text("never said").cut_after(0), Reply::text("Said at last.")],
            "Said at last.",
        ),
        (
            "elsewhere",
            vec![Reply::page("<html>raw words</html>")],
            "⚠️ What answers at the address of openai:offline is not a model.",
        ),
        ("empty", vec![Reply::empty()], "⚠️ The model had nothing to say."),
        (
            "refusal",
            vec![events(&[delta("response.refusal.delta", "I will not."), ended("completed", json!({}))])],
            "I will not.",
        ),
        ("filter", vec![events(&[ended("incomplete", filter)])], "⚠️ The model refused this request."),
        (
            "limit",
            vec![events(&[delta(words, "As far as I got"), ended("incomplete", limit)])],
            "As far as I got …",
        ),
        ("mute", vec![Reply::silence()], "⚠️ The model did not answer in time."),
    ]
}

/// Every person's chat, and the log: no raw words, no key.
fn assert_clean(world: &World, bot: &Bot, people: impl Iterator<Item = i64>) {
    for chat in people {
        let texts = world.bot_texts(chat).join("\n");
        assert!(!texts.contains("raw words") && !texts.contains('{') && !texts.contains("sk-"), "{texts}");
    }
    assert!(!bot.log().contains("sk-offline-key"), "{}", bot.log());
}

#[tokio::test]
async fn every_trouble_gets_an_honest_sentence_and_the_next_message_works() {
    let world = World::new().await;
    let cases = cases();
    let people = 100..100 + i64::try_from(cases.len()).unwrap();
    for (user, (words, replies, _)) in people.clone().zip(&cases) {
        world.person(user, "Someone", "en");
        for reply in replies {
            world.when(&format!("question “{words}”"), reply.clone());
        }
    }
    world.otherwise(Reply::text("All is well."));
    let bot = world.bot().set("ACCESS", "open").set("LLM_IDLE_TIMEOUT", "1").spawn();
    bot.ready().await;
    let telling = people.clone().zip(&cases).map(async |(user, (words, _, told))| {
        let answer = world.told(user, user, &format!("question “{words}”")).await;
        assert!(text(&answer).starts_with(told), "{words}: {answer}");
        assert!(!text(&answer).contains("turn "), "a member is not told the turn: {answer}");
        assert_eq!(text(&world.told(user, user, "and now?").await), "All is well.", "after {words}");
        text(&answer).to_owned()
    });
    let answers = join_all(telling).await;
    let of = |words: &str| &answers[cases.iter().position(|case| case.0 == words).unwrap()];
    assert!(
        of("cut").ends_with("\n\n⚠️ The answer broke off in the middle. I can go on, or try again."),
        "{}",
        of("cut")
    );
    assert_eq!(world.script.left(), 0, "each was tried exactly as often as it is some use");
    assert_clean(&world, &bot, people);
    assert_eq!(world.refused(), Vec::<String>::new());
}

/// Whatever the provider, a web page in place of an answer is told as that, and not as the model's refusal.
#[tokio::test]
async fn a_web_page_is_no_refusal_of_the_model() {
    for name in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        let bot = world.bot_of(name).spawn();
        bot.ready().await;
        world.script.push(Reply::page("<html>raw words</html>"));
        let told = world.ask("question").await;
        assert!(text(&told).contains("is not a model. Whoever runs me"), "{name}: {told}");
        assert!(!text(&told).contains("raw words"), "{name}: {told}");
        world.otherwise(Reply::text("All is well."));
        assert_eq!(text(&world.ask("and now?").await), "All is well.", "{name}");
    }
}

#[tokio::test]
async fn a_model_that_stays_silent_is_given_up() {
    let world = World::new().await;
    world.when("hang", Reply::no_headers());
    world.when("next", Reply::text("Here."));
    let bot = world.bot().set("LLM_IDLE_TIMEOUT", "1").spawn();
    bot.ready().await;
    let answer = world.ask("hang").await;
    assert!(text(&answer).starts_with("⚠️ The model did not answer in time."), "{answer}");
    assert_eq!(text(&world.ask("next").await), "Here.");
}

#[tokio::test]
async fn an_owner_gets_the_turn_and_finds_it_in_the_log() {
    let world = World::new().await;
    world.person(13, "Rui", "pt");
    world.when("mine", said(401, "invalid_request_error", "invalid_api_key"));
    world.when("meu", Reply::status(401, RAW));
    let bot = world.start_open().await;
    let answer = world.ask("mine").await;
    let (words, detail) = text(&answer).split_once('\n').unwrap();
    assert_eq!(words, "⚠️ My model refuses its key. Only the owner can mend that. Your message is kept.");
    let turn = detail.strip_prefix("turn ").unwrap().strip_suffix(": unauthorized").unwrap();
    assert!(
        bot.log().lines().any(|line| line.contains(turn) && line.contains("a turn failed")),
        "{}",
        bot.log()
    );
    assert_eq!(answer["entities"][0]["type"], "code", "easy to copy");
    let answer = world.told(13, 13, "meu").await;
    assert_eq!(
        text(&answer),
        "⚠️ Meu modelo recusa a chave. Só o dono pode resolver isso. Sua mensagem está guardada."
    );
    assert_clean(&world, &bot, [ANN, 13].into_iter());
}

#[tokio::test]
async fn in_a_group_a_trouble_is_one_reaction() {
    let world = World::new().await;
    world.team();
    let replies = [
        said(404, "x", "model_not_found"),
        Reply::status(429, RAW).retry_after(600),
        said(400, "x", "invalid_prompt"),
    ];
    for (reply, words) in replies.into_iter().zip(["first", "second", "third"]) {
        world.when(words, reply);
    }
    world.when("fourth", Reply::text("Well again."));
    let bot = world.start_open().await;
    let sent =
        ["first", "second", "third"].map(|words| world.say(BOB, TEAM, &format!("@figaro_bot {words}")));
    assert_eq!(text(&world.told(ANN, TEAM, "@figaro_bot fourth").await), "Well again.");
    for sent in sent {
        assert_eq!(world.reactions(TEAM, sent.message_id), ["🤷"]);
    }
    assert_eq!(world.bot_texts(TEAM), ["Well again."]);
    let reacted = world.telegram.view(|view| view.calls_of("setMessageReaction").len());
    assert_eq!(reacted, 3);
    assert_clean(&world, &bot, [TEAM].into_iter());
}
