//! Who calls, by what names, and what they are told where something is wrong.

use figaro_offline::model::ModelReply;
use jsonwebtoken::crypto::sign;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{Asking, Gateway, KEY, said};

const SECRET: &str = "a secret of more than thirty-two letters";

fn claims(more: Value) -> Value {
    let mut claims = json!({"exp": figaro_base::clock::Clock::system().now().timestamp() + 3600});
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claims
}

fn token(more: Value) -> String {
    encode(&Header::default(), &claims(more), &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
}

impl World {
    /// A gateway that takes [`KEY`] and tokens.
    async fn gateway_of_tokens(&self, more: &[(&str, &str)]) -> Gateway {
        self.otherwise(ModelReply::text("I see."));
        let keys = format!("app:{KEY}");
        let settings = [&[("API_KEYS", keys.as_str()), ("JWT_SECRET", SECRET)], more].concat();
        self.gateway_with(&settings).await
    }
}

impl Gateway {
    fn with_token(&self, token: &str, method: Method, path: &str) -> Asking {
        self.plain(method, path).key(token)
    }
}

#[tokio::test]
async fn an_e_mail_address_is_one_person_however_it_is_told() {
    let world = World::new().await;
    let gateway = world.gateway_of_tokens(&[]).await;
    gateway.says("My aunt lives in Zanzibar.").user("Ann@Example.com").session("a").words().await;
    let ann = token(json!({"sub": "ann@example.com"}));
    let sessions = gateway.with_token(&ann, Method::GET, "/v1/sessions").ok().await;
    assert_eq!(sessions["data"][0]["id"], "a", "{sessions}");
    let asks =
        gateway.with_token(&ann, Method::POST, "/v1/chat/completions").json(&said("Where?")).session("a");
    asks.words().await;
    assert!(world.model.requests().pop().unwrap().body.to_string().contains("Zanzibar"));
    assert!(gateway.bot.stop().await.success());
    assert_eq!(crate::support::records::holding(&world, "Example.com"), [""; 0]);
}

#[tokio::test]
async fn a_token_is_good_for_no_more_than_is_understood_of_it() {
    let world = World::new().await;
    let gateway = world.gateway_of_tokens(&[]).await;
    let asks =
        |token: &str| gateway.with_token(token, Method::POST, "/v1/chat/completions").json(&said("hi"));
    for (scope, chats, sees) in [
        ("openid", 200, 200),
        ("figaro:chat", 200, 403),
        ("figaro:read", 403, 403),
        ("figaro:chat figaro:read", 200, 403),
    ] {
        let token = token(json!({"sub": "ann", "scope": scope}));
        assert_eq!(asks(&token).text().await.0, chats, "{scope}");
        let list = gateway.with_token(&token, Method::GET, "/v1/sessions").text().await;
        assert_eq!(list.0, sees, "{scope}");
    }
    // What its issuer says has to be understood.
    let head = json!({"alg": "HS256", "typ": "JWT", "crit": ["b64"], "b64": false});
    let base64 = |value: &Value| {
        use base64::Engine;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
    };
    let signed = format!("{}.{}", base64(&head), base64(&claims(json!({"sub": "ann"}))));
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    let signature = sign(signed.as_bytes(), &key, Algorithm::HS256).unwrap();
    let (status, error) = asks(&format!("{signed}.{signature}")).refused().await;
    assert!(status == 401 && error["message"].as_str().unwrap().contains("`crit`"), "{error}");
}

#[tokio::test]
async fn a_head_that_is_too_long_and_tokens_that_are_used_up_are_told_in_the_usual_form() {
    let world = World::new().await;
    let gateway = world.gateway_of_tokens(&[("JWT_TOKENS", "6000")]).await;
    let long = gateway.says("hi").header("x-client-id", &"x".repeat(40_000));
    let (status, error) = long.refused().await;
    assert_eq!((status, &error["code"]), (431, &json!("head_too_large")), "{error}");
    let many =
        (0..80).fold(gateway.get("/v1/models"), |asking, at| asking.header(&format!("x-more-{at}"), "y"));
    assert_eq!(many.refused().await.0, 431);
    let ann = token(json!({"sub": "ann"}));
    let asks = || gateway.with_token(&ann, Method::POST, "/v1/chat/completions").json(&said("hi"));
    world.script.push(ModelReply::text("I see.").usage(5_900, 50));
    asks().words().await;
    let refused = asks().send().await;
    assert_eq!(refused.status(), 429);
    let after: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&after), "{after}");
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "insufficient_quota");
    drop(gateway);
    // The budget of the bot is new at midnight, too.
    let gateway = world.gateway_of_tokens(&[("DAILY_TOKENS", "9000")]).await;
    world.script.push(ModelReply::text("I see.").usage(9_000, 10));
    gateway.says("hi").words().await;
    for (path, body) in
        [("/v1/chat/completions", said("hi")), ("/v1/responses", json!({"model": "figaro", "input": "hi"}))]
    {
        let refused = gateway.post(path, &body).send().await;
        assert_eq!(refused.status(), 429);
        let after: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=90_000).contains(&after), "{after}");
    }
}

