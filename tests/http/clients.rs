//! The clients that people use, by the requests that they send.

use std::collections::BTreeMap;

use figaro_offline::model::ModelReply;
use serde::Deserialize;
use serde_json::Value;

use crate::support::World;
use crate::support::http::frames;

/// A request of a client, and what of it the model reads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    client: String,
    #[serde(default = "chat")]
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Value,
    reaches: Vec<String>,
}

fn chat() -> String {
    "/v1/chat/completions".to_owned()
}

#[tokio::test]
async fn clients_that_people_use_are_answered_as_they_are() {
    let all: Vec<Sent> = serde_saphyr::from_str(include_str!("clients.yaml")).unwrap();
    let world = World::new().await;
    let gateway = world.gateway().await;
    for Sent { client, path, headers, body, reaches } in all {
        world.script.push(ModelReply::text("OK."));
        let asking = headers
            .iter()
            .fold(gateway.post(&path, &body), |asking, (name, value)| asking.header(name, value));
        let (status, text) = asking.text().await;
        assert_eq!(status, 200, "{client}: {text}");
        let whole = if body["stream"] == true {
            let all = frames(&text);
            assert!(all.iter().all(|frame| !frame.data.contains("\"error\":{")), "{client}: {text}");
            text
        } else {
            serde_json::from_str::<Value>(&text).unwrap().to_string()
        };
        assert!(whole.contains("OK."), "{client}: {whole}");
        let asked = world.model.requests().pop().unwrap().body.to_string();
        for words in reaches {
            assert!(asked.contains(&words), "{client}: {words} is not in {asked}");
        }
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}
