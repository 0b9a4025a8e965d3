//! Requests for vectors through the door of each dialect.

use serde_json::{Value, json};

use crate::model::tests::{Bed, changed};
use crate::model::{ReplyScript, VectorRequest};

/// The path and a good request of each dialect.
fn dialects() -> [(&'static str, Value); 3] {
    let request = |text: &str| json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": text}]}, "taskType": "RETRIEVAL_QUERY"});
    [
        ("/v1/embeddings", json!({"model": "text-embedding-3-small", "input": ["red apples", "a train"]})),
        ("/api/embed", json!({"model": "nomic-embed-text", "input": ["red apples", "a train"]})),
        (
            "/v1beta/models/gemini-embedding-001:batchEmbedContents",
            json!({"requests": [request("red apples"), request("a train")]}),
        ),
    ]
}

async fn post(bed: &Bed, path: &str, body: &Value) -> (u16, Value) {
    let request = bed.http.post(format!("{}{path}", bed.model.ollama_url())).bearer_auth("key");
    let response = request.header("x-goog-api-key", "key").json(body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn each_dialect_gives_the_same_vectors_in_its_own_shape() {
    let bed = Bed::new(ReplyScript::new()).await;
    let mut given = Vec::new();
    for (path, body) in dialects() {
        let (status, answer) = post(&bed, path, &body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        given.push(answer);
    }
    // The last comes first: the index counts.
    let first = &given[0]["data"][1];
    assert_eq!((&first["index"], &given[0]["usage"]["prompt_tokens"]), (&json!(0), &json!(6)));
    assert_eq!(first["embedding"], given[1]["embeddings"][0]);
    assert_eq!(first["embedding"], given[2]["embeddings"][0]["values"]);
    assert_eq!(bed.model.violations(), Vec::<String>::new());
    let texts = vec!["red apples".to_owned(), "a train".to_owned()];
    let purpose = "RETRIEVAL_QUERY".to_owned();
    let wanted = VectorRequest { model: "gemini-embedding-001".to_owned(), texts, purpose };
    assert_eq!(bed.model.vector_requests()[2], wanted);
    bed.end().await;
}

#[tokio::test]
async fn what_breaks_the_rules_is_refused_and_told() {
    let bed = Bed::new(ReplyScript::new()).await;
    let [openai, ollama, gemini] = dialects();
    let cases = [
        (&openai, "/input", json!("red apples"), "'input' must be a list"),
        (&openai, "/input", json!([]), "'input' must be a list"),
        (&openai, "/input/0", json!(""), "'input' cannot be an empty string."),
        (&openai, "/input/0", json!("a ".repeat(9_000)), "you requested 9000 tokens"),
        (&openai, "/colour", json!(1), "argument supplied: colour"),
        (&openai, "/model", json!(""), "must provide a model"),
        (&ollama, "/input", json!(vec!["a"; 65]), "input must be a list of 1 to 64"),
        (&ollama, "/colour", json!(1), "unknown field 'colour'"),
        (&ollama, "/model", json!("llama3.2"), "does not support embeddings"),
        (&gemini, "/requests/0/taskType", json!("QUERY"), "taskType must be one"),
        (&gemini, "/requests/0/model", json!("models/other"), "must be that of the batch"),
        (&gemini, "/requests/1/content/parts/0/text", json!(""), "an empty Part"),
        (&gemini, "/requests", json!([]), "requests must be a list of 1 to 100"),
        (&gemini, "/colour", json!(1), "colour"),
    ];
    for (number, ((path, body), place, value, wanted)) in (1..).zip(cases) {
        let (status, answer) = post(&bed, path, &changed(body.clone(), place, value)).await;
        assert!(status == 400 && answer.to_string().contains(wanted), "{path} {place}: {status} {answer}");
        assert_eq!(bed.model.violations().len(), number, "{path} {place}");
    }
    assert_eq!(post(&bed, "/v1/embeddings", &changed(openai.1, "/model", json!("gpt-4.1"))).await.0, 404);
    assert_eq!(post(&bed, "/api/embed", &changed(ollama.1, "/model", json!("skynet"))).await.0, 404);
    assert_eq!(post(&bed, "/v1beta/models/gemini-2.5-pro:batchEmbedContents", &gemini.1).await.0, 404);
    bed.end().await;
}
