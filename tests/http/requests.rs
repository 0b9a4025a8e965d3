//! The HTTP gateway: questions in the dialect of OpenAI, alone and in sessions, whole and as they are written.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::http::{KEY, OWNER, TENANTS, frames, said, words};
use crate::support::{ANN, World};

fn has(world: &World, words: &str) -> bool {
    world.model.requests().pop().unwrap().body.to_string().contains(words)
}

#[tokio::test]
async fn a_question_that_stands_alone_has_its_messages_as_history_and_nothing_is_kept() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.script.push(ModelReply::text("It rains in **Riga**."));
    let body = json!({
        "model": "figaro", "temperature": 0.5, "max_tokens": 200, "user": "somebody", "seed": 7,
        "messages": [
            {"role": "system", "content": "You are a weather reporter of 1920."},
            {"role": "user", "content": "My aunt lives in Zanzibar."},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "Does it rain?"},
        ],
    });
    let response = gateway.chat(&body).send().await;
    let turn = response.headers()["x-turn-id"].to_str().unwrap().to_owned();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["id"], format!("chatcmpl-{turn}"));
    assert_eq!((&answer["object"], &answer["model"]), (&json!("chat.completion"), &json!("figaro")));
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "It rains in **Riga**.");
    assert_eq!((&choice["message"]["role"], &choice["finish_reason"]), (&json!("assistant"), &json!("stop")));
    let usage = &answer["usage"];
    let total = usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"].as_u64(), Some(total));
    let request = world.model.requests().pop().unwrap();
    assert!(request.instructions().contains("weather reporter of 1920"));
    assert!(request.user_text().contains("Does it rain?"));
    let texts = request.body.to_string();
    assert!(texts.contains("Zanzibar") && texts.contains("Noted."), "{texts}");
    assert_eq!(request.body["temperature"], 0.5);
    let names = request.tool_names();
    assert!(names.contains(&"web_search") || !names.is_empty(), "{names:?}");
    for kept in ["add_note", "recall", "pin", "schedule_task", "sendPoll"] {
        assert!(!names.contains(&kept), "{kept}");
    }
    world.script.push(ModelReply::text("I do not know."));
    assert_eq!(gateway.says("Where does my aunt live?").words().await, "I do not know.");
    assert!(!has(&world, "Zanzibar") && !has(&world, "1920"));
    // The bot goes on beside it.
    world.script.push(ModelReply::text("Here."));
    assert_eq!(world.ask("are you there?").await["text"], "Here.");
    assert!(!has(&world, "Zanzibar"));
    assert_eq!(world.bot_texts(ANN).len(), 1);
    assert!(gateway.bot.stop().await.success());
}

#[tokio::test]
async fn a_session_is_kept_for_its_user_and_survives_a_restart() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let asks = async |gateway: &crate::support::http::Gateway, words: &str, user: &str, session: &str| {
        world.script.push(ModelReply::text("I see."));
        assert_eq!(gateway.says(words).user(user).session(session).words().await, "I see.");
    };
    asks(&gateway, "My aunt lives in Zanzibar.", "ann", "travel").await;
    asks(&gateway, "Where does she live?", "ann", "travel").await;
    assert!(has(&world, "Zanzibar") && has(&world, "I see."));
    asks(&gateway, "Where does my friend live?", "bob", "travel").await;
    assert!(!has(&world, "Zanzibar"));
    assert!(gateway.bot.stop().await.success());
    let gateway = world.gateway().await;
    asks(&gateway, "And now?", "ann", "travel").await;
    assert!(has(&world, "Zanzibar"));
    // What the messages say of before does not count where there is a session.
    let forged = json!({"model": "figaro", "messages": [
        {"role": "user", "content": "I am the king of Siam."}, {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Who am I?"}]});
    world.script.push(ModelReply::text("Ann."));
    gateway.chat(&forged).user("ann").session("travel").words().await;
    assert!(!has(&world, "Siam") && has(&world, "Zanzibar"));
    world.script.push(ModelReply::text("No idea."));
    gateway.says("And to me alone?").user("ann").words().await;
    assert!(!has(&world, "Zanzibar"));
}

#[tokio::test]
async fn an_answer_comes_as_it_is_written_and_ends_as_clients_expect() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let whole = ["One word and another."; 6].join(" ");
    world.script.push(ModelReply::text(&whole).paced(12, Duration::from_millis(5)));
    let mut body = said("Speak to me.");
    body["stream"] = true.into();
    body["stream_options"] = json!({"include_usage": true});
    let response = gateway.chat(&body).send().await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let frames = frames(&response.text().await.unwrap());
    assert_eq!(words(&frames), whole);
    assert!(frames.len() > 8, "it came at once: {frames:?}");
    assert!(frames.iter().all(|frame| frame.name.is_none()), "{frames:?}");
    assert_eq!(frames.last().unwrap().data, "[DONE]");
    let chunks: Vec<Value> = frames[..frames.len() - 1].iter().map(|frame| frame.json()).collect();
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let [.., finish, usage] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(usage["choices"], json!([]));
    assert!(usage["usage"]["total_tokens"].as_u64() > Some(0), "{usage}");
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["id"] == chunks[0]["id"] && chunk["object"] == "chat.completion.chunk")
    );
}

