//! A completion as it is written: chunks of the dialect as server-sent events, and `[DONE]`.

use std::collections::VecDeque;
use std::time::Duration;

use axum::response::Response;
use serde_json::{Value, json};

use super::super::events::{Metadata, event};
use super::super::hub::Follower;
use super::super::said::Said;
use super::super::sse::{self, Frames};
use super::answer::{Frame, finish_reason, tool_call, usage};

/// So often something is sent where a turn says nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What else a stream has.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// It ends with what was used.
    pub with_usage: bool,
    /// Events of the turn stand between its words.
    pub with_events: bool,
    /// The session.
    pub session: Option<String>,
}

/// What is still to be sent of a stream.
struct Writing {
    frame: Frame,
    follower: Follower,
    wanted: Wanted,
    said: Said,
    queue: VecDeque<String>,
    is_over: bool,
}

/// The completion of a turn as a stream.
#[must_use]
pub(crate) fn chunks(frame: Frame, follower: Follower, wanted: Wanted) -> Response {
    let mut writing =
        Writing { frame, follower, wanted, said: Said::default(), queue: VecDeque::new(), is_over: false };
    writing.chunk(json!({"role": "assistant", "content": ""}), None);
    if writing.wanted.with_events {
        let turn = writing.follower.turn();
        let metadata = Metadata {
            turn: turn.id(),
            session: writing.wanted.session.clone(),
            agent: turn.agent().map(str::to_owned),
        };
        writing.queue.push_back(sse::event("metadata", &metadata.json()));
    }
    sse::stream(writing)
}

impl Frames for Writing {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(frame) = self.queue.pop_front() {
                return Some(frame);
            }
            if self.is_over {
                return None;
            }
            match tokio::time::timeout(KEEP_ALIVE, self.follower.next()).await {
                Err(_silent) => return Some(sse::comment("keep-alive")),
                Ok(Some(told)) => {
                    let words = self.said.hear(&told);
                    if let Some(words) = words {
                        self.chunk(json!({"content": words}), None);
                    } else if self.wanted.with_events
                        && let Some(told) = event(&told)
                    {
                        self.queue.push_back(sse::event(told.name, &told.data));
                    }
                }
                Ok(None) => self.end(),
            }
        }
    }
}

impl Writing {
    fn chunk(&mut self, delta: Value, finish: Option<&str>) {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let mut chunk = self.frame.of("chat.completion.chunk", json!([choice]));
        if let Some(chunk) = chunk.as_object_mut().filter(|_| self.wanted.with_usage) {
            chunk.insert("usage".to_owned(), Value::Null);
        }
        self.queue.push_back(sse::data(&chunk));
    }

    /// What stands behind the last words.
    fn end(&mut self) {
        self.is_over = true;
        let closing = match self.said.ended(self.follower.turn()) {
            Ok(closing) => closing.clone(),
            Err(error) => {
                if self.wanted.with_events {
                    self.queue.push_back(sse::event("error", &error.body()));
                }
                self.queue.push_back(sse::data(&error.body()));
                self.queue.push_back(sse::DONE.to_owned());
                return;
            }
        };
        let handed = self.follower.turn().handover();
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
            self.queue.push_back(sse::data(&chunk));
        }
        if self.wanted.with_events {
            self.queue.push_back(sse::event("done", &json!({"usage": usage(closing.usage)})));
        }
        self.queue.push_back(sse::DONE.to_owned());
    }
}
