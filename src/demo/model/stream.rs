//! A turn of the model as the events of a Responses API stream.

use serde_json::{Value, json};

use super::reply::{Part, Reply};
use super::request::ModelRequest;

/// One server-sent event; those that carry new text are paced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StreamEvent {
    pub(super) data: Value,
    pub(super) is_delta: bool,
}

impl StreamEvent {
    /// The event on the wire.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let name = self.data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {}\n\n", self.data).into_bytes()
    }
}

struct Writer {
    /// The number of the response; ids of its items are made from it.
    number: u64,
    events: Vec<StreamEvent>,
    output: Vec<Value>,
}

/// All events of an answer with these parts.
pub(super) fn events(
    request: &ModelRequest,
    reply: &Reply,
    parts: &[Part],
    (number, created_at): (u64, i64),
) -> Vec<StreamEvent> {
    let mut writer = Writer { number, events: Vec::new(), output: Vec::new() };
    let mut response = json!({
        "id": format!("resp_offline_{number}"), "object": "response", "created_at": created_at,
        "status": "in_progress", "error": null, "incomplete_details": null,
        "instructions": request.body["instructions"], "max_output_tokens": request.body["max_output_tokens"],
        "model": request.body["model"], "output": [], "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": null, "metadata": {},
    });
    writer.push("response.created", json!({"response": response}));
    writer.push("response.in_progress", json!({"response": response}));
    for part in parts {
        match part {
            Part::Text(text) => writer.text(text, reply.chunk_chars),
            Part::Call { name, arguments } => writer.call(name, arguments),
        }
    }
    response["status"] = json!("completed");
    response["output"] = json!(writer.output);
    response["usage"] = usage(request, reply, parts);
    writer.push("response.completed", json!({"response": response}));
    writer.events
}

impl Writer {
    fn push(&mut self, kind: &str, fields: Value) {
        let mut data = json!({"type": kind, "sequence_number": self.events.len()});
        if let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) {
            data.extend(fields);
        }
        self.events.push(StreamEvent { data, is_delta: kind == "response.output_text.delta" });
    }

    fn text(&mut self, text: &str, chunk_chars: usize) {
        let at = self.output.len();
        let id = format!("msg_offline_{}_{at}", self.number);
        let place = |mut fields: Value| {
            fields["item_id"] = json!(id);
            fields["output_index"] = json!(at);
            fields["content_index"] = json!(0);
            fields
        };
        let part =
            |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
        let mut item =
            json!({"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []});
        self.push("response.output_item.added", json!({"output_index": at, "item": item}));
        self.push("response.content_part.added", place(json!({"part": part("")})));
        for piece in pieces(text, chunk_chars) {
            self.push("response.output_text.delta", place(json!({"delta": piece, "logprobs": []})));
        }
        self.push("response.output_text.done", place(json!({"text": text, "logprobs": []})));
        self.push("response.content_part.done", place(json!({"part": part(text)})));
        item["status"] = json!("completed");
        item["content"] = json!([part(text)]);
        self.push("response.output_item.done", json!({"output_index": at, "item": item}));
        self.output.push(item);
    }

    fn call(&mut self, name: &str, arguments: &Value) {
        let at = self.output.len();
        let id = format!("fc_offline_{}_{at}", self.number);
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned);
        let mut item = json!({
            "id": id, "type": "function_call", "status": "in_progress", "arguments": "",
            "call_id": format!("call_offline_{}_{at}", self.number), "name": name,
        });
        self.push("response.output_item.added", json!({"output_index": at, "item": item}));
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
        self.push("response.output_item.done", json!({"output_index": at, "item": item}));
        self.output.push(item);
    }
}

/// The text in pieces of so many characters; 0 means word by word.
fn pieces(text: &str, chars: usize) -> Vec<String> {
    if chars == 0 {
        return text.split_inclusive(char::is_whitespace).map(ToOwned::to_owned).collect();
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|chunk| chunk.iter().collect()).collect()
}

fn usage(request: &ModelRequest, reply: &Reply, parts: &[Part]) -> Value {
    let written = parts.iter().map(|part| match part {
        Part::Text(text) => text.len(),
        Part::Call { arguments, .. } => arguments.to_string().len(),
    });
    let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
    let estimate = || (tokens(request.body.to_string().len()), tokens(written.sum()));
    let (input, output) = reply.usage.unwrap_or_else(estimate);
    json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input + output,
    })
}
