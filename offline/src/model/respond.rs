//! Answers requests in all dialects: checks the request, asks the brain, and streams its reply or its fault. Used by the
//! routes of the dialects.

use std::io;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use futures::StreamExt;
#[cfg(feature = "testing")]
use futures::future;
use futures::stream::{self, BoxStream};
use serde_json::Value;

use super::dialect::{Dialect, DialectError, ModelCall, ModelTurn, Service, WireEvent};
#[cfg(feature = "testing")]
use super::fault::{FaultKind, FaultPosition, Odd, StreamFault};
use super::reply::{ModelReply, ReplyFailure, ReplyKind};
use super::request::ModelRequest;
use super::shared::SharedModel;

pub(super) const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Delay before a reset, so that earlier data is sent first.
#[cfg(feature = "testing")]
const BEFORE_BREAK: Duration = Duration::from_millis(5);

/// Body of an answer, piece by piece. An error breaks the connection.
type ByteStream = BoxStream<'static, Result<Vec<u8>, io::Error>>;

/// Returns the route handler of a dialect.
pub(super) fn route(dialect: &'static dyn Dialect) -> MethodRouter<SharedModel> {
    post(move |State(shared): State<SharedModel>, request: Request| respond(shared, dialect, request))
}

/// Returns an error response in the format of the service.
pub(super) fn refusal(service: &dyn Service, refusal: &DialectError) -> Response {
    (refusal.status, Json(service.error(refusal.status, &refusal.message, None))).into_response()
}

/// Checks a request and answers it with the reply of the brain.
pub(super) async fn respond(
    shared: SharedModel,
    dialect: &'static dyn Dialect,
    request: Request,
) -> Response {
    let service = dialect.service();
    let (parts, body) = request.into_parts();
    let bytes = match to_bytes(body, MAX_BODY_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return refusal(service, &error.to_string().into()),
    };
    let read = serde_json::from_slice(&bytes);
    let fault = read.as_ref().err().map(|error| format!("could not parse the JSON body: {error}"));
    let body: Value = read.unwrap_or_default();
    let call = ModelCall { headers: &parts.headers, uri: &parts.uri, body: &body };
    let (asked, complaint) = (dialect.asked(&call), complaint(&shared, dialect, &call, fault));
    let request = ModelRequest::new(body, asked);
    #[cfg(feature = "testing")]
    shared.records().add(&request, complaint.as_ref().err().and_then(Complaint::violation));
    let number = shared.next_answer();
    if let Err(complaint) = &complaint {
        return refusal(service, complaint.refusal());
    }
    let reply = shared.answer(&request);
    let stopping = || DialectError {
        status: StatusCode::SERVICE_UNAVAILABLE,
        message: "the offline model is stopping".to_owned(),
    };
    tokio::select! {
        () = shared.stopping() => refusal(service, &stopping()),
        response = answer(&shared, dialect, &request, number, reply) => response,
    }
}

/// Reason to refuse a request.
#[derive(Debug)]
enum Complaint {
    /// Violation of the service's rules; recorded for tests.
    Violation(DialectError),
    /// Unknown model. Not recorded, as it is no fault of the bot.
    Gone(DialectError),
}

impl Complaint {
    fn refusal(&self) -> &DialectError {
        match self {
            Self::Violation(refusal) | Self::Gone(refusal) => refusal,
        }
    }

    #[cfg(feature = "testing")]
    fn violation(&self) -> Option<String> {
        match self {
            Self::Violation(refusal) => Some(refusal.message.clone()),
            Self::Gone(_) => None,
        }
    }
}

fn complaint(
    shared: &SharedModel,
    dialect: &dyn Dialect,
    call: &ModelCall<'_>,
    fault: Option<String>,
) -> Result<(), Complaint> {
    let service = dialect.service();
    service.identify(call.headers, call.uri).map_err(Complaint::Violation)?;
    if let Some(fault) = fault {
        return Err(Complaint::Violation(fault.into()));
    }
    let name = dialect.asked(call).model;
    if !name.is_empty() && (shared.is_retired(&name) || !service.serves(&name)) {
        let message = service.gone(&name);
        return Err(Complaint::Gone(DialectError { status: StatusCode::NOT_FOUND, message }));
    }
    dialect.check(call).map_err(Complaint::Violation)
}

