//! Writes a turn as lines of an Ollama stream.

use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::super::dialect::{ModelTurn, WireEvent};
use super::super::reply::{ReplyFinish, ReplyPart};
use super::installed::Installed;

/// Returns the lines of an answer; the last one has the statistics. Calls are not split, as with Ollama.
pub(super) fn events(turn: &ModelTurn<'_>) -> Vec<WireEvent> {
    let mut events = Vec::new();
    let mut calls = 0;
    for part in turn.parts {
        match part {
            ReplyPart::Text(text) | ReplyPart::Refusal(text) => {
                events.extend(text_events(turn, "content", text))
            }
            ReplyPart::Thought(text) if thinks(turn) => events.extend(text_events(turn, "thinking", text)),
            ReplyPart::Thought(_) => {}
            ReplyPart::Call { name, arguments } if arguments.is_object() => {
                events.push(call(turn, name, arguments, calls));
                calls += 1;
            }
            ReplyPart::Call { arguments, .. } => {
                let why = format!("error parsing tool call: raw={arguments}, err=it is no JSON object");
                events.push(WireEvent { bytes: failure(&why), is_delta: false });
                return events;
            }
        }
    }
    events.push(WireEvent { bytes: end(turn), is_delta: false });
    events
}

/// Returns an error line, the last one of its stream.
pub(super) fn failure(message: &str) -> Vec<u8> {
    format!("{}\n", json!({"error": message})).into_bytes()
}

/// Returns `true` if the model supports thinking and the request does not disable it.
fn thinks(turn: &ModelTurn<'_>) -> bool {
    let can = Installed::of(turn.request.model()).is_some_and(|model| model.can("thinking"));
    can && turn.request.body["think"] != false
}

fn text_events(turn: &ModelTurn<'_>, field: &str, text: &str) -> Vec<WireEvent> {
    let line = |piece: String| {
        let mut message = json!({"role": "assistant", "content": ""});
        message[field] = json!(piece);
        WireEvent { bytes: line(turn, message, false, Value::Null), is_delta: true }
    };
    turn.pieces(text).into_iter().map(line).collect()
}

fn call(turn: &ModelTurn<'_>, name: &str, arguments: &Value, at: usize) -> WireEvent {
    let function = json!({"index": at, "name": name, "arguments": arguments});
    let call = json!({"id": format!("call_{}_{at}", turn.number), "function": function});
    let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
    WireEvent { bytes: line(turn, message, false, Value::Null), is_delta: false }
}

fn end(turn: &ModelTurn<'_>) -> Vec<u8> {
    let reason = if turn.reply.finish == ReplyFinish::Length { "length" } else { "stop" };
    let mut figures = json!({
        "done_reason": reason, "total_duration": 174_560_334, "load_duration": 101_397_084,
        "prompt_eval_duration": 13_074_791, "eval_duration": 52_479_709,
    });
    if let Some((input, output)) = turn.usage() {
        figures["prompt_eval_count"] = json!(input);
        figures["eval_count"] = json!(output);
    }
    line(turn, json!({"role": "assistant", "content": ""}), true, figures)
}

fn line(turn: &ModelTurn<'_>, message: Value, done: bool, figures: Value) -> Vec<u8> {
    let at = turn.at.to_rfc3339_opts(SecondsFormat::Nanos, true);
    let mut line = json!({"model": turn.request.model(), "created_at": at, "message": message, "done": done});
    if let (Some(line), Value::Object(figures)) = (line.as_object_mut(), figures) {
        line.extend(figures);
    }
    format!("{line}\n").into_bytes()
}
