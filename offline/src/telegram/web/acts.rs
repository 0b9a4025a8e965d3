//! Actions of the visitor on the page: send a text, press a button, stop a draft, edit, delete, react, vote.

use axum::extract::State as Extract;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::super::amend::{self, Act};
use super::super::people;
use super::super::say::Say;
use super::super::shared::SharedTelegram;

use super::refusal::{answer, refused};

/// Maximum length of a text, in UTF-16 units. Clients split longer ones.
const MAX_TEXT_UNITS: usize = 4096;

/// Returns the routes of the actions with a JSON body.
pub(super) fn routes(shared: SharedTelegram) -> Router {
    Router::new()
        .route("/demo/send", post(send))
        .route("/demo/press", post(press))
        .route("/demo/stop", post(stop))
        .route("/demo/edit", post(edit))
        .route("/demo/delete", post(delete))
        .route("/demo/react", post(react))
        .route("/demo/vote", post(vote))
        .with_state(shared)
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditBody {
    chat_id: i64,
    message_id: i64,
    from: i64,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteBody {
    chat_id: i64,
    message_id: i64,
    from: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReactBody {
    chat_id: i64,
    message_id: i64,
    from: i64,
    /// `None` removes the reaction.
    emoji: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoteBody {
    chat_id: i64,
    message_id: i64,
    from: i64,
    /// Indexes of the options; empty retracts the vote.
    options: Vec<usize>,
}

async fn send(Extract(shared): Extract<SharedTelegram>, Json(body): Json<SendBody>) -> Response {
    if let Some(fault) = fault_of_text(&body.text) {
        return refused(fault);
    }
    let say = Say {
        topic: body.message_thread_id,
        reply_to: body.reply_to,
        ..Say::new(body.from, body.chat_id, &body.text)
    };
    let now = shared.now().timestamp();
    let sent = shared.change(|state| people::send(state, say, now));
    answer(sent.map(|sent| json!({"message_id": sent.message_id})))
}

async fn press(Extract(shared): Extract<SharedTelegram>, Json(body): Json<PressBody>) -> Response {
    let PressBody { chat_id, message_id, from, data } = body;
    let pressed = shared.change(|state| people::press(state, from, chat_id, message_id, &data));
    answer(pressed.map(|id| json!({"callback_query_id": id})))
}

async fn stop(Extract(shared): Extract<SharedTelegram>, Json(body): Json<StopBody>) -> Response {
    let stopped = shared.change(|state| people::stop_draft(state, body.chat_id, body.draft_id));
    answer(stopped.map(|_| json!({})))
}

async fn edit(Extract(shared): Extract<SharedTelegram>, Json(body): Json<EditBody>) -> Response {
    if let Some(fault) = fault_of_text(&body.text) {
        return refused(fault);
    }
    let EditBody { chat_id: chat, message_id, from, text } = body;
    let now = shared.now().timestamp();
    let edited = shared.change(|state| amend::edit(state, Act { from, chat, message_id }, &text, now));
    answer(edited.map(|_| json!({})))
}

async fn delete(Extract(shared): Extract<SharedTelegram>, Json(body): Json<DeleteBody>) -> Response {
    let DeleteBody { chat_id: chat, message_id, from } = body;
    let deleted = shared.change(|state| amend::delete(state, Act { from, chat, message_id }));
    answer(deleted.map(|()| json!({})))
}

async fn react(Extract(shared): Extract<SharedTelegram>, Json(body): Json<ReactBody>) -> Response {
    let ReactBody { chat_id: chat, message_id, from, emoji } = body;
    let act = Act { from, chat, message_id };
    let now = shared.now().timestamp();
    let reacted = shared.change(|state| amend::react(state, act, emoji.as_deref(), now));
    answer(reacted.map(|()| json!({})))
}

async fn vote(Extract(shared): Extract<SharedTelegram>, Json(body): Json<VoteBody>) -> Response {
    let VoteBody { chat_id: chat, message_id, from, options } = body;
    let voted = shared.change(|state| amend::vote(state, Act { from, chat, message_id }, &options));
    answer(voted.map(|()| json!({})))
}

/// Returns the reason why Telegram refuses a text, if it does.
fn fault_of_text(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("there is no text in it");
    }
    (text.encode_utf16().count() > MAX_TEXT_UNITS).then_some("a message has at most 4,096 characters")
}
