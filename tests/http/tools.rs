//! Tools over HTTP: those of the caller come back as calls, Figaro's own run here.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::tavily::{KEY as TAVILY, TavilyAnswer};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{Gateway, frames, said, words};

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

fn with_tools(mut body: Value) -> Value {
    body["tools"] = json!([{"type": "function", "function": {
        "name": "weather", "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }}]);
    body
}

/// The answer of a caller to the calls of a completion.
fn answered(mut body: Value, completion: &Value, result: &str) -> Value {
    let message = &completion["choices"][0]["message"];
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    for call in message["tool_calls"].as_array().unwrap() {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
    }
    body
}

impl World {
    async fn gateway_that_searches(&self) -> Gateway {
        let keys = format!("app:{}", crate::support::http::KEY);
        let search =
            [("TAVILY_API_KEY", TAVILY), ("TAVILY_BASE_URL", self.tavily.url()), ("API_KEYS", &keys)];
        self.gateway_with(&search).await
    }
}

#[tokio::test]
async fn a_call_of_the_callers_tool_comes_back_and_goes_on_with_its_result() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for result in ["It rains.", "{\"error\": \"no such city\"}"] {
        world.script.push(ModelReply::turn(vec![
            ReplyPart::Text("Let me look.".to_owned()),
            call("weather", json!({"city": "Riga"})),
        ]));
        let body = with_tools(said("Does it rain in Riga?"));
        let completion = gateway.chat(&body).ok().await;
        let choice = &completion["choices"][0];
        assert_eq!(
            (&choice["finish_reason"], &choice["message"]["content"]),
            (&json!("tool_calls"), &json!("Let me look."))
        );
        let made = &choice["message"]["tool_calls"][0];
        assert_eq!((&made["type"], &made["function"]["name"]), (&json!("function"), &json!("weather")));
        let arguments: Value = serde_json::from_str(made["function"]["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"city": "Riga"}));
        assert!(world.model.requests().pop().unwrap().tool_names().contains(&"weather"));
        world.script.push(ModelReply::text("So it is."));
        let goes_on = answered(body, &completion, result);
        assert_eq!(gateway.chat(&goes_on).words().await, "So it is.");
        let request = world.model.requests().pop().unwrap();
        let outputs: Vec<&Value> =
            request.input().iter().filter(|item| item["type"] == "function_call_output").collect();
        assert_eq!(outputs.len(), 1, "{outputs:?}");
        assert!(outputs[0]["output"].to_string().contains(if result.starts_with('{') {
            "no such city"
        } else {
            "rains"
        }));
    }
}

#[tokio::test]
async fn figaros_own_calls_run_here_and_are_not_made_again_when_the_caller_comes_back() {
    let world = World::new().await;
    let gateway = world.gateway_that_searches().await;
    for session in [None, Some("travel")] {
        world.tavily.push(TavilyAnswer::pages(&[("Riga", "https://rain.example/riga", "It rains.")]));
        world.script.push(ModelReply::turn(vec![
            call("web_search", json!({"query": "weather Riga"})),
            call("weather", json!({"city": "Riga"})),
        ]));
        let body = with_tools(said("Does it rain in Riga?"));
        let ask = |body: &Value| match session {
            Some(session) => gateway.chat(body).user("ann").session(session),
            None => gateway.chat(body).user("ann"),
        };
        let completion = ask(&body).ok().await;
        let calls = completion["choices"][0]["message"]["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), 1, "Figaro's own call is not the caller's: {calls:?}");
        world.script.push(ModelReply::text("Both say so."));
        assert_eq!(ask(&answered(body, &completion, "rain")).words().await, "Both say so.");
        let request = world.model.requests().pop().unwrap();
        let items = request.input();
        let count = |kind: &str| items.iter().filter(|item| item["type"] == kind).count();
        assert_eq!((count("function_call"), count("function_call_output")), (2, 2), "{items:?}");
        assert!(request.body.to_string().contains("rain.example"), "the result of the search is there");
        if session.is_some() {
            world.script.push(ModelReply::text("Yes."));
            ask(&said("And now?")).words().await;
            let request = world.model.requests().pop().unwrap().body.to_string();
            assert_eq!(request.matches("Does it rain in Riga?").count(), 1, "{request}");
            assert!(request.contains("Both say so."), "{request}");
        }
    }
}

#[tokio::test]
async fn what_tools_have_found_is_no_message_of_a_session() {
    let world = World::new().await;
    let gateway = world.gateway_that_searches().await;
    world.tavily.push(TavilyAnswer::pages(&[("Riga", "https://rain.example/riga", "It rains.")]));
    world.script.push(ModelReply::turn(vec![call("web_search", json!({"query": "weather Riga"}))]));
    world.script.push(ModelReply::text("It does."));
    let asks = gateway.says("Does it rain?").user("ann").session("travel");
    assert!(asks.words().await.starts_with("It does."));
    let messages = gateway.get("/v1/sessions/travel/messages").user("ann").ok().await;
    let shown = messages["data"].as_array().unwrap();
    let search = shown.iter().find(|message| message["tool"]["name"] == "web_search").unwrap();
    assert_eq!((&search["role"], &search["content"]), (&json!("tool"), &Value::Null));
    assert!(!messages.to_string().contains("rain.example"), "{messages}");
}

/// Nobody is there to press a button: the model is told so, and the turn has an answer.
#[tokio::test]
async fn nobody_is_asked_back_over_http() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    for session in [None, Some("travel")] {
        let question = json!({"question": "Which city?", "options": ["Riga", "Porto"]});
        world
            .script
            .push(ModelReply::turn(vec![call("action", json!({"type": "elicit", "payload": question}))]));
        world.script.push(ModelReply::text("I took Riga."));
        let request = gateway.says("Where shall I go?");
        let request = session.into_iter().fold(request, |request, name| request.session(name));
        assert_eq!(request.words().await, "I took Riga.");
        let asked = world.asked();
        let told = asked.last().unwrap().tool_results();
        assert!(told.iter().any(|(name, told)| *name == "action" && told.contains("false")), "{told:?}");
    }
    assert_eq!(world.bot_texts(crate::support::ANN), Vec::<String>::new(), "no owner is asked either");
}

#[tokio::test]
async fn events_are_sent_to_those_who_ask_for_them_and_to_no_others() {
    let world = World::new().await;
    let gateway = world.gateway_that_searches().await;
    for events in [false, true] {
        world.tavily.push(TavilyAnswer::pages(&[("Riga", "https://rain.example/riga", "It rains.")]));
        world.script.push(ModelReply::turn(vec![
            ReplyPart::Text("Let me see.".to_owned()),
            call("web_search", json!({"query": "weather Riga"})),
        ]));
        world.script.push(ModelReply::text("It rains, says https://rain.example/riga."));
        let mut body = said("Does it rain?");
        body["stream"] = true.into();
        let ask = gateway.chat(&body);
        let ask = if events { ask.header("x-events", "true") } else { ask };
        let (_, text) = ask.text().await;
        let frames = frames(&text);
        assert_eq!(words(&frames), "Let me see.\n\nIt rains, says https://rain.example/riga.");
        let mut names: Vec<&str> = frames.iter().filter_map(|frame| frame.name.as_deref()).collect();
        names.dedup();
        match events {
            false => assert!(names.is_empty(), "{names:?}"),
            true => assert_eq!(names, ["metadata", "progress", "tool_call", "done"]),
        }
    }
}

#[tokio::test]
async fn a_stream_ends_with_the_calls() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.script.push(ModelReply::turn(vec![
        call("weather", json!({"city": "Riga"})),
        call("weather", json!({"city": "Oslo"})),
    ]));
    let mut body = with_tools(said("Where does it rain?"));
    body["stream"] = true.into();
    let frames = gateway.chat(&body).frames().await;
    let chunks: Vec<Value> =
        frames.iter().filter(|frame| frame.data != "[DONE]").map(|frame| frame.json()).collect();
    let calls: Vec<&Value> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0)).collect();
    assert_eq!(calls.iter().map(|call| call["index"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn an_answer_is_held_to_the_form_that_is_asked_for() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let mut body = said("How warm is it?");
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "warmth", "schema": {
        "type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"], "additionalProperties": false}}});
    world.script.push(ModelReply::text("{\"degrees\": \"many\"}"));
    world.script.push(ModelReply::text("{\"degrees\": 21}"));
    assert_eq!(gateway.chat(&body).words().await, "{\"degrees\": 21}");
    body["response_format"]["json_schema"]["schema"] = json!({"type": "array"});
    assert_eq!(gateway.chat(&body).refused().await.0, 400);
}

#[tokio::test]
async fn the_responses_dialect_asks_the_same() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    world.script.push(ModelReply::text("It rains."));
    let body = json!({"model": "figaro", "input": "Does it rain?", "instructions": "You are a weather reporter of 1920."});
    let response = gateway.post("/v1/responses", &body).ok().await;
    assert_eq!((&response["object"], &response["status"]), (&json!("response"), &json!("completed")));
    assert_eq!(response["output"][0]["content"][0]["text"], "It rains.");
    assert!(world.model.requests().pop().unwrap().instructions().contains("of 1920"));
    let tools = json!([{"type": "function", "name": "weather", "description": "x", "parameters": {"type": "object", "properties": {}}}]);
    world.script.push(ModelReply::turn(vec![call("weather", json!({}))]));
    let mut body = json!({"model": "figaro", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Does it rain?"}]}], "tools": tools});
    let response = gateway.post("/v1/responses", &body).ok().await;
    let made = response["output"][0].clone();
    assert_eq!((&made["type"], &made["name"]), (&json!("function_call"), &json!("weather")));
    let input = body["input"].as_array_mut().unwrap();
    input.push(made.clone());
    input.push(json!({"type": "function_call_output", "call_id": made["call_id"], "output": "rain"}));
    body["stream"] = true.into();
    world.script.push(ModelReply::text("It does."));
    let frames = gateway.post("/v1/responses", &body).frames().await;
    let kinds: Vec<&str> = frames.iter().filter_map(|frame| frame.name.as_deref()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("response.created", "response.completed"));
    let done = frames.last().unwrap().json();
    assert_eq!(done["response"]["output"][0]["content"][0]["text"], "It does.");
    let refused = gateway
        .post("/v1/responses", &json!({"model": "figaro", "input": "x", "previous_response_id": "resp_1"}));
    assert_eq!(refused.refused().await.0, 400);
}

#[tokio::test]
async fn results_go_on_with_the_last_question_of_their_session_and_with_no_other() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let asks =
        |gateway: &Gateway, body: &Value, session: &str| gateway.chat(body).user("ann").session(session);
    let mut handed = Vec::new();
    for session in ["travel", "other"] {
        world.script.push(ModelReply::turn(vec![call("weather", json!({"city": "Riga"}))]));
        let body = with_tools(said("Does it rain in Riga?"));
        let completion = asks(&gateway, &body, session).ok().await;
        handed.push(answered(body, &completion, "rain"));
    }
    let [travel, other] = &handed[..] else { panic!("{handed:?}") };
    let asked = world.model.requests().len();
    let foreign = {
        let body = with_tools(said("Does it rain in Riga?"));
        let call =
            json!({"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
        let completion =
            json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [call]}}]});
        answered(body, &completion, "rain")
    };
    for (body, session) in [(other, "travel"), (&foreign, "travel"), (travel, "new")] {
        let (status, error) = asks(&gateway, body, session).refused().await;
        assert_eq!((status, &error["code"]), (400, &json!("no_open_calls")), "{session}: {error}");
        assert_eq!(error["param"], "messages");
    }
    assert_eq!(world.model.requests().len(), asked, "no model was asked");
    // The right ones go on, also when they come a second time, and after a restart.
    for again in [false, true] {
        world.script.push(ModelReply::text("It rains."));
        assert_eq!(asks(&gateway, travel, "travel").words().await, "It rains.", "again: {again}");
    }
    drop(gateway);
    let gateway = world.gateway().await;
    world.script.push(ModelReply::text("So it does."));
    assert_eq!(asks(&gateway, other, "other").words().await, "So it does.");
    // Another question was put since.
    world.script.push(ModelReply::text("Yes."));
    asks(&gateway, &said("Is it warm?"), "other").words().await;
    assert_eq!(asks(&gateway, other, "other").refused().await.0, 400);
    let messages = gateway.get("/v1/sessions/other/messages").user("ann").ok().await;
    let last = messages["data"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"], "Yes.", "nothing of it was replaced");
}