#[cfg_attr(
    not(feature = "testing"),
    expect(clippy::unused_async, reason = "only planned answers of tests wait")
)]
async fn answer(
    shared: &SharedModel,
    dialect: &dyn Dialect,
    request: &ModelRequest,
    number: u64,
    reply: ModelReply,
) -> Response {
    #[cfg(feature = "testing")]
    if let Some(gate) = &reply.gate {
        gate.opened().await;
    }
    let content_type = dialect.content_type(request);
    match &reply.kind {
        ReplyKind::Failure { status, error, retry_after } => {
            failure(dialect.service(), *status, error, *retry_after)
        }
        #[cfg(feature = "testing")]
        ReplyKind::Odd(Odd::NoHeaders) => future::pending().await,
        #[cfg(feature = "testing")]
        ReplyKind::Odd(Odd::Raw(bytes)) => streamed(content_type, Body::from(bytes.clone())),
        #[cfg(feature = "testing")]
        ReplyKind::Odd(Odd::Page(html)) => axum::response::Html(html.clone()).into_response(),
        #[cfg(feature = "testing")]
        ReplyKind::Odd(Odd::Silence) => streamed(content_type, body(shared, stream::pending().boxed())),
        ReplyKind::Turn(parts) => {
            let at = shared.now();
            let turn = ModelTurn { request, reply: &reply, parts, number, at };
            streamed(content_type, body(shared, written(dialect, &turn)))
        }
    }
}

fn failure(service: &dyn Service, status: u16, error: &ReplyFailure, retry_after: Option<u64>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match error {
        ReplyFailure::Message(message) => service.error(status, message, retry_after),
        ReplyFailure::Body(body) => body.clone(),
    };
    let mut response = (status, Json(body)).into_response();
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns the body of a turn: its paced events, and its planned fault if there is one.
fn written(dialect: &dyn Dialect, turn: &ModelTurn<'_>) -> ByteStream {
    let events = dialect.events(turn);
    #[cfg(feature = "testing")]
    if let Some(fault) = &turn.reply.fault {
        return failing(dialect, turn, fault, events);
    }
    paced(events, turn.reply.delay)
}

fn paced(events: Vec<WireEvent>, delay: Duration) -> ByteStream {
    let paced = stream::iter(events).then(move |WireEvent { bytes, is_delta }| async move {
        if is_delta && !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        Ok(bytes)
    });
    paced.boxed()
}

/// Returns the events before the fault, followed by its effect.
#[cfg(feature = "testing")]
fn failing(
    dialect: &dyn Dialect,
    turn: &ModelTurn<'_>,
    fault: &StreamFault,
    mut events: Vec<WireEvent>,
) -> ByteStream {
    let (count, kept) = (events.len(), kept(&events, fault.after));
    events.truncate(kept);
    let end: ByteStream = match &fault.kind {
        FaultKind::Break if count > kept => broken(),
        FaultKind::Break => stream::empty().boxed(),
        FaultKind::Hang => stream::pending().boxed(),
        FaultKind::Error(message) => {
            let bytes = dialect.failure(turn, kept, message);
            stream::once(future::ready(Ok(bytes))).boxed()
        }
    };
    paced(events, turn.reply.delay).chain(end).boxed()
}

/// Returns the number of events before a position in the stream.
#[cfg(feature = "testing")]
fn kept(events: &[WireEvent], place: FaultPosition) -> usize {
    match place {
        FaultPosition::Events(count) => count.min(events.len()),
        FaultPosition::Pieces(0) => 0,
        FaultPosition::Pieces(count) => {
            let mut pieces = events.iter().enumerate().filter(|(_, event)| event.is_delta);
            pieces.nth(count - 1).map_or(events.len(), |(at, _)| at + 1)
        }
    }
}

#[cfg(feature = "testing")]
fn broken() -> ByteStream {
    let error = async {
        tokio::time::sleep(BEFORE_BREAK).await;
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    };
    stream::once(error).boxed()
}

/// Returns a body that ends early if the runtime stops.
fn body(shared: &SharedModel, bytes: ByteStream) -> Body {
    let shared = shared.clone();
    Body::from_stream(bytes.take_until(async move { shared.stopping().await }))
}

fn streamed(content_type: &'static str, body: Body) -> Response {
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}
