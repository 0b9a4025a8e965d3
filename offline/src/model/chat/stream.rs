//! Writes a turn as chunks of a Chat Completions stream.

#[cfg(feature = "testing")]
use axum::http::StatusCode;
use serde_json::{Value, json};

#[cfg(feature = "testing")]
use super::super::dialect::Service;
use super::super::dialect::{ModelTurn, WireEvent, arguments_text, pieces};
#[cfg(feature = "testing")]
use super::super::openai::OpenAi;
use super::super::reply::{ReplyFinish, ReplyPart};
use super::message::reasoning_field;

struct ChatStreamWriter<'a> {
    turn: &'a ModelTurn<'a>,
    events: Vec<WireEvent>,
    calls: usize,
}

/// Returns the chunks of an answer, up to `[DONE]`.
pub(super) fn events(turn: &ModelTurn<'_>) -> Vec<WireEvent> {
    let mut writer = ChatStreamWriter { turn, events: Vec::new(), calls: 0 };
    writer.delta(json!({"role": "assistant", "content": ""}), false);
    for part in turn.parts {
        match part {
            ReplyPart::Text(text) => writer.text("content", text),
            ReplyPart::Refusal(text) => writer.text("refusal", text),
            ReplyPart::Thought(text) => writer.text(reasoning_field(turn.request.model()), text),
            ReplyPart::Call { name, arguments } => writer.call(name, arguments),
        }
    }
    writer.citations();
    writer.end();
    writer.events
}

/// Returns an error event, the last one of its stream.
#[cfg(feature = "testing")]
pub(super) fn failure(message: &str) -> Vec<u8> {
    line(&OpenAi.error(StatusCode::INTERNAL_SERVER_ERROR, message, None))
}

fn line(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

impl ChatStreamWriter<'_> {
    fn chunk(&mut self, choices: Value, usage: Option<Value>, is_delta: bool) {
        let turn = self.turn;
        let mut data = json!({
            "id": format!("chatcmpl-offline-{}", turn.number), "object": "chat.completion.chunk",
            "created": turn.at.timestamp(), "model": turn.request.model(), "choices": choices,
        });
        if self.counts() {
            data["usage"] = usage.unwrap_or_default();
        }
        self.events.push(WireEvent { bytes: line(&data), is_delta });
    }

    fn delta(&mut self, delta: Value, is_delta: bool) {
        self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None, is_delta);
    }

    fn text(&mut self, field: &str, text: &str) {
        for piece in self.turn.pieces(text) {
            self.delta(json!({field: piece}), true);
        }
    }

    /// Writes the name first, then the arguments in fragments.
    fn call(&mut self, name: &str, arguments: &Value) {
        let at = self.calls;
        self.calls += 1;
        let id = format!("call_offline_{}_{at}", self.turn.number);
        let function = json!({"name": name, "arguments": ""});
        self.delta(
            json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": function}]}),
            false,
        );
        for piece in pieces(&arguments_text(arguments), 16) {
            self.delta(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}), false);
        }
    }

    fn citations(&mut self) {
        let cited = self.turn.sources().iter().map(|source| {
            let place = json!({"start_index": 0, "end_index": 0, "title": source.title, "url": source.url});
            json!({"type": "url_citation", "url_citation": place})
        });
        let annotations: Vec<Value> = cited.collect();
        if !annotations.is_empty() {
            self.delta(json!({"annotations": annotations}), false);
        }
    }

    fn end(&mut self) {
        let finish = match &self.turn.reply.finish {
            ReplyFinish::Length => "length",
            ReplyFinish::Blocked(_) => "content_filter",
            ReplyFinish::Stop if self.calls > 0 => "tool_calls",
            ReplyFinish::Stop => "stop",
        };
        self.chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), None, false);
        if let (true, Some((input, output))) = (self.counts(), self.turn.usage()) {
            let usage = json!({
                "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0},
            });
            self.chunk(json!([]), Some(usage), false);
        }
        self.events.push(WireEvent { bytes: b"data: [DONE]\n\n".to_vec(), is_delta: false });
    }

    /// Returns `true` if the request asks for token usage.
    fn counts(&self) -> bool {
        self.turn.request.body["stream_options"]["include_usage"] == true
    }
}
