//! Files over HTTP: sent with a question, or stored before and named by their ids.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use figaro_offline::model::{ModelReply, ModelRequest};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{Gateway, KEY};

const LEASE: &str = "what;amount\nrent of the flat;7351 a month\n";

async fn before() -> (World, Gateway) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let gateway = world.gateway_with(&[("API_KEYS", &format!("app:{KEY}"))]).await;
    (world, gateway)
}

fn last(world: &World) -> ModelRequest {
    world.model.requests().pop().unwrap()
}

/// A question with a part of this kind behind it.
fn with(words: &str, part: Value) -> Value {
    json!({"model": "figaro", "messages": [{"role": "user", "content": [{"type": "text", "text": words}, part]}]})
}

fn inline(name: &str, content: &str) -> Value {
    let data = format!("data:text/csv;base64,{}", STANDARD.encode(content));
    json!({"type": "file", "file": {"filename": name, "file_data": data}})
}

impl Gateway {
    /// Uploads a file as OpenAI's clients do, and gives the status and the body.
    async fn uploads(&self, user: &str, purpose: &str, name: &str, content: &[u8]) -> (u16, Value) {
        let file = Part::bytes(content.to_vec()).file_name(name.to_owned());
        let form = Form::new().text("purpose", purpose.to_owned()).part("file", file);
        let asking = self.plain(Method::POST, "/v1/files").key(KEY).user(user);
        let response = asking.form(form).send().await;
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

#[tokio::test]
async fn a_file_with_a_question_is_read_and_found_later_in_its_session() {
    let (world, gateway) = before().await;
    gateway.chat(&with("What is this?", inline("lease.csv", LEASE))).ok().await;
    let text = last(&world).user_text().to_owned();
    assert!(
        text.contains("name=\"lease.csv\"") && text.contains("rent of the flat | 7351 a month"),
        "{text}"
    );
    gateway.chat(&with("Keep this", inline("lease.csv", LEASE))).user("ann").session("s").ok().await;
    gateway.says("What is the rent of the flat?").user("ann").session("s").ok().await;
    assert!(last(&world).user_text().contains("7351 a month"), "{}", last(&world).user_text());
    gateway.says("What is the rent of the flat?").user("bob").session("s").ok().await;
    assert!(!last(&world).body.to_string().contains("7351"), "another person's file");
    gateway.plain(Method::DELETE, "/v1/sessions/s").key(KEY).user("ann").send().await;
    gateway.says("What is the rent of the flat?").user("ann").session("t").ok().await;
    assert!(!last(&world).body.to_string().contains("7351"), "it went with its session");
    let input = json!([{"role": "user", "content": [
        {"type": "input_text", "text": "And this?"},
        {"type": "input_file", "filename": "a.md", "file_data": STANDARD.encode("# The zanzibarcode")},
    ]}]);
    gateway.post("/v1/responses", &json!({"model": "figaro", "input": input})).ok().await;
    assert!(last(&world).user_text().contains("# The zanzibarcode"));
}

#[tokio::test]
async fn a_stored_file_is_found_in_all_sessions_of_its_person_until_it_is_removed() {
    let (world, gateway) = before().await;
    let (status, file) = gateway.uploads("ann", "user_data", "lease.csv", LEASE.as_bytes()).await;
    assert_eq!(
        (status, &file["object"], &file["filename"]),
        (200, &json!("file"), &json!("lease.csv")),
        "{file}"
    );
    assert_eq!(file["bytes"], LEASE.len());
    let id = file["id"].as_str().unwrap().to_owned();
    let named = json!({"type": "file", "file": {"file_id": id}});
    gateway.chat(&with("What is this?", named.clone())).user("ann").ok().await;
    assert!(last(&world).user_text().contains("7351 a month"), "a question that stands alone");
    let mut body = with("What is this?", json!({"type": "text", "text": ""}));
    body["figaro"] = json!({"file_ids": [id]});
    gateway.chat(&body).user("ann").session("s").ok().await;
    assert!(last(&world).user_text().contains("7351 a month"));
    gateway.says("What is the rent of the flat?").user("ann").session("other").ok().await;
    assert!(last(&world).user_text().contains("7351 a month"), "in any session of hers");
    let list = gateway.get("/v1/files").user("ann").ok().await;
    assert_eq!((list["data"].as_array().unwrap().len(), &list["data"][0]["id"]), (1, &json!(id)));
    for user in ["bob", "eve"] {
        assert_eq!(gateway.get("/v1/files").user(user).ok().await["data"], json!([]));
        assert_eq!(gateway.get(&format!("/v1/files/{id}")).user(user).refused().await.0, 404);
        assert_eq!(gateway.chat(&with("?", named.clone())).user(user).refused().await.0, 404);
        let removed = gateway.plain(Method::DELETE, &format!("/v1/files/{id}")).key(KEY).user(user);
        assert_eq!(removed.refused().await.0, 404);
    }
    assert_eq!(gateway.get(&format!("/v1/files/{id}/content")).user("ann").refused().await.0, 400);
    let gone = gateway.plain(Method::DELETE, &format!("/v1/files/{id}")).key(KEY).user("ann").ok().await;
    assert_eq!(gone, json!({"id": id, "object": "file", "deleted": true}));
    gateway.says("So what is the rent of the flat?").user("ann").session("third").ok().await;
    assert!(!last(&world).user_text().contains("7351"), "{}", last(&world).user_text());
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_with_the_reason() {
    let (world, gateway) = before().await;
    let cases: [(&str, &[u8], &str, u16, &str); 4] = [
        ("a.pdf", b"%PDF-1.7 nothing", "user_data", 400, "the file is damaged"),
        ("a.bin", &[0, 1, 2, 3], "assistants", 400, "in a format that cannot be read"),
        ("a.txt", b"words", "fine-tune", 400, "send user_data or assistants"),
        ("a.txt", &vec![b'a'; 21 << 20], "user_data", 413, "too large"),
    ];
    for (name, content, purpose, status, words) in cases {
        let (got, error) = gateway.uploads("ann", purpose, name, content).await;
        assert_eq!(got, status, "{name}: {error}");
        assert!(error["error"]["message"].as_str().unwrap().contains(words), "{name}: {error}");
    }
    let two = || {
        Form::new()
            .part("file", Part::text("one").file_name("a"))
            .part("file", Part::text("two").file_name("b"))
    };
    for form in [two(), two().text("purpose", "fine-tune")] {
        let asking = gateway.plain(Method::POST, "/v1/files").key(KEY).user("ann").form(form);
        assert_eq!(asking.refused().await.0, 400);
    }
    assert_eq!(gateway.get("/v1/files").user("ann").ok().await["data"], json!([]), "nothing of them is kept");
    let (status, error) = gateway.get("/v1/files").refused().await;
    assert!(status == 400 && error.to_string().contains("X-User-Id"), "{error}");
    let form = gateway.post("/v1/files", &json!({})).user("ann").refused().await;
    assert!(form.0 == 400 && form.1.to_string().contains("multipart/form-data"), "{form:?}");
    let odd = json!({"type": "file", "file": {"filename": "a", "file_data": "data:x;base64,%%%"}});
    assert_eq!(gateway.chat(&with("?", odd)).refused().await.0, 400);
    gateway.chat(&with("What is this?", inline("a.pdf", "%PDF-1.4 nothing"))).ok().await;
    let text = last(&world).user_text().to_owned();
    assert!(text.contains("name=\"a.pdf\"") && text.contains("[This file is damaged.]"), "{text}");
}
