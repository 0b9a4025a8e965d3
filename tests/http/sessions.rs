//! What is kept of callers: who sees it, and what becomes of it. Turns that are followed. Bounds of keys. Tokens.

use std::cell::RefCell;
use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply};
use jsonwebtoken::{EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::World;
use crate::support::http::{Asking, Gateway, KEY, OWNER, TENANTS, frames, said};
use crate::support::wait::eventually;

/// Labels of the bot's metrics begin with its name.
const BOT: &str = "{bot=\"figaro_bot\"";

/// Somebody who asks.
#[derive(Debug, Clone, Copy)]
struct Who {
    tenant: &'static str,
    user: Option<&'static str>,
}

impl Gateway {
    fn by(&self, who: Who, method: Method, path: &str) -> Asking {
        let asking = self.plain(method, path).key(TENANTS).header("x-tenant-id", who.tenant);
        match who.user {
            Some(user) => asking.user(user),
            None => asking,
        }
    }

    /// Returns once the metrics have these lines, each without the name of the bot.
    pub async fn counts(&self, lines: &[&str]) {
        let last = RefCell::new(String::new());
        eventually(
            || format!("not all of {lines:?} in:\n{}", last.borrow()),
            async || {
                let metrics = self.plain(Method::GET, "/metrics").key(OWNER).text().await.1;
                let metrics = metrics.replace(BOT, "{").replace("{,", "{").replace("{}", "");
                let has_all = lines.iter().all(|line| metrics.contains(line));
                *last.borrow_mut() = metrics;
                has_all.then_some(())
            },
        )
        .await;
    }

    async fn all_that_is_seen(&self, who: Who, session: &str) -> String {
        let mut seen = String::new();
        let paths = ["", "/messages", "/pins", "/summaries", "/events"];
        for path in paths
            .map(|path| format!("/v1/sessions/{session}{path}"))
            .into_iter()
            .chain(["/v1/sessions".to_owned(), "/v1/memories".to_owned()])
        {
            seen.push_str(&self.by(who, Method::GET, &path).text().await.1);
        }
        seen
    }
}

#[tokio::test]
async fn a_session_has_messages_pins_and_figures_and_goes_with_all_of_it() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let ann = |method: Method, path: &str| gateway.plain(method, path).key(KEY).user("ann");
    assert_eq!(ann(Method::GET, "/v1/sessions/travel").refused().await.0, 404);
    world.script.push(ModelReply::text("I see."));
    gateway.says("My aunt lives in Zanzibar.").user("ann").session("travel").words().await;
    let list = ann(Method::GET, "/v1/sessions").ok().await;
    assert_eq!((list["data"].as_array().unwrap().len(), &list["data"][0]["id"]), (1, &json!("travel")));
    let pin = json!({"content": "She is allergic to nuts.", "importance": 9});
    let made = ann(Method::POST, "/v1/sessions/travel/pins").json(&pin).ok().await;
    assert_eq!((&made["content"], &made["pin_type"]), (&json!("She is allergic to nuts."), &json!("manual")));
    world.script.push(ModelReply::text("No nuts."));
    gateway.says("What may she eat?").user("ann").session("travel").words().await;
    assert!(world.model.requests().pop().unwrap().body.to_string().contains("allergic to nuts"));
    let messages = ann(Method::GET, "/v1/sessions/travel/messages").ok().await;
    let texts: Vec<&str> =
        messages["data"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["My aunt lives in Zanzibar.", "I see.", "What may she eat?", "No nuts."]);
    let rest = ann(Method::GET, "/v1/sessions/travel/messages?after=1&limit=1").ok().await;
    assert_eq!(
        (rest["data"][0]["content"].as_str(), &rest["has_more"]),
        (Some("What may she eat?"), &json!(true))
    );
    let stats = ann(Method::GET, "/v1/sessions/travel").ok().await["stats"].clone();
    assert_eq!((&stats["messages"], &stats["pins"]), (&json!(4), &json!(1)));
    let path = format!("/v1/sessions/travel/pins/{}", made["id"].as_str().unwrap());
    assert_eq!(ann(Method::DELETE, &path).text().await.0, 204);
    assert_eq!(ann(Method::DELETE, &path).refused().await.0, 404);
    assert_eq!(ann(Method::DELETE, "/v1/sessions/travel").text().await.0, 204);
    assert_eq!(ann(Method::GET, "/v1/sessions").ok().await["data"], json!([]));
    world.script.push(ModelReply::text("I do not know."));
    gateway.says("Where does my aunt live?").user("ann").session("travel").words().await;
    assert!(!world.model.requests().pop().unwrap().body.to_string().contains("Zanzibar"));
}

