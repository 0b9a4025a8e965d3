//! `POST /v1/chat/completions`, in the dialect of OpenAI.

mod answer;
mod chunks;
mod messages;
mod request;
mod tools;

use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

pub(super) use self::answer::usage;
use self::answer::{Frame, completion};
use self::chunks::chunks;
pub(super) use self::messages::{ChatMessage, Talk, talk};
pub(super) use self::request::ChatRequest;
pub(super) use self::request::{Asks, Choice, Extras, Foreign, Sampling, put};
pub(super) use self::tools::{ToolDefinition, tools};
use super::asking::ask;
use super::body::{self, Body};
use super::entry::Entry;
use super::error::ApiError;
use super::gateway::Gateway;
use super::hub::Follower;
use super::said::Said;

/// A stream begins at the first word, or after this time: until then a failure has a status of its own.
const FIRST_WORD: Duration = Duration::from_secs(10);

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
    let (session, with_events) = (entry.wishes.session.clone(), entry.wishes.events);
    let mut follower = ask(&gateway, entry, put, bytes).await?;
    let frame = Frame::new(&follower, model, gateway.clock.now());
    let head = Head { turn: follower.turn().id().to_string(), session: session.clone() };
    if !streams {
        let said = all(&mut follower).await;
        let body = completion(&frame, &follower, &said)?;
        return Ok(head.with(Json(body).into_response()));
    }
    first_word(&mut follower).await?;
    let told = chunks::Wanted { with_usage, with_events, session };
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

/// Waits for the first word of a turn, but not long.
///
/// # Errors
/// If it is over without one, why.
pub(super) async fn first_word(follower: &mut Follower) -> Result<(), ApiError> {
    drop(tokio::time::timeout(FIRST_WORD, follower.spoken()).await);
    let turn = follower.turn();
    match turn.is_over() && !turn.has_spoken() {
        true => Said::of(&turn.told()).ended(turn).map(drop),
        false => Ok(()),
    }
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
