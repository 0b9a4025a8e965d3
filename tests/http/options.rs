//! What a request binds its answer to: tools that have to be called, words that end it, its form, its length, pictures to look at.

use figaro_offline::model::{ModelReply, ReplyPart};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::canned::PNG;
use crate::support::http::{Gateway, frames, said, words};

const RESPONSES: &str = "/v1/responses";

impl World {
    /// A gateway before one provider; it takes all keys of `support::http`.
    async fn gateway_before(&self, provider: &str) -> Gateway {
        let keys = format!("app:{}", crate::support::http::KEY);
        self.gateway_of(self.bot_of(provider).set("API_KEYS", &keys)).await
    }
}

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}}}})
}

fn call(name: &str) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments: json!({"city": "Riga"}) }
}

#[tokio::test]
async fn a_tool_is_called_where_that_is_asked_for_and_the_service_can() {
    let named = json!({"type": "function", "function": {"name": "weather"}});
    for provider in ["openai", "compatible", "gemini", "ollama"] {
        let world = World::new().await;
        let gateway = world.gateway_before(provider).await;
        for choice in [json!("required"), named.clone()] {
            let mut body = said("Does it rain?");
            body["tools"] = json!([tool("weather"), tool("tides")]);
            body["tool_choice"] = choice.clone();
            if provider == "ollama" {
                let (status, error) = gateway.chat(&body).refused().await;
                assert_eq!((status, &error["param"]), (400, &json!("tool_choice")), "{error}");
                assert!(world.model.requests().is_empty());
                continue;
            }
            world.script.push(ModelReply::turn(vec![call("weather")]));
            let completion = gateway.chat(&body).ok().await;
            assert_eq!(completion["choices"][0]["finish_reason"], "tool_calls");
            let request = world.model.requests().pop().unwrap();
            assert_eq!(request.tool_names(), ["tides", "weather"], "only the caller's may be meant");
            let is_named = choice.is_object();
            let (at, wanted) = match (provider, is_named) {
                ("gemini", false) => ("/toolConfig/functionCallingConfig", json!({"mode": "ANY"})),
                ("gemini", true) => (
                    "/toolConfig/functionCallingConfig",
                    json!({"mode": "ANY", "allowedFunctionNames": ["weather"]}),
                ),
                (_, false) => ("/tool_choice", json!("required")),
                ("openai", true) => ("/tool_choice", json!({"type": "function", "name": "weather"})),
                (_, true) => ("/tool_choice", named.clone()),
            };
            assert_eq!(request.body.pointer(at), Some(&wanted), "{provider}: {}", request.body);
        }
        let mut body = said("Does it rain?");
        body["tools"] = json!([tool("tides")]);
        for (choice, words) in [(named.clone(), "no function"), (json!("always"), "by its name")] {
            body["tool_choice"] = choice;
            let (status, error) = gateway.chat(&body).refused().await;
            assert!(status == 400 && error["param"] == "tool_choice", "{error}");
            assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        }
        body["tool_choice"] = "none".into();
        world.script.push(ModelReply::text("It rains."));
        gateway.chat(&body).words().await;
        assert!(!world.model.requests().pop().unwrap().tool_names().contains(&"tides"));
        assert_eq!(world.model.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_penalty_that_a_service_has_not_is_refused_by_name() {
    for (provider, at) in [
        ("openai", None),
        ("gemini", None),
        ("compatible", Some("/presence_penalty")),
        ("ollama", Some("/options/presence_penalty")),
    ] {
        let world = World::new().await;
        let gateway = world.gateway_before(provider).await;
        let mut body = said("Count.");
        (body["frequency_penalty"], body["presence_penalty"]) = (json!(0), json!(0.0));
        world.script.push(ModelReply::text("One."));
        assert_eq!(gateway.chat(&body).words().await, "One.", "{provider}");
        body["presence_penalty"] = json!(0.5);
        match at {
            None => {
                let (status, error) = gateway.chat(&body).refused().await;
                assert_eq!((status, &error["param"]), (400, &json!("presence_penalty")), "{error}");
            }
            Some(at) => {
                world.script.push(ModelReply::text("One."));
                assert_eq!(gateway.chat(&body).words().await, "One.", "{provider}");
                let request = world.model.requests().pop().unwrap().body;
                assert_eq!(request.pointer(at), Some(&json!(0.5)), "{provider}: {request}");
            }
        }
    }
}

#[tokio::test]
async fn words_that_end_an_answer_and_pictures_go_to_services_that_can() {
    for provider in ["openai", "compatible", "gemini", "ollama"] {
        let world = World::new().await;
        let gateway = world.gateway_before(provider).await;
        let mut body = said("Count.");
        body["stop"] = json!("four");
        if provider == "openai" {
            let (status, error) = gateway.chat(&body).refused().await;
            assert_eq!((status, &error["param"]), (400, &json!("stop")), "{error}");
        } else {
            for stop in [json!("four"), json!(["four", "five"])] {
                body["stop"] = stop.clone();
                world.script.push(ModelReply::text("One two three"));
                assert_eq!(gateway.chat(&body).words().await, "One two three");
                let request = world.model.requests().pop().unwrap().body;
                let at = match provider {
                    "gemini" => "/generationConfig/stopSequences",
                    "ollama" => "/options/stop",
                    _ => "/stop",
                };
                let sent =
                    request.pointer(at).and_then(Value::as_array).unwrap_or_else(|| panic!("{request}"));
                assert_eq!(sent[0], "four", "{provider}");
            }
        }
        let url = format!("data:image/png;base64,{PNG}");
        let chat = json!({"model": "figaro", "messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]}]});
        let responses = json!({"model": "figaro", "input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]});
        for (path, body) in [("/v1/chat/completions", chat), (RESPONSES, responses)] {
            world.script.push(ModelReply::text("A dot."));
            gateway.post(path, &body).ok().await;
            let request = world.model.requests().pop().unwrap();
            assert_eq!(request.pictures()[0].base64, PNG, "{provider} {path}: {}", request.body);
        }
        assert_eq!(world.model.violations(), Vec::<String>::new());
    }
    // The model `offline` of the usual world sees nothing.
    let world = World::new().await;
    let gateway = world.gateway().await;
    let body = json!({"model": "figaro", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}}]}]});
    let (status, error) = gateway.chat(&body).refused().await;
    assert!(status == 400 && error["message"].as_str().unwrap().contains("sees no pictures"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_to_be_json_is_checked_and_mended_once() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let schema =
        json!({"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]});
    let chat = |format: Value| {
        let mut body = said("How warm is it?");
        body["response_format"] = format;
        ("/v1/chat/completions", body)
    };
    let responses = |format: Value| {
        (RESPONSES, json!({"model": "figaro", "input": "How warm is it?", "text": {"format": format}}))
    };
    // As some clients write it.
    let referred = json!({"$ref": "#/$defs/Warmth", "$defs": {"Warmth": schema}});
    for (path, body) in [
        chat(json!({"type": "json_object"})),
        responses(json!({"type": "json_object"})),
        chat(
            json!({"type": "json_schema", "json_schema": {"name": "warmth", "schema": schema, "strict": true}}),
        ),
        chat(
            json!({"type": "json_schema", "json_schema": {"name": "warmth", "schema": referred, "strict": true}}),
        ),
        responses(json!({"type": "json_schema", "name": "warmth", "schema": schema, "strict": true})),
    ] {
        let text = |answer: &Value| match path {
            RESPONSES => answer["output"][0]["content"][0]["text"].clone(),
            _ => answer["choices"][0]["message"]["content"].clone(),
        };
        world.script.push(ModelReply::text("It is warm."));
        world.script.push(ModelReply::text("{\"degrees\": 21}"));
        assert_eq!(text(&gateway.post(path, &body).ok().await), "{\"degrees\": 21}", "{body}");
        world.script.push(ModelReply::text("It is warm."));
        world.script.push(ModelReply::text("[21]"));
        let (status, error) = gateway.post(path, &body).refused().await;
        assert_eq!((status, &error["code"]), (502, &json!("misfit")), "{error}");
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn an_answer_that_was_cut_is_the_models_text_as_it_is() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for text in ["Once upon a", "```rust\nfn main() {"] {
        for streams in [false, true] {
            let mut body = said("Tell me a story.");
            body["max_tokens"] = 20.into();
            body["stream"] = streams.into();
            world.script.push(ModelReply::text(text).cut_by_length());
            let (_, answer) = gateway.chat(&body).text().await;
            let (got, finish) = if streams {
                let frames = frames(&answer);
                let finish = frames[frames.len() - 2].json()["choices"][0]["finish_reason"].clone();
                (words(&frames), finish)
            } else {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let choice = &answer["choices"][0];
                (choice["message"]["content"].as_str().unwrap().to_owned(), choice["finish_reason"].clone())
            };
            assert_eq!((got.as_str(), finish), (text, json!("length")), "streams: {streams}");
        }
        // Neither a form nor a second try would make it whole.
        let asked = world.model.requests().len();
        let mut body = said("Tell me as JSON.");
        body["response_format"] = json!({"type": "json_object"});
        world.script.push(ModelReply::text(text).cut_by_length());
        let held = gateway.chat(&body).ok().await;
        assert_eq!(held["choices"][0]["message"]["content"], text);
        assert_eq!(
            (&held["choices"][0]["finish_reason"], world.model.requests().len()),
            (&json!("length"), asked + 1)
        );
        world.script.push(ModelReply::text(text).cut_by_length());
        let response = gateway.post(RESPONSES, &json!({"model": "figaro", "input": "Tell me."})).ok().await;
        assert_eq!(response["output"][0]["content"][0]["text"], text);
        assert_eq!(response["incomplete_details"]["reason"], "max_output_tokens");
    }
}
