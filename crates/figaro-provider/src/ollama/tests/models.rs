//! What is learned of models: from what the server tells of them, from its lists, and from its refusals.

use std::sync::Arc;

use super::*;

fn with_tools(model: &str) -> Request {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = vec![Arc::new(ToolSpec::new("f", "Does.", parameters))];
    Request { tools, ..Request::new(model, "Be brief.", vec![Item::user("Hi")]) }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_not_sent_anything() {
    let server = TestServer::replying(plain("404 Not Found", &json!({"error": "model 'm' not found"}))).await;
    let told = "model 'm' not found; `ollama pull m` fetches it";
    let provider = provider(&server.base_url, None);
    for asked in 1..=2 {
        assert_eq!(ask::<Native>(&provider).await, [Err(ProviderError::UnknownModel(told.into()))]);
        assert_eq!(server.heard.lock().unwrap().len(), asked, "it may come back");
    }
    assert_eq!(calls::<Native>(&server).len(), 0);
}

#[tokio::test]
async fn a_model_that_goes_is_asked_about_anew() {
    let server = TestServer::start(|body| match is_chat(body) {
        true => plain("404 Not Found", &json!({"error": "model 'm' not found"})),
        false => plain("200 OK", &shown()),
    })
    .await;
    let provider = provider(&server.base_url, None);
    ask::<Native>(&provider).await;
    assert!(!provider.capabilities("m").vision, "what was told holds no more");
    ask::<Native>(&provider).await;
    assert_eq!(server.heard.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_server_that_tells_nothing_still_answers() {
    for head in ["404 Not Found", "405 Method Not Allowed", "400 Bad Request"] {
        let server = TestServer::start(move |body| match is_chat(body) {
            true => lines(vec![[says("a"), done()].concat().into()]),
            false => TestReply::plain(head, "no such thing"),
        })
        .await;
        let events = ask::<Native>(&provider(&server.base_url, None)).await;
        assert_eq!((&events[0], events.len()), (&Ok(Event::TextDelta("a".into())), 2), "{head}");
        let body = &calls::<Native>(&server)[0];
        assert_eq!((&body["options"], body.get("think")), (&json!({"num_ctx": 4096}), None), "{head}");
    }
}

#[tokio::test]
async fn refused_tools_are_left_out_and_stay_out() {
    let refusal = json!({"error": "registry.ollama.ai/library/m:latest does not support tools"});
    let server = TestServer::start(move |body| match (is_chat(body), body["tools"].is_array()) {
        (true, true) => plain("400 Bad Request", &refusal),
        (true, false) => lines(vec![[says("a"), done()].concat().into()]),
        // An old server: it does not tell what a model can do.
        (false, _) => plain("200 OK", &json!({"model_info": {}})),
    })
    .await;
    let provider = provider(&server.base_url, None);
    assert!(provider.capabilities("m").tools);
    for (asked, chats_so_far) in [(1, 2), (2, 3)] {
        let events: StreamEvents = provider.stream(with_tools("m")).collect().await;
        assert_eq!((&events[0], events.len()), (&Ok(Event::TextDelta("a".into())), 2), "{asked}");
        assert_eq!(calls::<Native>(&server).len(), chats_so_far);
        assert!(!provider.capabilities("m:latest").tools);
    }
    let sent: Vec<bool> = calls::<Native>(&server).iter().map(|body| body["tools"].is_array()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_refusal_of_tools_that_were_not_sent_is_an_error() {
    let server =
        replying::<Native>(plain("400 Bad Request", &json!({"error": "m does not support tools"}))).await;
    let expected = ProviderError::Refused("m does not support tools".into());
    assert_eq!(ask::<Native>(&provider(&server.base_url, None)).await, [Err(expected.clone())]);
    assert_eq!(calls::<Native>(&server).len(), 1);
    let events: StreamEvents = provider(&server.base_url, None).stream(with_tools("m")).collect().await;
    assert_eq!(events, [Err(expected)]);
    assert_eq!(calls::<Native>(&server).len(), 3, "it was sent again once");
}

#[tokio::test]
async fn what_a_model_cannot_do_is_left_out() {
    let told = json!({"model_info": {}, "capabilities": ["completion"]});
    let server = TestServer::start(move |body| match is_chat(body) {
        true => lines(vec![done().into()]),
        false => plain("200 OK", &told),
    })
    .await;
    let image = MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "aGk=".into() };
    let items = vec![Item::User { text: "Look".into(), media: vec![image] }];
    let provider = provider(&server.base_url, None);
    let events: StreamEvents = provider.stream(Request { items, ..with_tools("llava") }).collect().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let body = &calls::<Native>(&server)[0];
    assert_eq!((body.get("tools"), body.get("think")), (None, None));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "Look"}));
}

#[tokio::test]
async fn the_models_that_answer_are_listed_and_known() {
    let details = json!({"family": "x", "context_length": 2048});
    let new = json!({"name": "new:1b", "details": details, "capabilities": ["completion", "vision"]});
    let embeds = json!({"name": "embeds:latest", "details": details, "capabilities": ["embedding"]});
    let old = |name: &str| json!({"name": name, "details": {"family": "x"}});
    let tags = json!({"models": [new, embeds, old("old:latest"), {"model": "broken:latest"}, {"size": 3}]});
    let server = TestServer::start(move |body| match body["model"].as_str() {
        None => plain("200 OK", &tags),
        Some("old:latest") => plain("200 OK", &shown()),
        Some(_) => plain("500 Internal Server Error", &json!({"error": "no such file"})),
    })
    .await;
    let provider = provider(&server.base_url, None);
    assert_eq!(
        provider.models().await,
        Ok(vec!["new:1b".into(), "old:latest".into(), "broken:latest".into()])
    );
    let can = |model: &str| {
        let can = provider.capabilities(model);
        (can.context_window, can.tools, can.vision)
    };
    assert_eq!(can("new:1b"), (2048, false, true));
    assert_eq!(can("old"), (32768, true, true));
    assert_eq!(can("broken"), (8192, true, false));
    let heads: Vec<String> = server.heard.lock().unwrap().iter().map(|heard| heard.head.clone()).collect();
    assert!(heads[0].starts_with("get /v1/api/tags http/1.1\r\n"), "{}", heads[0]);
    assert_eq!(heads.len(), 3);
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_an_error() {
    let cases = [
        (plain("401 Unauthorized", &json!({"error": "no"})), "unauthorized"),
        (TestReply::plain("404 Not Found", "404 page not found"), "foreign"),
        (TestReply::plain("200 OK", "Ollama is running"), "foreign"),
        (TestReply { head: String::new(), end: StreamEnd::Hang, ..lines(Vec::new()) }, "stalled"),
    ];
    for (reply, label) in cases {
        let server = TestServer::replying(reply).await;
        let limit = Duration::from_millis(300);
        let provider = OllamaProvider::new(HTTP.clone(), &server.base_url, None, limit, MINUTE);
        assert_eq!(provider.models().await.unwrap_err().label(), label);
    }
    let server = TestServer::replying(plain("200 OK", &json!({"models": null}))).await;
    assert_eq!(provider(&server.base_url, None).models().await, Ok(Vec::new()));
}