#[tokio::test]
async fn what_is_remembered_of_a_user_is_used_in_all_their_sessions_and_goes_when_they_say_so() {
    let world = World::new().await;
    let keys = format!("app:{KEY}");
    let gateway = world.gateway_with(&[("API_KEYS", &keys), ("MEMORY_LIMIT", "50")]).await;
    let ann = |method: Method, path: &str| gateway.plain(method, path).key(KEY).user("ann");
    world.otherwise(ModelReply::text("I see."));
    gateway.says("I live in Riga and I work as a nurse.").user("ann").session("a").words().await;
    let remembered = async || {
        let memories = ann(Method::GET, "/v1/memories").ok().await["data"].clone();
        (memories != json!([])).then_some(memories)
    };
    let memories = eventually(|| "nothing is remembered", remembered).await;
    let fact = memories[0]["content"].as_str().unwrap().to_owned();
    let asks = async |who: Option<&str>, session: &str| {
        let asking = gateway.says("What do you know of me?").session(session);
        if let Some(user) = who { asking.user(user) } else { asking }.words().await;
        world.model.requests().pop().unwrap().body.to_string().contains(&fact)
    };
    assert!(asks(Some("ann"), "b").await, "another session of hers");
    assert!(!asks(Some("bob"), "b").await, "another user");
    assert!(!asks(None, "a").await, "nobody known");
    let path = format!("/v1/memories/{}", memories[0]["id"].as_str().unwrap());
    assert_eq!(gateway.plain(Method::DELETE, &path).key(KEY).user("bob").refused().await.0, 404);
    assert!(ann(Method::DELETE, "/v1/memories").ok().await["erased"].as_u64() > Some(0));
    assert_eq!(ann(Method::GET, "/v1/memories").ok().await["data"], json!([]));
}

#[tokio::test]
async fn no_tenant_and_no_user_sees_what_another_has_said() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.otherwise(ModelReply::text("I see."));
    // The same names for all, and names that would run into each other if they were only put together.
    let tenants = ["acme", "globex", "a", "a.b"];
    let users = [Some("ann"), Some("acme/ann"), Some("ann session x"), None];
    let everybody: Vec<Who> =
        tenants.iter().flat_map(|tenant| users.iter().map(|user| Who { tenant, user: *user })).collect();
    let secret = |who: &Who| {
        format!("secret-{}-{}", who.tenant, who.user.unwrap_or("nobody").replace([' ', '/'], "_"))
    };
    for who in &everybody {
        let asking = gateway
            .by(*who, Method::POST, "/v1/chat/completions")
            .json(&said(&format!("It is {}.", secret(who))));
        asking.session("x").words().await;
        let pin = json!({"content": format!("pinned {}", secret(who))});
        gateway.by(*who, Method::POST, "/v1/sessions/x/pins").json(&pin).ok().await;
    }
    for who in &everybody {
        let seen = gateway.all_that_is_seen(*who, "x").await;
        let asking = gateway.by(*who, Method::POST, "/v1/chat/completions").json(&said("What is it?"));
        asking.session("x").words().await;
        let told = world.model.requests().pop().unwrap().body.to_string();
        for other in &everybody {
            let is_own = std::ptr::eq(who, other);
            let words = format!("{}.", secret(other));
            assert_eq!(told.contains(&words), is_own, "{who:?} is told of {other:?}");
            assert_eq!(seen.contains(&words), is_own, "{who:?} sees {other:?}");
        }
    }
}

