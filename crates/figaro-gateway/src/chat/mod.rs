//! `POST /v1/chat/completions`, in OpenAI's dialect.

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
use self::answer::{CompletionFrame, completion};
use self::chunks::chunks;
pub(super) use self::legacy::bound;
pub(super) use self::messages::{ChatMessage, ChatToolCall, FunctionCall, PlacedMessage, Talk, talk};
pub(super) use self::options::{CallerToolChoice, form};
pub(super) use self::request::ChatRequest;
pub(super) use self::request::{ChatQuestion, Extras, Foreign, Sampling, put};
pub(super) use self::tools::tools;
use super::asking::ask;
use super::body::{self, RequestBody};
use super::entry::IncomingQuestion;
use super::error::GatewayError;
use super::gateway::Gateway;
use super::hub::Follower;
use super::said::TurnTranscript;

/// Answers a question.
///
/// # Errors
/// Reason why there is no answer.
pub(super) async fn completions(
    State(gateway): State<Gateway>,
    entry: IncomingQuestion,
    request: Request,
) -> Result<Response, GatewayError> {
    let RequestBody { said: request, bytes } =
        body::read::<ChatRequest>(&entry.caller.account, request).await?;
    let (model, streams) = (request.model.clone(), request.stream.unwrap_or_default());
    let with_usage = request.wants_usage();
    let put = request.put(&gateway, &entry)?;
    let with_events = entry.wishes.events;
    let mut follower = ask(&gateway, entry, put, bytes).await?;
    let frame = CompletionFrame::new(&follower, model, gateway.clock.now());
    let head = Head::of(&follower);
    if !streams {
        let said = all(&mut follower).await;
        let body = completion(&frame, &follower, &said).map_err(|error| gateway.dated(error))?;
        return Ok(head.with(Json(body).into_response()));
    }
    let told = chunks::ChunkOptions { with_usage, with_events };
    Ok(head.with(chunks(frame, follower, told)))
}

/// Reads a turn to its end.
pub(super) async fn all(follower: &mut Follower) -> TurnTranscript {
    let mut said = TurnTranscript::default();
    while let Some(told) = follower.next().await {
        said.hear(&told);
    }
    said
}

/// Headers of an answer that describe its turn.
#[derive(Debug)]
pub(super) struct Head {
    /// Id by which the turn can be followed.
    pub(crate) turn: String,
    /// Session of the turn; `None` if stateless.
    pub(crate) session: Option<String>,
}

impl Head {
    /// Returns the headers for the followed turn.
    pub(super) fn of(follower: &Follower) -> Self {
        let turn = follower.turn();
        Self { turn: turn.id().to_string(), session: turn.session().map(str::to_owned) }
    }

    /// Adds the headers to a response.
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
