//! The demo page's routes and events.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::super::{TelegramOptions, WebEvent};
use super::{ANN, BOB, Bed, GROUP};

async fn bed() -> Bed {
    let bed = Bed::with(TelegramOptions { page: Some("<h1>chat</h1>"), ..TelegramOptions::default() }).await;
    bed.tg.set_demo_user(ANN);
    bed
}

#[tokio::test]
async fn the_page_and_its_actions() {
    let bed = bed().await;
    let at = |path: &str| format!("{}{path}", bed.tg.url());
    assert_eq!(bed.http.get(at("/")).send().await.unwrap().text().await.unwrap(), "<h1>chat</h1>");
    let foreign = bed.http.get(at("/")).header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), 403);
    let post = async |path: &str, body: Value| -> (u16, Value) {
        let response = bed.http.post(at(path)).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    };
    let sent = post("/demo/send", json!({"chat_id": ANN, "from": ANN, "text": "hello"})).await;
    assert_eq!(sent, (200, json!({"message_id": 1})));
    let nobody = post("/demo/send", json!({"chat_id": ANN, "from": 99, "text": "hello"})).await;
    assert_eq!(nobody, (400, json!({"error": "nobody has the user id 99"})));
    let empty = post("/demo/send", json!({"chat_id": ANN, "from": ANN, "text": " "})).await;
    assert_eq!(empty.0, 400);
    let pressed =
        post("/demo/press", json!({"chat_id": ANN, "message_id": 1, "from": ANN, "data": "x"})).await;
    assert_eq!(pressed.0, 400);
    let draft = json!({"chat_id": ANN, "draft_id": 4, "text": "x", "can_stop": true});
    bed.call("sendMessageDraft", draft).await.unwrap();
    assert_eq!(post("/demo/stop", json!({"chat_id": ANN, "draft_id": 4})).await.0, 200);
    assert_eq!(bed.updates().await.len(), 2);
    bed.end().await;
}

#[tokio::test]
async fn a_published_page_needs_its_key_and_has_no_bot_api() {
    let bed = bed().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    bed.tg.publish(listener, "s3cret", &bed.runtime).unwrap();
    let redirects = reqwest::redirect::Policy::none();
    let http = reqwest::Client::builder().redirect(redirects).build().unwrap();
    let get = async |path: &str, headers: &[(&str, &str)]| {
        let request = http.get(format!("http://127.0.0.1:{port}{path}"));
        headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value))
            .send()
            .await
            .unwrap()
    };
    let cookie = format!("figaro_demo_{port}=s3cret");
    let among = format!("theme=dark; {cookie}");
    let (wrong, other_port) = (format!("figaro_demo_{port}=s3cre"), "figaro_demo_1=s3cret");
    let own = format!("http://127.0.0.1:{port}");
    for (path, headers, status) in [
        ("/", vec![], 403),
        ("/?key=", vec![], 403),
        ("/?key=s3cre", vec![], 403),
        ("/?key=s3cret2", vec![], 403),
        ("/demo/events", vec![], 403),
        ("/", vec![("cookie", wrong.as_str())], 403),
        ("/", vec![("cookie", other_port)], 403),
        ("/", vec![("cookie", cookie.as_str()), ("origin", "https://evil.example")], 403),
        ("/", vec![("cookie", cookie.as_str())], 200),
        ("/", vec![("cookie", among.as_str()), ("origin", own.as_str())], 200),
        (
            "/",
            vec![
                ("cookie", cookie.as_str()),
                ("host", "demo.example:81"),
                ("origin", "https://demo.example:81"),
            ],
            200,
        ),
        ("/demo/file/none?key=s3cret", vec![], 404),
        ("/?a=b&key=s3cret", vec![], 303),
        // The Bot API, whose token is known, is on loopback alone.
        ("/bot7000000001:offline/getMe?key=s3cret", vec![], 404),
        ("/bot7000000001:offline/getMe", vec![("cookie", cookie.as_str())], 404),
    ] {
        assert_eq!(get(path, &headers).await.status(), status, "{path} {headers:?}");
    }
    let linked = get("/?key=s3cret", &[]).await;
    assert_eq!(linked.headers()["location"], "/");
    let set = linked.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert_eq!(set, format!("{cookie}; Path=/; HttpOnly; SameSite=Lax"));
    let sent =
        http.post(format!("{own}/demo/send")).json(&json!({"chat_id": ANN, "from": ANN, "text": "hello"}));
    assert_eq!(sent.try_clone().unwrap().send().await.unwrap().status(), 403);
    assert_eq!(sent.header("cookie", cookie).send().await.unwrap().status(), 200);
    assert_eq!(bed.updates().await.len(), 1);
    bed.end().await;
}

