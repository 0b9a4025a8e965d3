//! Event stream of the page: first the current state, then each change.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::State as Extract;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use futures::stream::{self, Stream, StreamExt};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::super::shared::SharedTelegram;
use super::super::state::WebEvent;
use super::super::world::DemoInfo;
use super::hello::hello;

/// State of the event route.
#[derive(Clone)]
struct Demo {
    shared: SharedTelegram,
    about: Arc<DemoInfo>,
}

/// Returns the route of the event stream.
pub(super) fn routes(shared: SharedTelegram, about: &DemoInfo) -> Router {
    let demo = Demo { shared, about: Arc::new(about.clone()) };
    Router::new().route("/demo/events", get(events)).with_state(demo)
}

async fn events(Extract(demo): Extract<Demo>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let shared = demo.shared.clone();
    let (receiver, hello) = demo.subscribe();
    let stream = stream::unfold(Feed { demo, receiver, first: Some(hello) }, next_event)
        .map(|event| Ok(Event::default().event(event.name).data(event.data.to_string())))
        .take_until(async move { shared.stopping().await });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

impl Demo {
    /// Returns a receiver for new events, and an event with the current state. Both are taken under one lock, so the page
    /// misses nothing and sees nothing twice.
    fn subscribe(&self) -> (Receiver<WebEvent>, WebEvent) {
        self.shared.look(|state| (state.events.subscribe(), hello(state, &self.about)))
    }
}

/// Event stream of one page: first the current state, then each event.
struct Feed {
    demo: Demo,
    receiver: Receiver<WebEvent>,
    first: Option<WebEvent>,
}

async fn next_event(mut feed: Feed) -> Option<(WebEvent, Feed)> {
    if let Some(event) = feed.first.take() {
        return Some((event, feed));
    }
    match feed.receiver.recv().await {
        Ok(event) => Some((event, feed)),
        // A page that lags too far behind starts over.
        Err(RecvError::Lagged(_)) => {
            let Feed { demo, .. } = feed;
            let (receiver, hello) = demo.subscribe();
            Some((hello, Feed { demo, receiver, first: None }))
        }
        Err(RecvError::Closed) => None,
    }
}