/// Put together as the official clients do it: by the place of each item.
#[tokio::test]
async fn the_items_of_a_streamed_response_have_places_of_their_own() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let tools =
        json!([{"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}]);
    for says in [None, Some("Let me look.")] {
        let mut parts: Vec<ReplyPart> =
            says.into_iter().map(|words| ReplyPart::Text(words.to_owned())).collect();
        parts.push(call("weather", json!({"city": "Riga"})));
        parts.push(call("weather", json!({"city": "Oslo"})));
        world.script.push(ModelReply::turn(parts));
        let body = json!({"model": "figaro", "input": "Where does it rain?", "tools": tools, "stream": true});
        let frames = gateway.post("/v1/responses", &body).frames().await;
        let events: Vec<Value> = frames.iter().map(|frame| frame.json()).collect();
        let mut output: Vec<Value> = Vec::new();
        for event in &events {
            let at = event["output_index"].as_u64().map(|at| at as usize);
            match event["type"].as_str().unwrap() {
                "response.output_item.added" => {
                    assert_eq!((at, &event["item"]["status"]), (Some(output.len()), &json!("in_progress")));
                    output.push(event["item"].clone());
                }
                "response.content_part.added" => {
                    output[at.unwrap()]["content"].as_array_mut().unwrap().push(event["part"].clone());
                }
                "response.output_text.delta" => {
                    add(&mut output[at.unwrap()]["content"][0]["text"], &event["delta"]);
                }
                "response.function_call_arguments.delta" => {
                    assert_eq!(event["item_id"], output[at.unwrap()]["id"]);
                    add(&mut output[at.unwrap()]["arguments"], &event["delta"]);
                }
                "response.output_item.done" => {
                    output[at.unwrap()]["status"] = "completed".into();
                    assert_eq!(output[at.unwrap()], event["item"]);
                }
                _ => {}
            }
        }
        let whole = &events.last().unwrap()["response"];
        assert_eq!((&json!(output), output.len()), (&whole["output"], 2 + usize::from(says.is_some())));
        assert_eq!(output.iter().filter(|item| item["type"] == "function_call").count(), 2);
        let numbers: Vec<u64> =
            events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    }
}

fn add(text: &mut Value, delta: &Value) {
    *text = format!("{}{}", text.as_str().unwrap(), delta.as_str().unwrap()).into();
}
