//! Model call that removes prompt markers which some models repeat in their text.

use super::Setup;
use figaro_domain::usage::Usage;
use figaro_ledger::MeteredStream;
use figaro_prompts::Echo;
use figaro_provider::{Event, Item, ProviderError, Request};

type NextEvent = Option<Result<Event, ProviderError>>;

/// Model call in progress, without repeated prompt markers.
pub(super) struct EchoFilter {
    call: MeteredStream,
    echo: Echo,
    question: String,
    /// Next item, delivered after text that was held back.
    waiting: Option<NextEvent>,
}

impl EchoFilter {
    /// Returns the text of the last question in a request.
    pub(super) fn question(request: &Request) -> String {
        let asked = request.items.iter().rev().find_map(|item| match item {
            Item::User { text, .. } => Some(text.clone()),
            Item::Assistant { .. } | Item::ToolResult { .. } => None,
        });
        asked.unwrap_or_default()
    }

    pub(super) fn new(call: MeteredStream, question: String) -> Self {
        Self { call, echo: Echo::of(&question), question, waiting: None }
    }

    /// Returns the estimated usage if the rest of the answer is not read.
    pub(super) fn so_far(&self) -> Usage {
        self.call.so_far()
    }

    /// Returns the next event of the answer; `None` at its end.
    pub(super) async fn next(&mut self) -> NextEvent {
        loop {
            if let Some(next) = self.waiting.take() {
                return next;
            }
            let next = self.call.next().await;
            let told = match &next {
                Some(Ok(Event::TextDelta(text))) => {
                    let told = self.echo.push(text);
                    if told.is_empty() {
                        continue;
                    }
                    return Some(Ok(Event::TextDelta(told)));
                }
                Some(Ok(Event::Reasoned)) => {
                    self.echo = Echo::of(&self.question);
                    return next;
                }
                Some(Ok(Event::ToolCall(_) | Event::Completed { .. }) | Err(_)) | None => self.echo.end(),
                Some(Ok(_)) => return next,
            };
            if told.is_empty() {
                return next;
            }
            self.waiting = Some(next);
            return Some(Ok(Event::TextDelta(told)));
        }
    }
}

/// Passes the text of an event to the sink.
pub(super) fn show(event: &Event, setup: &Setup) {
    match event {
        Event::TextDelta(text) => {
            if !setup.sink.is_seen() || setup.control.commit() {
                setup.sink.write(text.clone());
            }
        }
        Event::Reasoned => setup.sink.end_pass(),
        Event::Answering(_)
        | Event::Lost(_)
        | Event::ToolCall(_)
        | Event::Searched
        | Event::Found(_)
        | Event::Source(_)
        | Event::Unseen(_)
        | Event::Private(_)
        | Event::Completed { .. } => {}
    }
}
