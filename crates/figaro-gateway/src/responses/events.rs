//! Response as a stream of the dialect's events.

use std::mem;

use axum::response::Response;
use axum::response::sse::Event;
use serde_json::{Value, json};

use super::super::hub::{Follower, HubTurn};
use super::super::said::TurnTranscript;
use super::super::sse::{self, TurnEventWriter};
use super::answer::ResponseFrame;
use figaro_agent::delivery::OutsideEvent;
use figaro_domain::tool::Call;

struct ResponseEventWriter {
    frame: ResponseFrame,
    said: TurnTranscript,
    /// Text sent so far; `None` before the first.
    sent: Option<String>,
    queue: Vec<Event>,
    number: u64,
}

/// Streams the response of a turn.
pub(crate) fn events(frame: ResponseFrame, follower: Follower) -> Response {
    let mut writing = ResponseEventWriter {
        frame,
        said: TurnTranscript::default(),
        sent: None,
        queue: Vec::new(),
        number: 0,
    };
    let begun = writing.frame.of("in_progress", json!([]));
    writing.push("response.created", json!({"response": begun}));
    writing.push("response.in_progress", json!({"response": begun}));
    sse::stream(mem::take(&mut writing.queue), follower, writing)
}

impl TurnEventWriter for ResponseEventWriter {
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event> {
        if let Some(words) = self.said.hear(told) {
            self.words(&words);
        }
        mem::take(&mut self.queue)
    }

    fn end(&mut self, turn: &HubTurn) -> Vec<Event> {
        self.close(turn);
        mem::take(&mut self.queue)
    }
}

impl ResponseEventWriter {
    fn push(&mut self, kind: &str, mut data: Value) {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".to_owned(), kind.into());
            data.insert("sequence_number".to_owned(), self.number.into());
        }
        self.number += 1;
        self.queue.push(sse::event(kind, &data));
    }

    fn words(&mut self, words: &str) {
        let id = self.frame.message_id();
        if self.sent.is_none() {
            let item = self.frame.message("", "in_progress");
            self.push("response.output_item.added", json!({"output_index": 0, "item": item}));
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            self.push(
                "response.content_part.added",
                json!({"item_id": id, "output_index": 0, "content_index": 0, "part": part}),
            );
        }
        self.sent.get_or_insert_default().push_str(words);
        let delta =
            json!({"item_id": id, "output_index": 0, "content_index": 0, "delta": words, "logprobs": []});
        self.push("response.output_text.delta", delta);
    }

    fn close(&mut self, turn: &HubTurn) {
        let closing = match self.said.ended(turn) {
            Ok(closing) => closing.clone(),
            Err(error) => {
                let (code, message) = (error.code, error.message.clone());
                let mut failed = self.frame.of("failed", json!([]));
                if let Some(failed) = failed.as_object_mut() {
                    failed.insert("error".to_owned(), json!({"code": code, "message": message}));
                }
                return self.push("response.failed", json!({"response": failed}));
            }
        };
        let handed = turn.handover();
        let rest = self.said.rest();
        if !rest.trim().is_empty() && handed.is_none() {
            self.words(&rest);
        }
        let sent = self.sent.clone().unwrap_or_default();
        if self.sent.is_some() {
            self.end_of_message(&sent);
        }
        // Clients assemble the items by index, so each has the same index as in the whole response.
        for (index, call) in
            (usize::from(self.sent.is_some())..).zip(handed.iter().flat_map(|handed| &handed.calls))
        {
            self.call(index, call);
        }
        let response = self.frame.response(&closing, self.sent.as_deref(), handed.as_ref());
        let kind = if closing.is_cut { "response.incomplete" } else { "response.completed" };
        self.push(kind, json!({"response": response}));
    }

    fn call(&mut self, index: usize, call: &Call) {
        let begun = self.frame.call(&Call { arguments: String::new(), ..call.clone() }, "in_progress");
        let item = self.frame.call(call, "completed");
        let (id, arguments) = (&item["id"], &call.arguments);
        self.push("response.output_item.added", json!({"output_index": index, "item": begun}));
        let delta = json!({"item_id": id, "output_index": index, "delta": arguments});
        self.push("response.function_call_arguments.delta", delta);
        let done = json!({"item_id": id, "output_index": index, "name": call.name, "arguments": arguments});
        self.push("response.function_call_arguments.done", done);
        self.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn end_of_message(&mut self, sent: &str) {
        let id = self.frame.message_id();
        let place = |more: Value| {
            let mut data = json!({"item_id": id, "output_index": 0, "content_index": 0});
            if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
                data.extend(more);
            }
            data
        };
        self.push("response.output_text.done", place(json!({"text": sent, "logprobs": []})));
        let part = json!({"type": "output_text", "text": sent, "annotations": []});
        self.push("response.content_part.done", place(json!({"part": part})));
        let item = self.frame.message(sent, "completed");
        self.push("response.output_item.done", json!({"output_index": 0, "item": item}));
    }
}
