//! The demo page's side of the offline Telegram: the page, its stream of events, and what its visitor does.
//! Answers only pages of this machine: `Host` must be loopback and `Origin`, where sent, the same server.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Request, State as Extract};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::stream::{self, Stream, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::people;
use super::possible::Impossible;
use super::say::Say;
use super::shared::Shared;
use super::state::{self, State, WebEvent};
use super::world::{Chat, ChatKind};

/// Messages of a chat a page is told of when it opens.
const MAX_HISTORY: usize = 200;

/// What the routes of the page hold.
#[derive(Clone)]
struct Demo {
    shared: Shared,
    /// What the page says of the model that answers.
    notice: Arc<str>,
}

/// The page at `/` and everything it uses under `/demo`.
pub(super) fn routes(shared: Shared, page_html: &'static str, notice: &str) -> Router {
    Router::new()
        .route("/", get(move || async move { Html(page_html) }))
        .route("/demo/events", get(events))
        .route("/demo/send", post(send))
        .route("/demo/press", post(press))
        .route("/demo/stop", post(stop))
        .layer(middleware::from_fn(only_this_machine))
        .with_state(Demo { shared, notice: notice.into() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendBody {
    chat_id: i64,
    message_thread_id: Option<i64>,
    from: i64,
    text: String,
    reply_to: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PressBody {
    chat_id: i64,
    message_id: i64,
    from: i64,
    data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopBody {
    chat_id: i64,
    draft_id: i64,
}

async fn send(Extract(demo): Extract<Demo>, Json(body): Json<SendBody>) -> Response {
    if body.text.trim().is_empty() || body.text.encode_utf16().count() > 4096 {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "a message has 1 to 4096 characters"})))
            .into_response();
    }
    let say = Say {
        topic: body.message_thread_id,
        reply_to: body.reply_to,
        ..Say::new(body.from, body.chat_id, &body.text)
    };
    let now = demo.shared.now().timestamp();
    let sent = demo.shared.change(|state| people::send(state, say, now));
    answer(sent.map(|sent| json!({"message_id": sent.message_id})))
}

async fn press(Extract(demo): Extract<Demo>, Json(body): Json<PressBody>) -> Response {
    let PressBody { chat_id, message_id, from, data } = body;
    let pressed = demo.shared.change(|state| people::press(state, from, chat_id, message_id, &data));
    answer(pressed.map(|id| json!({"callback_query_id": id})))
}

async fn stop(Extract(demo): Extract<Demo>, Json(body): Json<StopBody>) -> Response {
    let stopped = demo.shared.change(|state| people::stop_draft(state, body.chat_id, body.draft_id));
    answer(stopped.map(|_| json!({})))
}

fn answer(result: Result<Value, Impossible>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(why) => (StatusCode::BAD_REQUEST, Json(json!({"error": why.to_string()}))).into_response(),
    }
}

async fn only_this_machine(request: Request, next: Next) -> Response {
    if is_local(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "Open the demo at its own address on this machine.").into_response()
}

fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let Some(host) = text(header::HOST) else {
        return false;
    };
    let name = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| if port.chars().all(|c| c.is_ascii_digit()) { name } else { host });
    let loopback = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
    loopback && text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == Some(host))
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
    /// The events from now on, and the one that says what there is. Under one lock: the page misses nothing and sees
    /// nothing twice.
    fn subscribe(&self) -> (Receiver<WebEvent>, WebEvent) {
        self.shared.look(|state| (state.events.subscribe(), hello(state, &self.notice)))
    }
}

/// What a page is sent: first what there is, then each event.
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
        // A page that fell behind starts over.
        Err(RecvError::Lagged(_)) => {
            let Feed { demo, .. } = feed;
            let (receiver, hello) = demo.subscribe();
            Some((hello, Feed { demo, receiver, first: None }))
        }
        Err(RecvError::Closed) => None,
    }
}

fn hello(state: &State, notice: &str) -> WebEvent {
    let world = &state.world;
    let me = state.demo_user.and_then(|id| world.people.get(&id));
    let member = |id: &i64| {
        let person = world.people.get(id)?;
        Some(json!({
            "id": id, "first_name": person.first_name, "username": person.username,
            "is_me": Some(*id) == state.demo_user,
        }))
    };
    // The private chat first, as the newest of a list would stand: groups have negative ids.
    let chats: Vec<Value> = world
        .chats
        .values()
        .rev()
        .filter(|c| c.migrated_to.is_none())
        .map(|chat| {
            let topic = |(id, name): (&i64, &String)| json!({"message_thread_id": id, "name": name});
            let title = if chat.kind == ChatKind::Private { &world.bot.first_name } else { &chat.title };
            json!({
                "id": chat.id, "type": chat.kind.name(), "title": title, "is_forum": chat.is_forum,
                "topics": chat.topics.iter().map(topic).collect::<Vec<_>>(),
                "members": chat.members.keys().filter_map(member).collect::<Vec<_>>(),
            })
        })
        .collect();
    let recent = |c: &Chat| c.messages.values().rev().take(MAX_HISTORY).rev().cloned().collect::<Vec<_>>();
    let messages: Vec<Value> = world.chats.values().flat_map(recent).collect();
    let reacted = |c: &Chat| {
        let of = |(id, reactions): (&i64, &Vec<Value>)| state::reaction_event(c.id, *id, reactions);
        c.reactions.iter().map(of).collect::<Vec<_>>()
    };
    let reactions: Vec<Value> = world.chats.values().flat_map(reacted).collect();
    let data = json!({
        "notice": notice, "reactions": reactions,
        "bot": {"id": world.bot.id, "first_name": world.bot.first_name, "username": world.bot.username},
        "me": me.map(|p| json!({"id": p.id, "first_name": p.first_name})),
        "chats": chats, "messages": messages, "commands": state.default_commands(),
    });
    WebEvent { name: "hello", data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_page_is_answered() {
        let cases = [
            (Some("127.0.0.1:8080"), None, true),
            (Some("localhost:8080"), Some("http://localhost:8080"), true),
            (Some("[::1]:8080"), Some("http://[::1]:8080"), true),
            (Some("localhost"), None, true),
            (Some("127.0.0.1:8080"), Some("http://127.0.0.1:3000"), false),
            (Some("127.0.0.1:8080"), Some("https://evil.example"), false),
            (Some("127.0.0.1:8080"), Some("null"), false),
            (Some("evil.example:8080"), Some("http://evil.example:8080"), false),
            (None, None, false),
        ];
        for (host, origin, wanted) in cases {
            let mut headers = HeaderMap::new();
            host.map(|h| headers.insert(header::HOST, h.parse().unwrap()));
            origin.map(|o| headers.insert(header::ORIGIN, o.parse().unwrap()));
            assert_eq!(is_local(&headers), wanted, "{host:?} {origin:?}");
        }
    }
}
