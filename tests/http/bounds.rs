//! What a caller may have the gateway hold: bodies that do not come, and followers that do not read.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::World;
use crate::support::http::{Gateway, KEY, said};
use crate::support::wait::eventually;

/// So many questions of a key are answered at the same time, and it has so many followers.
const AT_ONCE: usize = 64;

impl Gateway {
    /// A connection with the head of a question, whose body the gateway waits for.
    async fn half(&self) -> TcpStream {
        let mut socket = TcpStream::connect(self.url.trim_start_matches("http://")).await.unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n\
             Content-Length: 4000000\r\nExpect: 100-continue\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut goes_on = [0; 25];
        socket.read_exact(&mut goes_on).await.unwrap();
        assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        socket
    }

    /// Asks until the answer has this status.
    async fn asks_until(&self, status: u16) {
        let asking = async || (self.says("hi").text().await.0 == status).then_some(());
        eventually(|| format!("never {status}"), asking).await;
    }
}

#[tokio::test]
async fn bodies_that_do_not_come_take_the_places_of_their_key_and_no_more() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let other = "key-of-the-other-01";
    let gateway = world.gateway_with(&[("API_KEYS", &format!("app:{KEY},other:{other}"))]).await;
    let mut halves = Vec::new();
    for _ in 0..AT_ONCE {
        halves.push(gateway.half().await);
    }
    // The head alone is refused: nobody waits for the body.
    let (status, error) = gateway.says("hi").refused().await;
    assert_eq!((status, &error["code"]), (429, &json!("too_many_at_once")));
    let asks = gateway.plain(Method::POST, "/v1/chat/completions").key(other).json(&said("hi"));
    assert_eq!(asks.words().await, "I see.", "another key has its own places");
    drop(halves);
    gateway.asks_until(200).await;
}

#[tokio::test]
async fn a_key_has_so_many_followers_and_those_who_do_not_read_hold_up_no_turn() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let (gate, whole) = (Gate::new(), ["One word and another."; 40].join(" "));
    world.script.push(ModelReply::text(&whole).paced(9, Duration::from_millis(1)).behind(&gate));
    let mut body = said("Speak to me.");
    body["stream"] = true.into();
    let asked = gateway.chat(&body).user("ann").session("a").send().await;
    let id = asked.headers()["x-turn-id"].to_str().unwrap().to_owned();
    let follow = || gateway.get(&format!("/v1/turns/{id}/events")).user("ann");
    let mut followers = Vec::new();
    for _ in 0..AT_ONCE {
        let response = follow().send().await;
        assert_eq!(response.status(), 200);
        followers.push(response);
    }
    let (status, error) = follow().refused().await;
    assert_eq!((status, &error["code"]), (429, &json!("too_many_followers")));
    assert_eq!(gateway.get("/v1/sessions/a/events").user("ann").refused().await.0, 429);
    gate.open();
    assert!(asked.text().await.unwrap().ends_with("data: [DONE]\n\n"), "nobody else has read a word by now");
    drop(followers);
    eventually(|| "no place is free", async || (follow().text().await.0 == 200).then_some(())).await;
}

#[tokio::test]
async fn a_question_that_waits_gives_its_place_back_when_its_client_goes() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Here is the whole of it.").behind(&gate));
    let asks = |words: &str| Box::pin(gateway.says(words).user("ann").session("a").send());
    let mut running = asks("Are you there?");
    tokio::select! {
        answer = &mut running => panic!("{answer:?}"),
        () = gateway.counts(&["figaro_turns_running 1\n"]) => {}
    }
    let (mut gone, mut stays) = (asks("And now?"), asks("And then?"));
    tokio::select! {
        answer = &mut gone => panic!("{answer:?}"),
        answer = &mut stays => panic!("{answer:?}"),
        () = gateway.counts(&["figaro_questions_waiting 2\n"]) => {}
    }
    drop(gone);
    gateway.counts(&["figaro_turns_running 1\n", "figaro_questions_waiting 1\n"]).await;
    world.otherwise(ModelReply::text("Then."));
    gate.open();
    assert_eq!(running.await.status(), 200);
    assert_eq!(stays.await.status(), 200);
    let asked: Vec<String> = world.model.requests().iter().map(|request| request.user_text()).collect();
    assert!(!asked.iter().any(|text| text.contains("And now?")), "{asked:?}");
}