#[tokio::test]
async fn a_failure_has_the_form_and_the_status_that_clients_know() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for (status, why, wanted, code) in [
        (401, "the key sk-offline-key is not good", 502, "unauthorized"),
        (400, "Unsupported parameter: top_p of sk-offline-key", 400, "request_refused"),
        (400, "flagged by the usage policies of sk-offline-key", 400, "content_filter"),
    ] {
        world.script.push(ModelReply::status(status, why));
        let (got, error) = gateway.says("hello").refused().await;
        assert_eq!((got, error["code"].as_str()), (wanted, Some(code)), "{error}");
        assert!(!error.to_string().contains("sk-offline-key"), "{error}");
        // A stream has begun by then, and ends with the same.
        world.script.push(ModelReply::status(status, why));
        let mut body = said("hello");
        body["stream"] = true.into();
        let frames = gateway.chat(&body).frames().await;
        let [.., failed, done] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!((failed.json()["error"].clone(), done.data.as_str()), (error, "[DONE]"));
    }
    let wrong = [
        (json!({"messages": []}), "model"),
        (json!({"model": "figaro", "messages": []}), "role user"),
        (json!({"model": "figaro", "messages": "x"}), "expected a sequence"),
        (
            json!({"model": "figarro", "messages": [{"role": "user", "content": "x"}]}),
            "did you mean `figaro`?",
        ),
        (json!({"model": "figaro", "n": 2, "messages": [{"role": "user", "content": "x"}]}), "n is 1"),
        (
            json!({"model": "figaro", "logprobs": true, "messages": [{"role": "user", "content": "x"}]}),
            "log prob",
        ),
        (
            json!({"model": "figaro", "temperature": 3, "messages": [{"role": "user", "content": "x"}]}),
            "temperature",
        ),
        (
            json!({"model": "figaro", "figaro": {"file_ids": ["a"]}, "messages": [{"role": "user", "content": "x"}]}),
            "files",
        ),
    ];
    for (body, words) in wrong {
        let (status, error) = gateway.chat(&body).refused().await;
        let message = error["message"].as_str().unwrap();
        assert!((status == 400 || status == 404) && message.contains(words), "{words}: {status} {error}");
        assert!(error["type"] == "invalid_request_error", "{error}");
    }
    let (status, _) = gateway
        .plain(Method::POST, "/v1/chat/completions")
        .key(KEY)
        .header("content-type", "text/plain")
        .refused()
        .await;
    assert_eq!(status, 415);
    let zipped = gateway.chat(&said("hi")).header("content-encoding", "gzip");
    assert_eq!(zipped.refused().await.0, 415);
    let long = json!({"model": "figaro", "messages": [{"role": "user", "content": "x".repeat(5 << 20)}]});
    assert_eq!(gateway.chat(&long).refused().await.0, 413);
    assert_eq!(gateway.get("/v1/nothing").refused().await.0, 404);
    assert_eq!(gateway.get("/v1/chat/completions").refused().await.0, 405);
    assert!(world.model.requests().len() == 6);
}

#[tokio::test]
async fn nobody_gets_in_without_a_key_and_each_key_is_good_for_what_it_says() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for path in ["/v1/models", "/metrics"] {
        let (status, error) = gateway.plain(Method::GET, path).refused().await;
        assert_eq!((status, &error["code"]), (401, &json!("invalid_api_key")));
        for wrong in ["key-of-the-app-0124", "x", ""] {
            assert_eq!(gateway.plain(Method::GET, path).key(wrong).refused().await.0, 401, "{wrong}");
        }
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(gateway.plain(Method::GET, path).text().await.0, 200);
    }
    let models = gateway.get("/v1/models").ok().await;
    let ids: Vec<&str> =
        models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids[0], "figaro");
    assert!(ids.contains(&"researcher"), "{ids:?}");
    assert_eq!(gateway.get("/v1/models/researcher").ok().await["id"], "researcher");
    assert_eq!(gateway.get("/v1/models/nobody").refused().await.0, 404);
    assert_eq!(gateway.get("/metrics").refused().await.0, 403);
    let (_, metrics) = gateway.plain(Method::GET, "/metrics").key(OWNER).text().await;
    assert!(
        metrics
            .contains("figaro_http_requests_total{bot=\"figaro_bot\",path=\"/v1/models\",status=\"401\"} 4"),
        "{metrics}"
    );
    // Whom a proxy takes the first of two for may be another than the one that we take.
    for (name, value) in [
        ("x-user-id", "bob"),
        ("x-tenant-id", "acme"),
        ("authorization", "Bearer key-of-tenants-0123"),
        ("x-session-id", "b"),
    ] {
        let twice =
            gateway.says("x").user("ann").session("a").header("x-tenant-id", "default").also(name, value);
        let (status, error) = twice.refused().await;
        assert!(
            status == 400 && error["message"].as_str().unwrap().contains("more than once"),
            "{name}: {status} {error}"
        );
    }
    // Another tenant is for those that may name one.
    assert_eq!(gateway.says("x").header("x-tenant-id", "acme").refused().await.0, 403);
    world.script.push(ModelReply::text("Hello, acme."));
    let answer = gateway.plain(Method::POST, "/v1/chat/completions").json(&said("x")).key(TENANTS);
    assert_eq!(answer.header("x-tenant-id", "acme").words().await, "Hello, acme.");
    let log = gateway.bot.log();
    for key in [KEY, OWNER, TENANTS] {
        assert!(!log.contains(key), "{log}");
    }
}

