//! Summaries of sessions that are asked for over HTTP.

use figaro_offline::model::ModelReply;
use reqwest::Method;
use serde_json::json;

use crate::support::World;
use crate::support::http::{KEY, said};

/// A key that may look at sessions and asks nothing.
const READER: &str = "key-of-the-reader-0123";

#[tokio::test]
async fn a_session_is_summarised_when_its_caller_wants_it() {
    let world = World::new().await;
    let poor = "key-of-the-poor-0123";
    let keys = format!("app:{KEY},poor:{poor};tokens=6000,reader:{READER};sessions");
    let gateway = world.gateway_with(&[("API_KEYS", &keys)]).await;
    let path = "/v1/sessions/travel/summaries";
    let asks = |key: &str| gateway.plain(Method::POST, path).key(key).user("ann");
    assert_eq!(asks(KEY).refused().await.0, 404);
    assert_eq!(asks(READER).refused().await.0, 403, "a model is asked for it");
    for words in ["My aunt lives in Zanzibar.", "She likes tea."] {
        world.script.push(ModelReply::text("I see."));
        gateway.says(words).user("ann").session("travel").words().await;
    }
    world.script.push(ModelReply::text(
        r#"{"summary": "Ann's aunt lives in Zanzibar and likes tea.", "importance": 6}"#,
    ));
    let (status, text) = asks(KEY).text().await;
    let made: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status.as_u16(), &made["object"]), (201, &json!("summary")), "{text}");
    assert_eq!((&made["start"], &made["end"], &made["message_count"]), (&json!(0), &json!(3), &json!(4)));
    assert!(world.model.summary_requests().pop().unwrap().body.to_string().contains("Zanzibar"));
    let list = gateway.get(path).user("ann").ok().await;
    assert_eq!(list["data"], json!([made]));
    assert_eq!(gateway.get("/v1/sessions/travel").user("ann").ok().await["stats"]["summaries"], 1);
    let (status, error) = asks(KEY).refused().await;
    assert_eq!((status, &error["code"]), (409, &json!("nothing_to_summarise")));
    // What is new alone is summarised, and what is no summary is not stored.
    world.script.push(ModelReply::text("Yes."));
    gateway.says("Is it warm there?").user("ann").session("travel").words().await;
    world.script.summarise_next(ModelReply::text("I would rather not."));
    let (status, error) = asks(KEY).refused().await;
    assert_eq!((status, &error["code"]), (502, &json!("no_summary")));
    world
        .script
        .summarise_next(ModelReply::text(r#"{"summary": "She asked whether it is warm.", "importance": 3}"#));
    let next = asks(KEY).ok().await;
    assert_eq!((&next["start"], &next["end"]), (&json!(4), &json!(5)));
    // Its tokens are those of the key, as a question's are.
    let says = gateway.plain(Method::POST, "/v1/chat/completions").key(poor).json(&said("I am poor."));
    world.when("I am poor.", ModelReply::text("I see.").usage(5_900, 50));
    says.user("bob").session("travel").words().await;
    let (status, error) = gateway.plain(Method::POST, path).key(poor).user("bob").refused().await;
    assert_eq!((status, &error["code"]), (429, &json!("insufficient_quota")));
}