#[tokio::test]
async fn a_request_for_a_reply_is_told_with_whom_it_asks() {
    let bed = bed().await;
    let mut events = bed.tg.subscribe();
    let asks = json!({"force_reply": true, "selective": true, "input_field_placeholder": "The name"});
    let question = bed.tg.say(BOB, GROUP, "name it").unwrap();
    let everybody = json!({"force_reply": true});
    let answering = json!({"message_id": question.message_id});
    for (chat, text, markup, reply, people) in [
        (ANN, "Which name?", &asks, None, Value::Null),
        (GROUP, "Which name?", &asks, Some(&answering), json!([BOB])),
        (GROUP, "You, @ann?", &asks, None, json!([ANN])),
        (GROUP, "Which name?", &everybody, None, Value::Null),
    ] {
        let mut call = json!({"chat_id": chat, "text": text, "reply_markup": markup});
        if let Some(reply) = reply {
            call["reply_parameters"] = reply.clone();
        }
        let sent = bed.call("sendMessage", call).await.unwrap();
        let asked = loop {
            let event = events.recv().await.unwrap();
            if event.name == "reply_asked" {
                break event.data;
            }
        };
        assert_eq!(
            (&asked["chat_id"], &asked["message_id"], &asked["people"]),
            (&json!(chat), &sent["message_id"], &people)
        );
        assert_eq!(asked["placeholder"], markup["input_field_placeholder"]);
    }
    bed.end().await;
}

#[tokio::test]
async fn events_are_streamed_after_a_greeting() {
    let bed = bed().await;
    bed.tg.say(ANN, ANN, "earlier").unwrap();
    let response = bed.http.get(format!("{}/demo/events", bed.tg.url())).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.bytes_stream();
    let hello = String::from_utf8(stream.next().await.unwrap().unwrap().to_vec()).unwrap();
    let data = hello.strip_prefix("event: hello\ndata: ").unwrap();
    let hello: Value = serde_json::from_str(data.trim_end()).unwrap();
    assert_eq!(hello["me"], json!({"id": ANN, "first_name": "Ann"}));
    assert_eq!(hello["messages"].as_array().unwrap().last().unwrap()["text"], "earlier");
    let private = &hello["chats"][0];
    let wanted = json!({"id": ANN, "first_name": "Ann", "username": "ann", "is_me": true});
    assert_eq!((&private["title"], &private["members"][0]), (&json!("Figaro"), &wanted));
    bed.send(ANN, "later").await;
    let mut text = String::new();
    while !text.contains("event: call") {
        text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
    }
    assert!(text.starts_with("event: message\ndata: {\"message_id\":2"), "{text}");
    bed.end().await;
}

#[tokio::test]
async fn each_effect_is_told() {
    let bed = bed().await;
    let mut events = bed.tg.subscribe();
    bed.call("sendChatAction", json!({"chat_id": ANN, "action": "typing"})).await.unwrap();
    bed.call("sendMessageDraft", json!({"chat_id": ANN, "draft_id": 4})).await.unwrap();
    let id = bed.send(ANN, "x").await;
    let reaction = json!({"chat_id": ANN, "message_id": id, "reaction": [{"type": "emoji", "emoji": "👍"}]});
    bed.call("setMessageReaction", reaction).await.unwrap();
    bed.call("deleteMessage", json!({"chat_id": ANN, "message_id": id})).await.unwrap();
    let help = json!([{"command": "help", "description": "ajuda"}]);
    let scope = json!({"type": "chat", "chat_id": ANN});
    bed.call("setMyCommands", json!({"commands": help, "scope": scope})).await.unwrap();
    bed.call("deleteMyCommands", json!({"scope": scope})).await.unwrap();
    let mut told = Vec::new();
    while let Ok(Ok(WebEvent { name, data })) =
        tokio::time::timeout(Duration::from_millis(50), events.recv()).await
    {
        if name != "call" && name != "message" {
            told.push((name, data));
        }
    }
    let wanted = [
        ("chat_action", json!({"chat_id": ANN, "action": "typing"})),
        ("draft", json!({"chat_id": ANN, "draft_id": 4, "text": "", "entities": [], "can_stop": false})),
        ("draft_gone", json!({"chat_id": ANN, "draft_id": 4})),
        (
            "reaction",
            json!({"chat_id": ANN, "message_id": id, "reactions": [{"emoji": "👍", "from": bed.tg.bot_id()}]}),
        ),
        ("deleted", json!({"chat_id": ANN, "message_id": id})),
        ("commands", json!({"lists": [{"scope": scope, "language": "", "commands": help}]})),
        ("commands", json!({"lists": []})),
    ];
    assert_eq!(told, wanted);
    bed.end().await;
}

#[tokio::test]
async fn drafts_expire() {
    let bed = bed().await;
    bed.call("sendMessageDraft", json!({"chat_id": ANN, "draft_id": 4})).await.unwrap();
    assert_eq!(bed.tg.view(|v| v.drafts(ANN).len()), 1);
    let later = tokio::time::Instant::now() + Duration::from_secs(31);
    bed.tg.shared.change(|state| state.expire_drafts(later));
    assert_eq!(bed.tg.view(|v| v.drafts(ANN).len()), 0);
    bed.end().await;
}