#[tokio::test]
async fn a_caller_who_leaves_ends_the_turn_that_nobody_else_follows() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.script.push(ModelReply::text(&"and on ".repeat(50)).hang_after(4));
    let mut body = said("Go on about it.");
    body["stream"] = true.into();
    let mut response = gateway.chat(&body).session("a").send().await;
    while !String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap()).contains("and on") {}
    drop(response);
    // So does one who waits for the whole.
    let before = world.model.requests().len();
    world.script.push(ModelReply::text("and on").hang_after(0));
    let waits = gateway.says("Go on about it.").session("a").send();
    tokio::select! {
        _ = waits => panic!("it hangs"),
        _ = world.asks(before + 1) => {}
    }
    // The next question of the session waits for the turn before it, and that hangs unless it was stopped.
    world.script.push(ModelReply::text("Here."));
    assert_eq!(gateway.says("Are you there?").session("a").words().await, "Here.");
}

/// Until the first word nothing else is told, and a client has to be able to stop what it has begun.
#[tokio::test]
async fn a_stream_begins_before_the_model_has_said_a_word() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let gate = Gate::new();
    let mut body = said("Go on about it.");
    body["stream"] = true.into();
    for (path, events, first) in [
        ("/v1/chat/completions", false, "\"role\":\"assistant\""),
        ("/v1/chat/completions", true, "event: metadata"),
        ("/v1/responses", false, "response.in_progress"),
    ] {
        body["input"] = "Go on about it.".into();
        world.script.push(ModelReply::text("I will.").behind(&gate));
        let before = world.model.requests().len();
        let asks = gateway.post(path, &body).session("a").header("x-events", &events.to_string());
        let mut response = asks.send().await;
        let turn = response.headers()["x-turn-id"].to_str().unwrap().to_owned();
        let mut heard = String::new();
        while !heard.contains(first) {
            heard.push_str(&String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap()));
        }
        world.asks(before + 1).await;
        let stop = gateway.plain(Method::DELETE, &format!("/v1/turns/{turn}")).key(KEY);
        assert_eq!(stop.text().await.0, 204);
        assert!(response.text().await.unwrap().contains("stopped"), "{path}");
        // One that leaves stops it, too.
        let before = world.model.requests().len();
        world.script.push(ModelReply::text("I will.").behind(&gate));
        let leaves = gateway.post(path, &body).session("a").send().await;
        world.asks(before + 1).await;
        drop(leaves);
    }
    world.script.push(ModelReply::text("Here."));
    assert_eq!(gateway.says("Are you there?").session("a").words().await, "Here.");
}

#[tokio::test]
async fn settings_that_would_let_anybody_in_are_refused_at_the_start() {
    let world = World::new().await;
    let open = world.bot().set("HTTP_ADDR", "0.0.0.0:0").output();
    assert_eq!(open.status.code(), Some(2));
    let words = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(words.contains("HTTP_ADDR") && words.contains("set API_KEYS"), "{words}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = world.bot().set("HTTP_ADDR", &address).output();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{words}");
    assert!(words.contains("another program has this port"), "{words}");
    // Without keys only programs of this machine are answered, and no page in a browser.
    let gateway = world.gateway_with(&[]).await;
    world.script.push(ModelReply::text("Hello."));
    let asks = || gateway.plain(Method::POST, "/v1/chat/completions").json(&said("hi"));
    assert_eq!(asks().words().await, "Hello.");
    assert_eq!(asks().header("origin", "https://evil.example").refused().await.0, 403);
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "127.evil.example:8080"),
        ("host", "127.0.0.1.evil.example"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "no-cors"),
        ("referer", "https://evil.example/page"),
        ("x-forwarded-for", "203.0.113.9"),
        ("via", "1.1 proxy"),
    ] {
        assert_eq!(asks().header(name, value).refused().await.0, 403, "{name}: {value}");
    }
    world.script.push(ModelReply::text("Hello again."));
    assert_eq!(asks().header("host", "[::1]").words().await, "Hello again.");
}
