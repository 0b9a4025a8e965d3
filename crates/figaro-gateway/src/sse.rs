//! Server-sent events: a turn, written in one of the dialects.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::Value;

use super::hub::{Follower, HubTurn};
use figaro_agent::delivery::OutsideEvent;

/// Writes a turn as server-sent events.
pub(super) trait TurnEventWriter: Send + 'static {
    /// Returns the events for one message of the turn.
    fn hear(&mut self, told: &OutsideEvent) -> Vec<Event>;

    /// Returns the events that end a turn.
    fn end(&mut self, turn: &HubTurn) -> Vec<Event>;

    /// Returns `true` if events after the end of the turn are written too, such as new memories.
    fn hears_after(&self) -> bool {
        false
    }

    /// Returns the final events of the stream.
    fn last(&mut self) -> Vec<Event> {
        Vec::new()
    }
}

/// Returns the end mark of a stream in OpenAI's dialect.
pub(super) fn done() -> Event {
    Event::default().data("[DONE]")
}

/// Returns an event without a name.
pub(super) fn data(data: &Value) -> Event {
    Event::default().data(data.to_string())
}

/// Returns an event with a name.
pub(super) fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

/// Returns a numbered event with a name. A client that was cut off reports the last number it has seen.
pub(super) fn numbered(number: usize, name: &str, data: &Value) -> Event {
    Event::default().id(number.to_string()).event(name).data(data.to_string())
}

/// Builds a response that sends the `first` events, then those of the follower.
pub(super) fn stream(first: Vec<Event>, follower: Follower, dialect: impl TurnEventWriter) -> Response {
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
    // Buffering proxies would hold the text back.
    let unbuffered = [("x-accel-buffering", "no")];
    (unbuffered, Sse::new(events).keep_alive(KeepAlive::new().text("keep-alive"))).into_response()
}
