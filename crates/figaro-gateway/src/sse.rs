//! Server-sent events: what a turn tells, written in one of the dialects.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::Value;

use super::hub::{Follower, Turn};
use figaro_agent::delivery::OutsideEvent;

/// Writes what a turn tells as events.
pub(super) trait Dialect: Send + 'static {
    /// The events of one thing that the turn has told.
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event>;

    /// The events of a turn that is over.
    fn end(&mut self, turn: &Turn) -> Vec<Event>;

    /// Whether it tells what comes of a turn that is over, such as what is remembered of it.
    fn hears_after(&self) -> bool {
        false
    }

    /// What stands at the end of all.
    fn last(&mut self) -> Vec<Event> {
        Vec::new()
    }
}

/// The end of a stream in OpenAI's dialect.
pub(super) fn done() -> Event {
    Event::default().data("[DONE]")
}

/// An event without a name.
pub(super) fn data(data: &Value) -> Event {
    Event::default().data(data.to_string())
}

/// An event with a name.
pub(super) fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

/// The same with a number, by which a client that was cut off says what it has seen.
pub(super) fn numbered(number: usize, name: &str, data: &Value) -> Event {
    Event::default().id(number.to_string()).event(name).data(data.to_string())
}

/// The answer that sends these events, and then what the follower hears.
pub(super) fn stream(first: Vec<Event>, follower: Follower, dialect: impl Dialect) -> Response {
    let told = stream::unfold(Some((follower, dialect, false)), async |following| {
        let (mut follower, mut dialect, is_over) = following?;
        let told = match is_over {
            false => follower.next().await,
            true if dialect.hears_after() => follower.next_after().await,
            true => None,
        };
        Some(match told {
            Some(told) => (dialect.hear(&told), Some((follower, dialect, is_over))),
            None if is_over => (dialect.last(), None),
            None => (dialect.end(follower.turn()), Some((follower, dialect, true))),
        })
    });
    let events = stream::iter(first).chain(told.flat_map(stream::iter)).map(Ok::<_, Infallible>);
    // Proxies that gather answers would hold the words back.
    let unbuffered = [("x-accel-buffering", "no")];
    (unbuffered, Sse::new(events).keep_alive(KeepAlive::new().text("keep-alive"))).into_response()
}
