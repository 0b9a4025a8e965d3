//! What was erased over HTTP is gone at once: no turn of it can be followed, and nothing that it left can be gone on with.

use figaro_domain::external::ExternalName;
use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::tavily::{KEY as TAVILY, TavilyAnswer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{Asking, Gateway, KEY, said};

impl Gateway {
    fn by_ann(&self, method: Method, path: &str) -> Asking {
        self.plain(method, path).key(KEY).user("ann")
    }

    /// A question of hers in a session; gives the id of its turn.
    async fn told(&self, session: &str) -> String {
        let response = self.says("Where is my aunt?").user("ann").session(session).send().await;
        let turn = response.headers()["x-turn-id"].to_str().unwrap().to_owned();
        assert!(response.text().await.unwrap().contains("Zanzibar"));
        turn
    }

    /// What following a turn of hers gives.
    async fn followed(&self, path: &str) -> (u16, String) {
        let (status, text) = self.by_ann(Method::GET, path).text().await;
        (status.as_u16(), text)
    }
}

#[tokio::test]
async fn a_turn_of_an_erased_session_cannot_be_followed_any_more() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.otherwise(ModelReply::text("She is in Zanzibar."));
    for erases in ["/v1/sessions/travel", "/v1/memories"] {
        let turn = gateway.told("travel").await;
        let other = gateway.says("Hello?").user("bob").session("travel").send().await;
        let other = other.headers()["x-turn-id"].to_str().unwrap().to_owned();
        let paths = [format!("/v1/turns/{turn}/events"), "/v1/sessions/travel/events".to_owned()];
        for path in &paths {
            let (status, text) = gateway.followed(path).await;
            assert!(status == 200 && text.contains("Zanzibar"), "{path}: {status} {text}");
        }
        assert!(gateway.by_ann(Method::DELETE, erases).text().await.0.is_success());
        for path in &paths {
            let (status, text) = gateway.followed(path).await;
            assert!(status == 404 && !text.contains("Zanzibar"), "after {erases}: {path}: {status} {text}");
        }
        assert_eq!(gateway.by_ann(Method::DELETE, &format!("/v1/turns/{turn}")).refused().await.0, 404);
        let kept = gateway.get(&format!("/v1/turns/{other}/events")).user("bob").text().await;
        assert!(kept.0 == 200 && kept.1.contains("Zanzibar"), "what is another's stays: {kept:?}");
    }
}

#[tokio::test]
async fn what_an_erased_session_had_found_is_not_gone_on_with() {
    let world = World::new().await;
    let keys = format!("app:{KEY}");
    let search = [("TAVILY_API_KEY", TAVILY), ("TAVILY_BASE_URL", world.tavily.url()), ("API_KEYS", &keys)];
    let gateway = world.gateway_with(&search).await;
    let call = |name: &str, arguments: Value| ReplyPart::Call { name: name.to_owned(), arguments };
    for erases in [None, Some("/v1/sessions/travel"), Some("/v1/memories")] {
        world.tavily.push(TavilyAnswer::pages(&[("Riga", "https://rain.example/riga", "It rains.")]));
        world.script.push(ModelReply::turn(vec![
            call("web_search", json!({"query": "weather Riga"})),
            call("weather", json!({"city": "Riga"})),
        ]));
        let mut body = said("Does it rain in Riga?");
        body["tools"] = json!([{"type": "function", "function": {"name": "weather"}}]);
        let completion = gateway.chat(&body).user("ann").session("travel").ok().await;
        let message = &completion["choices"][0]["message"];
        let made = &message["tool_calls"][0];
        assert_eq!(made["function"]["name"], "weather");
        if let Some(path) = erases {
            assert!(gateway.by_ann(Method::DELETE, path).text().await.0.is_success());
        }
        let result = json!({"role": "tool", "tool_call_id": made["id"], "content": "rain"});
        body["messages"].as_array_mut().unwrap().extend([message.clone(), result]);
        world.script.push(ModelReply::text("It does."));
        // By itself, what the caller sends is all that there is to go on from.
        assert_eq!(gateway.chat(&body).user("ann").words().await, "It does.");
        let request = world.model.requests().pop().unwrap().body.to_string();
        assert_eq!(request.contains("rain.example"), erases.is_none(), "after {erases:?}: {request}");
    }
}

