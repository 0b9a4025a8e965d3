//! Writes a turn as events of a Responses API stream.

use serde_json::{Value, json};

use super::super::dialect::{ModelTurn, WireEvent, arguments_text, pieces};
use super::super::openai;
use super::super::reply::{HostedPage, ReplyFinish, ReplyPart};

struct ResponsesStreamWriter<'a> {
    turn: &'a ModelTurn<'a>,
    events: Vec<WireEvent>,
    output: Vec<Value>,
    /// Sources of the next text.
    sources: &'a [HostedPage],
}

/// Returns the events of an answer, from `response.created` to its end.
pub(super) fn events(turn: &ModelTurn<'_>) -> Vec<WireEvent> {
    let mut writer =
        ResponsesStreamWriter { turn, events: Vec::new(), output: Vec::new(), sources: turn.sources() };
    let mut response = response(turn);
    writer.push("response.created", json!({"response": response}));
    writer.push("response.in_progress", json!({"response": response}));
    if !writer.sources.is_empty() {
        writer.search();
    }
    for part in turn.parts {
        match part {
            ReplyPart::Text(text) => writer.message(text, false),
            ReplyPart::Refusal(text) => writer.message(text, true),
            ReplyPart::Thought(_) if openai::reasons(turn.request.model()) => writer.thought(),
            ReplyPart::Thought(_) => {}
            ReplyPart::Call { name, arguments } => writer.call(name, arguments),
        }
    }
    let (kind, status, reason) = match &turn.reply.finish {
        ReplyFinish::Stop => ("response.completed", "completed", None),
        ReplyFinish::Length => ("response.incomplete", "incomplete", Some("max_output_tokens")),
        ReplyFinish::Blocked(_) => ("response.incomplete", "incomplete", Some("content_filter")),
    };
    if let Some(reason) = reason {
        response["incomplete_details"] = json!({"reason": reason});
        writer.output.last_mut().into_iter().for_each(|last| last["status"] = json!("incomplete"));
    }
    response["status"] = json!(status);
    response["output"] = json!(writer.output);
    response["usage"] = usage(turn);
    writer.push(kind, json!({"response": response}));
    writer.events
}

/// Returns an error event that follows `sent` events.
#[cfg(feature = "testing")]
pub(super) fn failure(turn: &ModelTurn<'_>, sent: usize, message: &str) -> Vec<u8> {
    let mut response = response(turn);
    response["status"] = json!("failed");
    response["error"] = json!({"code": "server_error", "message": message});
    let error = json!({"code": "server_error", "message": message, "param": null});
    let mut bytes = event("error", sent, error);
    bytes.extend(event("response.failed", sent + 1, json!({"response": response})));
    bytes
}

fn response(turn: &ModelTurn<'_>) -> Value {
    let body = &turn.request.body;
    json!({
        "id": format!("resp_offline_{}", turn.number), "object": "response", "created_at": turn.at.timestamp(),
        "status": "in_progress", "error": null, "incomplete_details": null,
        "instructions": body["instructions"], "max_output_tokens": body["max_output_tokens"],
        "model": body["model"], "output": [], "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": null, "metadata": {},
    })
}

fn event(kind: &str, number: usize, fields: Value) -> Vec<u8> {
    let mut data = json!({"type": kind, "sequence_number": number});
    if let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) {
        data.extend(fields);
    }
    format!("event: {kind}\ndata: {data}\n\n").into_bytes()
}

