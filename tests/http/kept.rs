//! What is kept of callers as they see it, whole and by its ids, and what the events of turns tell.

use figaro_offline::model::{ModelReply, ReplyPart};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::http::{Frame, Gateway, KEY, OWNER, frames, said};
use crate::support::scene::text;
use crate::support::{ANN, BOB, World};

impl World {
    async fn gateway_that(&self, more: &[(&str, &str)]) -> Gateway {
        self.otherwise(ModelReply::text("I see."));
        let keys = format!("app:{KEY},owner:{OWNER};chat;sessions;metrics;owner");
        self.gateway_with(&[&[("API_KEYS", keys.as_str())], more].concat()).await
    }
}

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// The data of the events of this name.
fn named(frames: &[Frame], name: &str) -> Vec<Value> {
    frames.iter().filter(|frame| frame.name.as_deref() == Some(name)).map(Frame::json).collect()
}

async fn messages(gateway: &Gateway) -> Vec<Value> {
    let list = gateway.get("/v1/sessions/a/messages").user("ann").ok().await;
    list["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn messages_pins_and_figures_go_out_whole() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    let asks = gateway.says("My aunt lives in Zanzibar.").user("ann").session("a");
    asks.header("x-client-id", "shop-widget").words().await;
    let said = messages(&gateway).await;
    let [question, answer] = &said[..] else { panic!("{said:?}") };
    assert_eq!(
        (&question["text"], &question["client_id"]),
        (&json!("My aunt lives in Zanzibar."), &json!("shop-widget"))
    );
    assert_eq!((&question["speaker"]["name"], &question["role"]), (&json!("ann"), &json!("user")));
    assert_eq!((&answer["model_id"], &answer["referenced_memories"]), (&json!("openai:offline"), &json!([])));
    assert!(answer["token_usage"]["total"].as_u64() > Some(0), "{answer}");
    let session = gateway.get("/v1/sessions/a").user("ann").ok().await;
    assert_eq!(
        (&question["session_id"], question["id"].as_str().map(str::len)),
        (&session["session_id"], Some(26))
    );
    let stats = &session["stats"];
    assert_eq!((&stats["oldest"], &stats["newest"]), (&question["created_at"], &answer["created_at"]));

    let path = "/v1/sessions/a/pins";
    let pin = json!({
        "content": "My aunt lives in Zanzibar.", "importance_score": 8.5, "pin_type": "concept", "source_message_id": question["id"],
    });
    let made = gateway.post(path, &pin).user("ann").ok().await;
    assert_eq!((&made["importance"], &made["pin_type"]), (&json!(8.5), &json!("concept")));
    assert_eq!((&made["source_message_id"], &made["session_id"]), (&question["id"], &session["session_id"]));
    assert_eq!(gateway.get(path).user("ann").ok().await["data"], json!([made]));
    for (field, value) in [
        ("source_message_id", json!("01ARZ3NDEKTSV4RRFFQ69G5FAV")),
        ("source_message_id", json!("nonsense")),
        ("importance_score", json!(11)),
    ] {
        let mut wrong = json!({"content": "No nuts."});
        wrong[field] = value;
        let (status, error) = gateway.post(path, &wrong).user("ann").refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(field)), "{error}");
    }
    let usual = gateway.post(path, &json!({"content": "No milk."})).user("ann").ok().await;
    assert_eq!((&usual["importance"], &usual["pin_type"]), (&json!(5.0), &json!("manual")));
    gateway
        .counts(&[
            "figaro_http_client_turns_total{client=\"shop-widget\"} 1\n",
            "figaro_http_client_tokens_total{client=\"shop-widget\"} ",
        ])
        .await;
}