#[tokio::test]
async fn ten_follow_one_turn_and_each_hears_all_of_it_once() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let (gate, whole) = (Gate::new(), ["One word and another."; 40].join(" "));
    world.script.push(ModelReply::text(&whole).paced(9, Duration::from_millis(2)).behind(&gate));
    let mut body = said("Speak to me.");
    body["stream"] = true.into();
    let mut first = gateway.chat(&body).user("ann").session("a");
    let asked = first.send().await;
    let id = asked.headers()["x-turn-id"].to_str().unwrap().to_owned();
    first = gateway.get(&format!("/v1/turns/{id}/events"));
    drop(first);
    let follow = || gateway.get(&format!("/v1/turns/{id}/events")).user("ann");
    let mut early = Vec::new();
    for _ in 0..7 {
        early.push(follow().send().await);
    }
    // Two leave, and one reads nothing until all is over.
    drop(early.split_off(5));
    let slow = early.pop().unwrap();
    gate.open();
    let whole_of_first = asked.text().await.unwrap();
    assert!(whole_of_first.ends_with("data: [DONE]\n\n"));
    let mut texts = Vec::new();
    for response in early {
        texts.push(response.text().await.unwrap());
    }
    for _ in 0..3 {
        texts.push(follow().text().await.1);
    }
    texts.push(slow.text().await.unwrap());
    let by_session = gateway.get("/v1/sessions/a/events").user("ann").text().await.1;
    assert_eq!(by_session, texts[0]);
    let heard = |text: &str| -> String {
        frames(text)
            .iter()
            .filter(|frame| frame.name.as_deref() == Some("delta"))
            .map(|frame| frame.json()["text"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(texts.len(), 8);
    for text in &texts {
        assert_eq!(text, &texts[0]);
        assert_eq!(heard(text), whole);
        let last = frames(text).pop().unwrap();
        assert_eq!((last.name.as_deref(), &last.json()["text"]), (Some("done"), &json!(whole)));
    }
    // Who was cut off goes on behind what they have seen.
    let seen = 20;
    let rest = follow().header("last-event-id", &seen.to_string()).text().await.1;
    assert!(
        !rest.contains(&format!("id: {seen}\n")) && rest.contains(&format!("id: {}\n", seen + 1)),
        "{rest}"
    );
    assert_eq!(gateway.get(&format!("/v1/turns/{id}/events")).user("bob").refused().await.0, 404);
}

#[tokio::test]
async fn a_key_has_bounds_and_a_turn_can_be_stopped() {
    let world = World::new().await;
    let keys = "fast:0123456789abcdef-fast;rate=2,poor:0123456789abcdef-poor;tokens=6000";
    let gateway = world.gateway_with(&[("API_KEYS", keys)]).await;
    world.otherwise(ModelReply::text("I see."));
    let asks = |key: &str| gateway.plain(Method::POST, "/v1/chat/completions").key(key).json(&said("hi"));
    let (fast, poor) = ("0123456789abcdef-fast", "0123456789abcdef-poor");
    asks(fast).words().await;
    asks(fast).words().await;
    let response = asks(fast).send().await;
    assert_eq!(response.status(), 429);
    let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    // Reading counts as asking does.
    assert_eq!(gateway.plain(Method::GET, "/v1/sessions").key(fast).refused().await.0, 429);
    assert_eq!(gateway.plain(Method::DELETE, "/v1/turns/none").key(fast).refused().await.0, 404);
    world.script.push(ModelReply::text("I see.").usage(5_900, 50));
    asks(poor).words().await;
    let (status, error) = asks(poor).refused().await;
    assert_eq!((status, &error["code"]), (429, &json!("insufficient_quota")));
    // A restart does not give the day's tokens again.
    drop(gateway);
    let gateway = world.gateway_with(&[("API_KEYS", keys)]).await;
    let response =
        gateway.plain(Method::POST, "/v1/chat/completions").key(poor).json(&said("hi")).send().await;
    assert_eq!(response.status(), 429);
    let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&wait), "until midnight: {wait}");
    let keys = format!("app:{KEY}");
    drop(gateway);
    let gateway = world.gateway_with(&[("API_KEYS", &keys)]).await;
    world.script.push(ModelReply::text(&"and on ".repeat(50)).hang_after(4));
    let mut body = said("Go on about it.");
    body["stream"] = true.into();
    let response = gateway.chat(&body).send().await;
    let id = response.headers()["x-turn-id"].to_str().unwrap().to_owned();
    assert_eq!(gateway.plain(Method::DELETE, &format!("/v1/turns/{id}")).key(KEY).text().await.0, 204);
    let text = response.text().await.unwrap();
    assert!(text.contains("was stopped") && text.ends_with("[DONE]\n\n"), "{text}");
}

#[tokio::test]
async fn a_turn_that_waits_and_is_stopped_is_over_at_once() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Here is the whole of it.").behind(&gate));
    let tasks = figaro_base::shutdown::TaskTracker::new();
    let asks = |words: &str| {
        let (asking, (tell, told)) = (gateway.says(words).user("ann").session("a"), oneshot::channel());
        tasks.spawn("asking", async move { drop(tell.send(asking.send().await)) });
        told
    };
    let running = asks("Are you there?");
    gateway.counts(&["figaro_turns_running 1\n"]).await;
    let waiting = asks("And now?");
    gateway.counts(&["figaro_questions_waiting 1\n"]).await;
    let mut newest = gateway.get("/v1/sessions/a/events").user("ann").send().await;
    let first = String::from_utf8(newest.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let id = frames(&first)[0].json()["turn_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/turns/{id}");
    assert_eq!(gateway.plain(Method::DELETE, &path).key(KEY).user("ann").text().await.0, 204);
    let followed = newest.text().await.unwrap();
    assert!(followed.contains("event: error\n") && followed.contains("was stopped"), "{followed}");
    let waiting = waiting.await.unwrap();
    let (status, retries) = (waiting.status(), waiting.headers()["x-should-retry"].clone());
    let body: Value = waiting.json().await.unwrap();
    assert_eq!((status.as_u16(), retries.to_str().unwrap()), (409, "false"), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("was stopped"), "{body}");
    gateway.counts(&["figaro_turns_running 1\n", "figaro_questions_waiting 0\n"]).await;
    gate.open();
    assert_eq!(running.await.unwrap().status(), 200);
    assert_eq!(world.model.requests().len(), 1, "the other one was never asked");
}

