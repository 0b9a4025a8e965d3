//! `POST /v1/chat/completions`, in the dialect of OpenAI.

mod answer;
mod chunks;
mod content;
mod legacy;
mod messages;
mod options;
mod request;
mod tools;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

pub(super) use self::answer::usage;
use self::answer::{Frame, completion};
use self::chunks::chunks;
pub(super) use self::legacy::bound;
pub(super) use self::messages::{ChatMessage, Function, Placed, Talk, ToolCall, talk};
pub(super) use self::options::{Choice, form};
pub(super) use self::request::ChatRequest;
pub(super) use self::request::{Asks, Extras, Foreign, Sampling, put};
pub(super) use self::tools::tools;
use super::asking::ask;
use super::body::{self, Body};
use super::entry::Entry;
use super::error::ApiError;
use super::gateway::Gateway;
use super::hub::Follower;
use super::said::Said;

/// Answers a question.
///
/// # Errors
/// Why there is no answer.
pub(super) async fn completions(
    State(gateway): State<Gateway>,
    entry: Entry,
    request: Request,
) -> Result<Response, ApiError> {
    let Body { said: request, bytes } = body::read::<ChatRequest>(&entry.caller.account, request).await?;
    let (model, streams) = (request.model.clone(), request.stream.unwrap_or_default());
    let with_usage = request.wants_usage();
    let put = request.put(&gateway, &entry)?;
    let with_events = entry.wishes.events;
    let mut follower = ask(&gateway, entry, put, bytes).await?;
    let frame = Frame::new(&follower, model, gateway.clock.now());
    let head = Head::of(&follower);
    if !streams {
        let said = all(&mut follower).await;
        let body = completion(&frame, &follower, &said).map_err(|error| gateway.dated(error))?;
        return Ok(head.with(Json(body).into_response()));
    }
    let told = chunks::Wanted { with_usage, with_events };
    Ok(head.with(chunks(frame, follower, told)))
}

/// What a turn says until it is over.
pub(super) async fn all(follower: &mut Follower) -> Said {
    let mut said = Said::default();
    while let Some(told) = follower.next().await {
        said.hear(&told);
    }
    said
}

/// What the head of an answer says of its turn.
#[derive(Debug)]
pub(super) struct Head {
    /// The id by which the turn can be followed.
    pub(crate) turn: String,
    /// The session that it belongs to.
    pub(crate) session: Option<String>,
}

impl Head {
    /// That of the turn that is followed.
    pub(super) fn of(follower: &Follower) -> Self {
        let turn = follower.turn();
        Self { turn: turn.id().to_string(), session: turn.session().map(str::to_owned) }
    }

    /// An answer with this head.
    #[must_use]
    pub(super) fn with(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        let mut set = |name: &'static str, value: &str| {
            // A name that no header can hold is left out.
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        set("x-turn-id", &self.turn);
        if let Some(session) = &self.session {
            set("x-session-id", session);
        }
        response
    }
}