#[tokio::test]
async fn an_erased_session_leaves_no_name_and_its_questions_are_none_of_telegrams() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.otherwise(ModelReply::text("I see."));
    let asks = async |session: &str| {
        gateway.says("Hello?").user("ann").session(session).words().await;
        gateway.says("Hello?").session(session).words().await;
    };
    asks("zanzibar").await;
    asks("work").await;
    let erases = "/v1/sessions/zanzibar";
    for asking in [gateway.by_ann(Method::DELETE, erases), gateway.plain(Method::DELETE, erases).key(KEY)] {
        assert_eq!(asking.text().await.0, 204);
    }
    for asking in [gateway.by_ann(Method::GET, erases), gateway.get(erases)] {
        assert_eq!(asking.refused().await.0, 404);
    }
    assert!(gateway.bot.stop().await.success());
    let everything = world.records().everything();
    let has = |bytes: &[u8], name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    let tables = |name: &str| -> Vec<&String> {
        let of = everything
            .iter()
            .filter(|(_, all)| all.iter().any(|(key, value)| has(key, name) || has(value, name)));
        of.map(|(table, _)| table).collect()
    };
    assert_eq!(tables("zanzibar"), Vec::<&String>::new());
    assert_eq!(tables("work"), ["external", "external_names", "sessions"]);
    assert!(["inbox", "seen"].iter().all(|table| !everything.contains_key(*table)), "no update was settled");
    let store = world.stored().await;
    let work = ExternalName::person("default", "ann").session("work");
    let conversation = store.external().find(&work).unwrap().expect("another session stays");
    let session = store.sessions().current(conversation).unwrap().unwrap();
    let messages = store.conversations().recent(session, 10).unwrap();
    assert!(
        messages.len() == 2 && messages.iter().all(|message| message.telegram.is_empty()),
        "{messages:?}"
    );
}

#[tokio::test]
async fn other_sessions_are_recalled_after_one_was_erased_also_after_a_restart() {
    /// Exchanges after which a block of the index was stored.
    const EXCHANGES: usize = 130;
    let world = World::new().await;
    let keys = format!("app:{KEY}");
    let small = [("HISTORY_TOKENS", "600"), ("SUMMARY_EVERY", "0"), ("API_KEYS", keys.as_str())];
    let gateway = world.gateway_with(&small).await;
    world.otherwise(ModelReply::text("She is in Zanzibar."));
    let asks = async |gateway: &Gateway, words: &str| {
        let asked = gateway.says(words).user("ann").session("work").send().await;
        assert!(asked.status().is_success(), "{}", asked.text().await.unwrap());
        let asked = world.asked();
        asked.iter().rev().find(|one| one.user_text().contains(words)).unwrap().body.to_string()
    };
    asks(&gateway, "The code of the blue shed is 7301.").await;
    gateway.told("travel").await;
    for number in 0..EXCHANGES {
        asks(&gateway, &format!("{number}: rain and wind")).await;
    }
    assert!(asks(&gateway, "the blue shed code, please?").await.contains("7301"));
    assert_eq!(gateway.by_ann(Method::DELETE, "/v1/sessions/travel").text().await.0, 204);
    for number in 0..EXCHANGES {
        asks(&gateway, &format!("{number}. rain again")).await;
    }
    assert!(gateway.bot.stop().await.success());
    let gateway = world.gateway_with(&small).await;
    assert!(asks(&gateway, "blue shed: which code?").await.contains("7301"));
}