#[tokio::test]
async fn a_summary_covers_the_messages_that_come_next_as_far_as_is_asked() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    for words in ["One.", "Two.", "Three.", "Four."] {
        gateway.says(words).user("ann").session("a").words().await;
    }
    let ids: Vec<Value> = messages(&gateway).await.iter().map(|message| message["id"].clone()).collect();
    let path = "/v1/sessions/a/summaries";
    let asks = |body: Value| gateway.post(path, &body).user("ann");
    let made = asks(json!({"start_message_id": ids[0], "end_message_id": ids[3]})).ok().await;
    assert_eq!((&made["start_message_id"], &made["end_message_id"]), (&ids[0], &ids[3]));
    assert_eq!((&made["message_count"], made["session_id"].is_string()), (&json!(4), true));
    for (body, field) in [
        // It would overlap, or leave a gap, or end before it begins.
        (json!({"start_message_id": ids[3]}), "start_message_id"),
        (json!({"start_message_id": ids[6]}), "start_message_id"),
        (json!({"end_message_id": ids[1]}), "end_message_id"),
        (json!({"start_message_id": "x"}), "start_message_id"),
    ] {
        let (status, error) = asks(body).refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(field)), "{error}");
    }
    let next = asks(json!({"end_message_id": ids[4]})).ok().await;
    assert_eq!((&next["start_message_id"], &next["end_message_id"]), (&ids[4], &ids[4]));
    let rest = asks(json!({})).ok().await;
    assert_eq!((&rest["start_message_id"], &rest["end_message_id"]), (&ids[5], &ids[7]));
    assert_eq!(gateway.get(path).user("ann").ok().await["data"], json!([made, next, rest]));
}

#[tokio::test]
async fn a_question_that_only_tests_leaves_nothing() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    gateway.says("My aunt lives in Zanzibar.").user("ann").session("a").words().await;
    let before = messages(&gateway).await;
    let pins = json!({"content": "A secret of the test.", "importance": 10});
    world.script.push(ModelReply::turn(vec![
        call("pin", pins),
        call("add_note", json!({"key": "k", "content": "A secret of the test."})),
    ]));
    world.script.push(ModelReply::text("Done: a secret of the test."));
    let tests =
        gateway.says("Pin a secret of the test.").user("ann").session("a").header("x-is-eval", "true");
    tests.words().await;
    assert_eq!(messages(&gateway).await, before);
    assert_eq!(gateway.get("/v1/sessions/a/pins").user("ann").ok().await["data"], json!([]));
    let fresh =
        gateway.says("A secret of the test, again.").user("ann").session("b").header("x-is-eval", "true");
    fresh.words().await;
    let sessions = gateway.get("/v1/sessions").user("ann").ok().await;
    assert_eq!(sessions["data"].as_array().unwrap().len(), 1, "{sessions}");
    assert!(gateway.bot.stop().await.success());
    assert_eq!(crate::support::records::holding(&world, "secret of the test"), [""; 0]);
}

#[tokio::test]
async fn events_tell_of_each_call_whole_and_of_every_action() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    let elicit =
        json!({"type": "elicit", "payload": {"question": "Which city?", "options": ["Riga", "Porto"]}});
    let observation = json!({"type": "observation", "payload": {"confidence": 0.5}});
    let mut body = said("Where shall I go?");
    body["stream"] = true.into();
    let reply = || {
        vec![
            call("add_note", json!({"key": "k", "content": "bread"})),
            call("action", elicit.clone()),
            call("action", observation.clone()),
        ]
    };
    world.script.push(ModelReply::turn(reply()));
    world.script.push(ModelReply::text("To Riga."));
    let asked = gateway.chat(&body).user("ann").session("a").header("x-events", "true").send().await;
    let turn = asked.headers()["x-turn-id"].to_str().unwrap().to_owned();
    let live = frames(&asked.text().await.unwrap());
    let followed = gateway.get(&format!("/v1/turns/{turn}/events")).user("ann").frames().await;
    for frames in [live, followed] {
        let calls = named(&frames, "tool_call");
        let note: Vec<&Value> = calls.iter().filter(|call| call["name"] == "add_note").collect();
        let [began, ended] = &note[..] else { panic!("{calls:?}") };
        assert_eq!((&began["status"], &began["id"]), (&json!("running"), &ended["id"]));
        let arguments: Value = serde_json::from_str(began["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"key": "k", "content": "bread"}));
        assert_eq!(ended["status"], "complete");
        assert!(ended["result"].as_str().unwrap().contains("success"), "{ended}");
        assert!(ended["duration_ms"].is_u64() && !ended["id"].as_str().unwrap().is_empty(), "{ended}");
        let actions = named(&frames, "action");
        let kinds: Vec<&str> = actions.iter().filter_map(|action| action["type"].as_str()).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "elicit").count(), 1, "{actions:?}");
        assert_eq!(kinds.iter().filter(|kind| **kind == "observation").count(), 1, "{actions:?}");
        let asked = actions.iter().find(|action| action["type"] == "elicit").unwrap();
        assert_eq!(asked["payload"]["question"], "Which city?");
    }
}