#[tokio::test]
async fn names_of_models_that_clients_have_built_in_are_answered_where_a_setting_says_by_what() {
    let world = World::new().await;
    let aliases = [("HTTP_MODELS", "gpt-4o=figaro,claude-sonnet=researcher,lost=nobody")];
    let gateway = world.gateway_of_tokens(&aliases).await;
    gateway.bot.logged("HTTP_MODELS: nobody answers to lost: there is no model `nobody`.").await;
    let asks = |gateway: &Gateway, model: &str| {
        let mut body = said("hi");
        body["model"] = model.into();
        gateway.chat(&body)
    };
    let answer = asks(&gateway, "gpt-4o").ok().await;
    assert_eq!(answer["model"], "gpt-4o", "as the client calls it");
    asks(&gateway, "claude-sonnet").ok().await;
    assert!(world.model.requests().pop().unwrap().instructions().contains("find things out"));
    for unknown in ["gpt-4o-mini", "lost"] {
        let (status, error) = asks(&gateway, unknown).refused().await;
        assert_eq!((status, &error["code"]), (404, &json!("model_not_found")), "{error}");
        assert!(error["message"].as_str().unwrap().contains("HTTP_MODELS"), "{error}");
    }
    let listed = gateway.get("/v1/models").ok().await;
    let ids: Vec<&str> =
        listed["data"].as_array().unwrap().iter().filter_map(|model| model["id"].as_str()).collect();
    assert!(ids.contains(&"gpt-4o") && ids[0] == "figaro", "{ids:?}");
    assert!(!ids.contains(&"lost"), "a name that nothing answers to is not offered: {ids:?}");
    assert_eq!(gateway.get("/v1/models/gpt-4o").ok().await["id"], "gpt-4o");
    drop(gateway);
    let gateway = world.gateway_of_tokens(&[("HTTP_MODELS", "*=figaro")]).await;
    asks(&gateway, "whatever").ok().await;
    let responses = json!({"model": "o9-mini", "input": "hi"});
    gateway.post("/v1/responses", &responses).ok().await;
}

#[tokio::test]
async fn fields_that_nobody_knows_are_named_in_all_bodies_of_figaros_own() {
    let world = World::new().await;
    let gateway = world.gateway_of_tokens(&[]).await;
    gateway.says("hi").user("ann").session("a").words().await;
    for (path, body, field) in [
        ("/v1/sessions/a/pins", json!({"content": "No nuts.", "colour": "red"}), "colour"),
        ("/v1/sessions/a/pins", json!({"content": "No nuts.", "pin_type": "loud"}), "pin_type"),
        ("/v1/sessions/a/summaries", json!({"begin": 1}), "begin"),
        (
            "/v1/chat/completions",
            json!({"model": "figaro", "messages": [], "figaro": {"mood": 1}}),
            "figaro.mood",
        ),
    ] {
        let (status, error) = gateway.post(path, &body).user("ann").refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(field)), "{error}");
    }
    for path in ["/v1/sessions?page=2", "/v1/sessions/a/messages?from=1", "/v1/sessions/a/messages?limit=x"] {
        let (status, error) = gateway.get(path).user("ann").refused().await;
        assert_eq!(status, 400, "{path}: {error}");
    }
}

#[tokio::test]
async fn sessions_come_in_pages_and_a_turn_names_its_own() {
    let world = World::new().await;
    let gateway = world.gateway_of_tokens(&[]).await;
    let mut turn = String::new();
    for name in ["a", "b", "c", "d", "e"] {
        let answer = gateway.says("hi").user("ann").session(name).send().await;
        turn = answer.headers()["x-turn-id"].to_str().unwrap().to_owned();
    }
    for (query, ids, has_more) in [
        ("", vec!["e", "d", "c", "b", "a"], false),
        ("?limit=2", vec!["e", "d"], true),
        ("?limit=2&after=d", vec!["c", "b"], true),
        ("?limit=2&after=b", vec!["a"], false),
        ("?limit=2&before=b", vec!["d", "c"], true),
        ("?limit=9&before=d", vec!["e"], false),
        ("?after=e&before=b", vec!["d", "c"], false),
        ("?after=a", vec![], false),
    ] {
        let page = gateway.get(&format!("/v1/sessions{query}")).user("ann").ok().await;
        let got: Vec<&str> =
            page["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
        assert_eq!((&got, &page["has_more"]), (&ids, &json!(has_more)), "{query}: {page}");
        assert_eq!(
            (page["first_id"].as_str(), page["last_id"].as_str()),
            (got.first().copied(), got.last().copied())
        );
    }
    assert_eq!(gateway.get("/v1/sessions?after=nobody").user("ann").refused().await.0, 400);
    let frames = gateway.get(&format!("/v1/turns/{turn}/events")).user("ann").frames().await;
    assert_eq!(frames[0].json()["session_id"], "e", "{frames:?}");
    let page = gateway.get("/v1/sessions/e/messages?limit=1").user("ann").ok().await;
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (1, &json!(true)));
    let page = gateway.get("/v1/sessions/e/messages?limit=1&after=0").user("ann").ok().await;
    assert_eq!((&page["data"][0]["index"], &page["has_more"]), (&json!(1), &json!(false)));
}
