//! A completion as it is written: chunks of the dialect as server-sent events, and `[DONE]`.

use std::mem;

use axum::response::Response;
use axum::response::sse::Event;
use serde_json::{Value, json};

use super::super::events::{events, metadata};
use super::super::hub::{Follower, Turn};
use super::super::said::Said;
use super::super::sse::{self, Dialect};
use super::answer::{Frame, finish_reason, tool_call, usage};
use figaro_agent::delivery::OutsideEvent;

/// What else a stream has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// It ends with what was used.
    pub(crate) with_usage: bool,
    /// Events of the turn stand between its words.
    pub(crate) with_events: bool,
}

struct Writing {
    frame: Frame,
    wanted: Wanted,
    said: Said,
    /// What is still to be sent.
    queue: Vec<Event>,
}

/// The completion of a turn as a stream.
#[must_use]
pub(crate) fn chunks(frame: Frame, follower: Follower, wanted: Wanted) -> Response {
    let mut writing = Writing { frame, wanted, said: Said::default(), queue: Vec::new() };
    writing.chunk(json!({"role": "assistant", "content": ""}), None);
    if writing.wanted.with_events {
        writing.queue.push(sse::event("metadata", &metadata(follower.turn())));
    }
    sse::stream(mem::take(&mut writing.queue), follower, writing)
}

impl Dialect for Writing {
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event> {
        if let Some(words) = self.said.hear(told) {
            self.chunk(json!({"content": words}), None);
        } else if self.wanted.with_events {
            self.queue.extend(events(told).iter().map(|told| sse::event(told.name, &told.data)));
        }
        mem::take(&mut self.queue)
    }

    fn end(&mut self, turn: &Turn) -> Vec<Event> {
        self.close(turn);
        mem::take(&mut self.queue)
    }

    fn hears_after(&self) -> bool {
        self.wanted.with_events
    }

    fn last(&mut self) -> Vec<Event> {
        vec![sse::done()]
    }
}

impl Writing {
    fn chunk(&mut self, delta: Value, finish: Option<&str>) {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let mut chunk = self.frame.of("chat.completion.chunk", json!([choice]));
        if let Some(chunk) = chunk.as_object_mut().filter(|_| self.wanted.with_usage) {
            chunk.insert("usage".to_owned(), Value::Null);
        }
        self.queue.push(sse::data(&chunk));
    }

    /// What stands behind the last words.
    fn close(&mut self, turn: &Turn) {
        let closing = match self.said.ended(turn) {
            Ok(closing) => closing.clone(),
            Err(error) => {
                if self.wanted.with_events {
                    self.queue.push(sse::event("error", &error.body()));
                }
                self.queue.push(sse::data(&error.body()));
                return;
            }
        };
        let handed = turn.handover();
        let rest = self.said.rest();
        if !rest.trim().is_empty() && handed.is_none() {
            self.chunk(json!({"content": rest}), None);
        }
        if let Some(handed) = &handed {
            for (at, call) in handed.calls.iter().enumerate() {
                let mut call = tool_call(call);
                if let Some(call) = call.as_object_mut() {
                    call.insert("index".to_owned(), at.into());
                }
                self.chunk(json!({"tool_calls": [call]}), None);
            }
        }
        self.chunk(json!({}), Some(finish_reason(&closing, handed.is_some())));
        if self.wanted.with_usage {
            let mut chunk = self.frame.of("chat.completion.chunk", json!([]));
            if let Some(chunk) = chunk.as_object_mut() {
                chunk.insert("usage".to_owned(), usage(closing.usage));
            }
            self.queue.push(sse::data(&chunk));
        }
        if self.wanted.with_events {
            self.queue.push(sse::event("done", &json!({"usage": usage(closing.usage)})));
        }
    }
}