const SECRET: &str = "a secret of more than thirty-two letters";

fn token(mut claims: Value) -> String {
    for (name, value) in [("aud", "figaro"), ("iss", "https://id.example.com")] {
        claims.as_object_mut().unwrap().entry(name).or_insert_with(|| value.into());
    }
    encode(&Header::default(), &claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
}

#[tokio::test]
async fn a_token_says_who_asks_whatever_the_headers_say() {
    let world = World::new().await;
    let settings =
        [("JWT_SECRET", SECRET), ("JWT_AUDIENCE", "figaro"), ("JWT_ISSUER", "https://id.example.com")];
    let gateway = world.gateway_with(&settings).await;
    world.otherwise(ModelReply::text("I see."));
    let until = figaro_base::clock::Clock::system().now().timestamp() + 3600;
    let ann = token(json!({"sub": "ann", "exp": until, "tenant_id": "acme"}));
    let bob = token(json!({"sub": "bob", "exp": until, "tenant_id": "acme"}));
    let asks = |token: &str, words: &str| {
        gateway.plain(Method::POST, "/v1/chat/completions").key(token).json(&said(words)).session("a")
    };
    asks(&ann, "It is secret-of-ann.").words().await;
    // Nobody becomes somebody else by a header.
    asks(&bob, "What is it?").user("ann").words().await;
    assert!(!world.model.requests().pop().unwrap().body.to_string().contains("secret-of-ann"));
    assert_eq!(asks(&bob, "x").header("x-tenant-id", "globex").refused().await.0, 403);
    let ended = token(json!({"sub": "ann", "exp": until - 7200}));
    assert_eq!(asks(&ended, "x").refused().await.0, 401);
    for other in [json!({"aud": "another"}), json!({"iss": "another"}), json!({"nbf": until})] {
        let mut claims = json!({"sub": "ann", "exp": until, "tenant_id": "acme"});
        claims.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        assert_eq!(asks(&token(claims), "x").refused().await.0, 401, "{other}");
    }
    assert_eq!(gateway.plain(Method::GET, "/v1/models").refused().await.0, 401);
    let metrics = token(json!({"sub": "m", "exp": until, "scope": "figaro:metrics"}));
    assert_eq!(gateway.plain(Method::GET, "/metrics").key(&metrics).text().await.0, 200);
    assert_eq!(asks(&metrics, "x").refused().await.0, 403);
}

#[tokio::test]
async fn each_subject_of_tokens_has_bounds() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see.").usage(5_900, 50));
    let until = figaro_base::clock::Clock::system().now().timestamp() + 3600;
    let asks = |gateway: &Gateway, user: &str| {
        let token = token(json!({"sub": user, "exp": until}));
        gateway.plain(Method::POST, "/v1/chat/completions").key(&token).json(&said("hi"))
    };
    for (name, value, code) in
        [("JWT_RATE", "1", "rate_limit_exceeded"), ("JWT_TOKENS", "13000", "insufficient_quota")]
    {
        let gateway = world.gateway_with(&[("JWT_SECRET", SECRET), (name, value)]).await;
        asks(&gateway, "ann").words().await;
        let (status, error) = asks(&gateway, "ann").refused().await;
        assert_eq!((status, error["code"].as_str()), (429, Some(code)));
        asks(&gateway, "bob").words().await;
    }
}

#[tokio::test]
async fn a_stop_lets_turns_end_and_tells_those_who_wait() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("Here is the whole of it.").behind(&gate));
    let running = gateway.says("Are you there?").user("ann").session("a").send();
    let waiting = gateway.says("And now?").user("ann").session("a").send();
    let ending = async {
        // One is at the model, and the other waits for it.
        gateway.counts(&["figaro_turns_running 1\n", "figaro_questions_waiting 1\n"]).await;
        gateway.bot.signal("TERM");
        gateway.bot.logged("stopping").await;
        gate.open();
    };
    let (running, waiting, ()) = tokio::join!(running, waiting, ending);
    let mut statuses = [running.status().as_u16(), waiting.status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503]);
}