#[tokio::test]
async fn an_owner_is_told_of_a_turn_over_http_by_its_id() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[("ACCESS", "open")]).await;
    let asks = gateway.says("My aunt lives in Zanzibar.").user("bob").session("a");
    let asked = asks.header("x-client-id", "shop-widget").send().await;
    let turn = asked.headers()["x-turn-id"].to_str().unwrap().to_owned();
    asked.text().await.unwrap();
    let told = world.told(ANN, ANN, &format!("/why {turn}")).await;
    for part in ["It was answered.", "Asked by: shop-widget", "openai:offline"] {
        assert!(text(&told).contains(part), "{part}: {}", text(&told));
    }
    let nobodys = world.told(ANN, ANN, "/why 01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert!(text(&nobodys).starts_with("I know of no turn with this id"), "{nobodys}");
    // It is nobody else's business.
    let others = world.told(BOB, BOB, &format!("/why {turn}")).await;
    assert!(!text(&others).contains("shop-widget"), "{others}");
}

#[tokio::test]
async fn a_search_of_the_provider_is_a_call_with_its_queries_and_sources() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[("OPENAI_MODEL", "gpt-4.1-mini")]).await;
    world
        .script
        .push(ModelReply::text("It rains.").sources(&[("Rain in Riga", "https://rain.example/riga")]));
    let mut body = said("Does it rain?");
    body["stream"] = true.into();
    let frames = gateway.chat(&body).user("ann").session("a").header("x-events", "true").frames().await;
    let calls = named(&frames, "tool_call");
    let [began, ended] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((&began["name"], &began["status"]), (&json!("web_search"), &json!("running")));
    assert_eq!((&ended["id"], &ended["status"]), (&began["id"], &json!("complete")));
    let json = |value: &Value| -> Value { serde_json::from_str(value.as_str().unwrap()).unwrap() };
    // The offline model searches for how the question begins as it was sent.
    let query = &json(&ended["arguments"])["queries"][0];
    assert!(query.as_str().is_some_and(|query| query.starts_with("<now>")), "{ended}");
    assert_eq!(json(&ended["result"])["sources"][0]["url"], "https://rain.example/riga");
    assert!(ended["duration_ms"].is_u64(), "{ended}");
    // The next question is not told that a call was made which had no result.
    world.script.push(ModelReply::text("Take one."));
    gateway.chat(&said("An umbrella?")).user("ann").session("a").send().await;
    let next = world.model.requests().pop().unwrap();
    assert!(!next.body.to_string().contains("search-"), "{}", next.body);
}

#[tokio::test]
async fn followers_hear_what_is_remembered_of_a_question_also_after_its_answer() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[("MEMORY_LIMIT", "50"), ("MEMORY_DELAY", "3600")]).await;
    let mut body = said("I live in Riga and I work as a cook.");
    body["stream"] = true.into();
    let asked = gateway.chat(&body).user("ann").session("a").header("x-events", "true").send().await;
    let turn = asked.headers()["x-turn-id"].to_str().unwrap().to_owned();
    let live = frames(&asked.text().await.unwrap());
    let told = named(&live, "memory");
    assert!(told.iter().any(|event| event["added"].as_u64() > Some(0)), "{live:?}");
    assert_eq!(live.last().unwrap().data, "[DONE]");
    let late = gateway.get(&format!("/v1/turns/{turn}/events")).user("ann").frames().await;
    assert_eq!(named(&late, "memory"), told);
    // What holds no fact is waited for no longer than its answer.
    let mut body = said("Is it cold?");
    body["stream"] = true.into();
    let begun = std::time::Instant::now();
    gateway.chat(&body).user("ann").session("a").header("x-events", "true").frames().await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(8));
    // What teaches nothing ends at once, and a client of OpenAI waits for nothing.
    for events in ["false", "true"] {
        let mut body = said("Is it warm?");
        body["stream"] = true.into();
        let frames = gateway.chat(&body).header("x-events", events).frames().await;
        assert_eq!(frames.last().unwrap().data, "[DONE]");
    }
}

