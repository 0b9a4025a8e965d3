//! `POST /v1/responses`, in the dialect of OpenAI's Responses API: the same questions in another format.

mod answer;
mod events;
mod request;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use self::answer::ResponseFrame;
use self::events::events;
use self::request::ResponseRequest;
use super::asking::ask;
use super::body::{self, RequestBody};
use super::chat::{Head, all};
use super::entry::IncomingQuestion;
use super::error::GatewayError;
use super::gateway::Gateway;

/// Answers a question.
///
/// # Errors
/// Reason why there is no answer.
pub(super) async fn create(
    State(gateway): State<Gateway>,
    entry: IncomingQuestion,
    request: Request,
) -> Result<Response, GatewayError> {
    let RequestBody { said: request, bytes } =
        body::read::<ResponseRequest>(&entry.caller.account, request).await?;
    let (model, streams) = (request.model.clone(), request.stream.unwrap_or_default());
    let put = request.put(&gateway, &entry)?;
    let mut follower = ask(&gateway, entry, put, bytes).await?;
    let frame = ResponseFrame::new(&follower, model, gateway.clock.now());
    let head = Head::of(&follower);
    if !streams {
        let said = all(&mut follower).await;
        let closing = said.ended(follower.turn()).map_err(|error| gateway.dated(in_input(error)))?;
        let handed = follower.turn().handover();
        let words = match &handed {
            Some(handed) => handed.words.clone(),
            None => Some(said.whole()).filter(|words| !words.is_empty()),
        };
        let body = frame.response(closing, words.as_deref(), handed.as_ref());
        return Ok(head.with(Json(body).into_response()));
    }
    Ok(head.with(events(frame, follower)))
}

/// Renames the field of an error: messages are called `input` in this dialect.
fn in_input(error: GatewayError) -> GatewayError {
    match error.param.as_deref() {
        Some("messages") => error.about("input"),
        _ => error,
    }
}