impl ResponsesStreamWriter<'_> {
    fn push(&mut self, kind: &str, fields: Value) {
        let is_delta = matches!(kind, "response.output_text.delta" | "response.refusal.delta");
        self.events.push(WireEvent { bytes: event(kind, self.events.len(), fields), is_delta });
    }

    /// Returns the position and the id of the next item.
    fn next(&self, prefix: &str) -> (usize, String) {
        (self.output.len(), format!("{prefix}_offline_{}_{}", self.turn.number, self.output.len()))
    }

    fn added(&mut self, item: &Value) {
        self.push("response.output_item.added", json!({"output_index": self.output.len(), "item": item}));
    }

    fn done(&mut self, item: Value) {
        self.push("response.output_item.done", json!({"output_index": self.output.len(), "item": item}));
        self.output.push(item);
    }

    fn search(&mut self) {
        let (at, id) = self.next("ws");
        let query = self.turn.query();
        let mut item = json!({"id": id, "type": "web_search_call", "status": "in_progress"});
        self.added(&item);
        for state in ["in_progress", "searching", "completed"] {
            let kind = format!("response.web_search_call.{state}");
            self.push(&kind, json!({"item_id": id, "output_index": at}));
        }
        item["status"] = json!("completed");
        item["action"] = json!({"type": "search", "query": query, "queries": [query]});
        let included = self.turn.request.body["include"].as_array().cloned().unwrap_or_default();
        if included.contains(&json!("web_search_call.action.sources")) {
            let source = |page: &HostedPage| json!({"type": "url", "url": page.url});
            item["action"]["sources"] = self.turn.sources().iter().map(source).collect();
        }
        self.done(item);
    }

    fn message(&mut self, text: &str, is_refusal: bool) {
        let (at, id) = self.next("msg");
        let kind = if is_refusal { "refusal" } else { "output_text" };
        let place = |name: &str, value: Value| {
            let mut fields = json!({"item_id": id, "output_index": at, "content_index": 0});
            fields[name] = value;
            if !is_refusal && matches!(name, "delta" | "text") {
                fields["logprobs"] = json!([]);
            }
            fields
        };
        let part = |text: &str, annotations: &[Value]| match is_refusal {
            true => json!({"type": kind, "refusal": text}),
            false => json!({"type": kind, "text": text, "annotations": annotations, "logprobs": []}),
        };
        let mut item =
            json!({"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []});
        self.added(&item);
        self.push("response.content_part.added", place("part", part("", &[])));
        for piece in self.turn.pieces(text) {
            self.push(&format!("response.{kind}.delta"), place("delta", json!(piece)));
        }
        let sources = std::mem::take(&mut self.sources);
        let annotations: Vec<Value> = sources.iter().map(|source| citation(text, source)).collect();
        for (index, annotation) in annotations.iter().enumerate() {
            let mut fields = place("annotation", annotation.clone());
            fields["annotation_index"] = json!(index);
            self.push("response.output_text.annotation.added", fields);
        }
        let field = if is_refusal { "refusal" } else { "text" };
        self.push(&format!("response.{kind}.done"), place(field, json!(text)));
        self.push("response.content_part.done", place("part", part(text, &annotations)));
        item["status"] = json!("completed");
        item["content"] = json!([part(text, &annotations)]);
        self.done(item);
    }

    /// Writes a reasoning item. Its encrypted content is included only on request.
    fn thought(&mut self) {
        let (_, id) = self.next("rs");
        let include = self.turn.request.body["include"].as_array();
        let mut item = json!({"id": id, "type": "reasoning", "summary": []});
        self.added(&item);
        if include.is_some_and(|list| list.iter().any(|name| name == "reasoning.encrypted_content")) {
            item["encrypted_content"] = json!(format!("sealed-{id}"));
        }
        self.done(item);
    }

    fn call(&mut self, name: &str, arguments: &Value) {
        let (at, id) = self.next("fc");
        let arguments = arguments_text(arguments);
        let given = self.turn.reply.call_id().filter(|_| at == 0);
        let call_id = given.unwrap_or_else(|| format!("call_offline_{}_{at}", self.turn.number));
        let mut item = json!({
            "id": id, "type": "function_call", "status": "in_progress", "arguments": "", "call_id": call_id, "name": name,
        });
        self.added(&item);
        for piece in pieces(&arguments, 16) {
            self.push(
                "response.function_call_arguments.delta",
                json!({"item_id": id, "output_index": at, "delta": piece}),
            );
        }
        self.push(
            "response.function_call_arguments.done",
            json!({"item_id": id, "output_index": at, "name": name, "arguments": arguments}),
        );
        item["status"] = json!("completed");
        item["arguments"] = json!(arguments);
        self.done(item);
    }
}

/// Returns the citation of a page. It covers the page's URL in the text, or else the whole text.
fn citation(text: &str, source: &HostedPage) -> Value {
    let count = |text: &str| text.chars().count();
    let (start, end) = text.find(&source.url).map_or((0, count(text)), |at| {
        let start = count(&text[..at]);
        (start, start + count(&source.url))
    });
    json!({
        "type": "url_citation", "start_index": start, "end_index": end, "title": source.title, "url": source.url,
    })
}

fn usage(turn: &ModelTurn<'_>) -> Value {
    turn.usage().map_or(Value::Null, |(input, output)| {
        json!({
            "input_tokens": input, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input + output,
        })
    })
}