#[tokio::test]
async fn a_caller_keeps_the_records_of_the_packs_that_a_header_chooses() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    let asks = |pack: Option<&str>| {
        let asks = gateway.says("Mary takes 500 mg of metformin.").user("ann").session("a");
        pack.into_iter().fold(asks, |asks, pack| asks.header("x-pack", pack))
    };
    let offers = || {
        let request = world.model.requests().pop().unwrap();
        request.tool_names().contains(&"save_record")
    };
    asks(None).words().await;
    assert!(!offers());
    let saves = json!({"kind": "patient", "fields": {"name": "Mary Smith"}});
    world.script.push(ModelReply::turn(vec![call("save_record", saves)]));
    world.script.push(ModelReply::text("Saved."));
    asks(Some("eldercare")).words().await;
    assert!(offers());
    let kept = messages(&gateway).await;
    assert!(kept.iter().any(|message| message["tool"]["name"] == "save_record"), "{kept:?}");
    // From then on, in all sessions of the person.
    gateway.says("How is Mary Smith?").user("ann").session("b").words().await;
    assert!(offers() && world.model.requests().pop().unwrap().user_text().contains("Mary Smith"));
    gateway.says("How is Mary Smith?").user("bob").session("a").words().await;
    assert!(!offers());
    asks(Some("none")).words().await;
    assert!(!offers());
    let (status, error) = asks(Some("shop")).refused().await;
    assert!(status == 400 && error["message"].as_str().unwrap().contains("eldercare"), "{error}");
    assert_eq!(gateway.says("hi").header("x-pack", "eldercare").refused().await.0, 400);
}

/// What can be read is shown, and the question alone where nothing can.
#[tokio::test]
async fn a_question_is_answered_where_what_was_said_cannot_be_read() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    for at in 0..8 {
        gateway.says(&format!("My secret number {at} is here.")).user("ann").session("a").words().await;
    }
    assert!(gateway.bot.stop().await.success());
    for (damaged, shown, hidden) in
        [(1, vec!["number 1 ", "number 7 "], "number 0 "), (u64::MAX, vec![], "number")]
    {
        world.records().change("messages", |message| {
            if message["index"].as_u64().is_some_and(|index| index < damaged) {
                message["role"] = json!("nobody");
            }
        });
        let gateway = world.gateway_that(&[]).await;
        assert_eq!(gateway.says("What do you know?").user("ann").session("a").words().await, "I see.");
        let sent = world.model.requests().pop().unwrap().body["input"].to_string();
        assert!(sent.contains("What do you know?") && !sent.contains(hidden), "{sent}");
        assert!(shown.iter().all(|words| sent.contains(words)), "{sent}");
        assert!(gateway.bot.stop().await.success());
    }
}

#[tokio::test]
async fn nobody_else_sees_what_is_kept_whole() {
    let world = World::new().await;
    let gateway = world.gateway_that(&[]).await;
    gateway.says("My aunt lives in Zanzibar.").user("ann").session("a").words().await;
    let id = messages(&gateway).await[0]["id"].clone();
    gateway.says("hi").user("bob").session("a").words().await;
    let pin = json!({"content": "x", "source_message_id": id});
    assert_eq!(gateway.post("/v1/sessions/a/pins", &pin).user("bob").refused().await.0, 400);
    let summary = json!({"start_message_id": id});
    assert_eq!(gateway.post("/v1/sessions/a/summaries", &summary).user("bob").refused().await.0, 400);
    let listed = gateway.plain(Method::GET, "/v1/sessions/a/messages").key(KEY).user("bob").text().await.1;
    assert!(!listed.contains("Zanzibar"), "{listed}");
}
