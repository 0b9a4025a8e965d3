//! Completion as a stream: chunks as server-sent events, then `[DONE]`.

use std::mem;

use axum::response::Response;
use axum::response::sse::Event;
use serde_json::{Value, json};

use super::super::events::{events, metadata};
use super::super::hub::{Follower, HubTurn};
use super::super::said::TurnTranscript;
use super::super::sse::{self, TurnEventWriter};
use super::answer::{CompletionFrame, finish_reason, tool_call, usage};
use figaro_agent::delivery::OutsideEvent;

/// Optional content of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkOptions {
    /// `true` if the stream ends with the usage.
    pub(crate) with_usage: bool,
    /// `true` if events of the turn stand between its text.
    pub(crate) with_events: bool,
}

struct ChunkWriter {
    frame: CompletionFrame,
    wanted: ChunkOptions,
    said: TurnTranscript,
    queue: Vec<Event>,
}

/// Streams the completion of a turn.
#[must_use]
pub(crate) fn chunks(frame: CompletionFrame, follower: Follower, wanted: ChunkOptions) -> Response {
    let mut writing = ChunkWriter { frame, wanted, said: TurnTranscript::default(), queue: Vec::new() };
    writing.chunk(json!({"role": "assistant", "content": ""}), None);
    if writing.wanted.with_events {
        writing.queue.push(sse::event("metadata", &metadata(follower.turn())));
    }
    sse::stream(mem::take(&mut writing.queue), follower, writing)
}

impl TurnEventWriter for ChunkWriter {
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event> {
        if let Some(words) = self.said.hear(told) {
            self.chunk(json!({"content": words}), None);
        } else if self.wanted.with_events {
            self.queue.extend(events(told).iter().map(|told| sse::event(told.name, &told.data)));
        }
        mem::take(&mut self.queue)
    }

    fn end(&mut self, turn: &HubTurn) -> Vec<Event> {
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

impl ChunkWriter {
    fn chunk(&mut self, delta: Value, finish: Option<&str>) {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let mut chunk = self.frame.of("chat.completion.chunk", json!([choice]));
        if let Some(chunk) = chunk.as_object_mut().filter(|_| self.wanted.with_usage) {
            chunk.insert("usage".to_owned(), Value::Null);
        }
        self.queue.push(sse::data(&chunk));
    }

    /// Queues the chunks after the last text.
    fn close(&mut self, turn: &HubTurn) {
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
