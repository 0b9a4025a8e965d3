//! `POST /v1/responses`, in the dialect of OpenAI's Responses API: the same questions, other words.

mod answer;
mod events;
mod request;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use self::answer::Frame;
use self::events::events;
use self::request::ResponseRequest;
use super::body::Body;
use super::caller::{Caller, Wishes};
use super::chat::{Head, all, first_word};
use super::error::ApiError;
use super::gateway::Gateway;
use super::models::may_ask;

/// Answers a question.
///
/// # Errors
/// Why there is no answer.
pub(super) async fn create(
    State(gateway): State<Gateway>,
    caller: Caller,
    headers: HeaderMap,
    Body(request): Body<ResponseRequest>,
) -> Result<Response, ApiError> {
    caller.require(may_ask, "questions")?;
    let wishes = Wishes::read(&headers)?;
    let (model, streams) = (request.model.clone(), request.stream.unwrap_or_default());
    let put = request.put(&gateway, &caller, &wishes)?;
    let mut follower = gateway.ask(&caller, put).await?;
    let frame = Frame::new(&follower, model, gateway.clock.now());
    let head = Head { turn: follower.turn().id().to_string(), session: wishes.session };
    if !streams {
        let said = all(&mut follower).await;
        let closing = said.ended(follower.turn())?;
        let handed = follower.turn().handover();
        let words = if handed.is_some() { String::new() } else { said.whole() };
        let body = frame.response(closing, &words, handed.as_ref());
        return Ok(head.with(Json(body).into_response()));
    }
    first_word(&mut follower).await?;
    Ok(head.with(events(frame, follower)))
}
