//! HTTP server of the Bot API: finds the method, checks the call, answers or fails as planned, and records the call.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use figaro_mcp::table::{ApiTable, Method};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::args::{self, Args};
use super::call::{ApiCall, Uploaded};
use super::error::{self, BotApiError};
#[cfg(feature = "testing")]
use super::planned::PlannedFailure;
use super::shared::SharedTelegram;
use super::state::TelegramState;
use super::{markup, methods, polling};
use crate::at_once;

/// State of the Bot API routes.
#[derive(Clone)]
pub(super) struct ApiState {
    pub(super) shared: SharedTelegram,
    /// Only accepted bot token.
    pub(super) token: Arc<str>,
}

/// Returns the routes of the Bot API.
pub(super) fn routes(api: ApiState) -> Router {
    Router::new().fallback(handle).layer(DefaultBodyLimit::max(args::MAX_BODY_BYTES)).with_state(api)
}

/// Serves routes until the runtime stops.
pub(super) async fn serve(shared: SharedTelegram, app: Router, listener: TcpListener) {
    let stop = async move { shared.stopping().await };
    if let Err(error) = axum::serve(at_once(listener), app).with_graceful_shutdown(stop).await {
        tracing::error!(%error, "the offline Telegram stopped serving");
    }
}

impl ApiState {
    fn accepts(&self, token: &str) -> bool {
        #[cfg(feature = "testing")]
        if self.shared.look(|state| state.testing.is_revoked) {
            return false;
        }
        *token == *self.token
    }

    /// Returns the bytes of a file. The path begins with the token.
    fn download(&self, path: &str) -> Response {
        let Some((token, path)) = path.split_once('/') else {
            return answer(Err(BotApiError::not_found()));
        };
        if !self.accepts(token) {
            return answer(Err(BotApiError::unauthorized()));
        }
        let bytes =
            |state: &TelegramState| state.files.values().find(|f| f.path == path).map(|f| f.bytes.clone());
        match self.shared.look(bytes) {
            Some(bytes) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
            None => answer(Err(BotApiError::not_found())),
        }
    }
}

/// Call in progress: the data recorded for every outcome.
struct Underway {
    n: u64,
    method: &'static Method,
    fields: Map<String, Value>,
    uploads: Vec<Uploaded>,
    at: chrono::DateTime<chrono::Utc>,
    started: Instant,
}

impl Underway {
    fn finished(&self, error: Option<String>) -> ApiCall {
        ApiCall {
            n: self.n,
            method: self.method.name.clone(),
            args: self.fields.clone(),
            uploads: self.uploads.clone(),
            ok: error.is_none(),
            error,
            at: self.at,
            took: self.started.elapsed(),
        }
    }
}

async fn handle(Extract(api): Extract<ApiState>, request: Request) -> Response {
    let path = args::decode(&request.uri().path().replace('+', "%2B"));
    if let Some(file) = path.strip_prefix("/file/bot") {
        return api.download(file);
    }
    let Some((token, name)) = path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')) else {
        return answer(Err(BotApiError::not_found()));
    };
    if !api.accepts(token) {
        return answer(Err(BotApiError::unauthorized()));
    }
    let Some(method) = ApiTable::get().method(name) else {
        return answer(Err(BotApiError::not_found()));
    };
    let shared = &api.shared;
    let started = Instant::now();
    let at = shared.now();
    let read = args::read(request, method).await;
    let n = shared.change(TelegramState::next_call);
    let mut underway = Underway { n, method, fields: Map::new(), uploads: Vec::new(), at, started };
    match read {
        Ok(args) => {
            underway.fields.clone_from(&args.fields);
            underway.uploads = args.uploaded();
            call(shared, &underway, args).await
        }
        Err(refusal) => {
            shared.change(|state| state.record(underway.finished(Some(refusal.to_string()))));
            answer(Err(refusal))
        }
    }
}

async fn call(shared: &SharedTelegram, underway: &Underway, args: Args) -> Response {
    #[cfg(feature = "testing")]
    if let Some(failure) = shared.change(|state| state.testing.take_failure(&underway.method.name)) {
        return fail_as_planned(shared, underway, args, failure).await;
    }
    answer(perform(shared, underway, args, None).await)
}

#[cfg(feature = "testing")]
async fn fail_as_planned(
    shared: &SharedTelegram,
    underway: &Underway,
    args: Args,
    failure: PlannedFailure,
) -> Response {
    let record = |error: String| shared.change(|state| state.record(underway.finished(Some(error))));
    let fail = |refusal: BotApiError| {
        record(refusal.to_string());
        answer(Err(refusal))
    };
    match failure {
        PlannedFailure::AppliedButDropped => {
            drop(perform(shared, underway, args, Some("the answer was lost")).await);
            broken_connection()
        }
        PlannedFailure::AppliedButHangs => {
            drop(perform(shared, underway, args, Some("the answer is withheld")).await);
            shared.stopping().await;
            broken_connection()
        }
        PlannedFailure::Hang => {
            record("hangs".to_owned());
            shared.stopping().await;
            broken_connection()
        }
        PlannedFailure::DropConnection => {
            record("connection dropped".to_owned());
            broken_connection()
        }
        PlannedFailure::Status { status, description } => fail(BotApiError::new(status, description)),
        PlannedFailure::Answer(body) => {
            record("another answer".to_owned());
            json_text(StatusCode::OK, body)
        }
        PlannedFailure::RetryAfter(seconds) => fail(BotApiError::retry_after(seconds)),
    }
}

/// Checks and performs the call. Its record becomes visible together with its effect. `lost` is the reason why the bot does
/// not get the answer, if so.
async fn perform(
    shared: &SharedTelegram,
    underway: &Underway,
    mut args: Args,
    lost: Option<&str>,
) -> Result<String, BotApiError> {
    let lost = lost.map(ToOwned::to_owned);
    let checked = check(underway.method, &mut args);
    if underway.method.name == "getUpdates" && checked.is_ok() {
        let result = polling::get_updates(shared, &args.fields).await;
        let error = result.as_ref().err().map(ToString::to_string).or(lost);
        shared.change(|state| state.record(underway.finished(error)));
        return result;
    }
    let now = underway.at.timestamp();
    shared.change(|state| {
        let result = checked.and_then(|()| methods::perform(state, underway.method, &args, now));
        let error = result.as_ref().err().map(ToString::to_string).or(lost);
        state.record(underway.finished(error));
        result.map(|result| result.to_string())
    })
}

/// Checks everything that does not depend on the chats.
fn check(method: &Method, args: &mut Args) -> Result<(), BotApiError> {
    markup::resolve(&mut args.fields)?;
    // Checked before the table, which would only report that the keyboard is none of the four kinds.
    methods::check_keyboard(args.fields.get("reply_markup"))?;
    figaro_mcp::check::check(method, &args.fields)
        .map_err(|fault| error::from_fault(method, &args.fields, &fault))?;
    markup::check_entities(&args.fields)
}

/// Returns the HTTP response to a call. The result is JSON text.
fn answer(result: Result<String, BotApiError>) -> Response {
    match result {
        Ok(result) => json_text(StatusCode::OK, format!(r#"{{"ok":true,"result":{result}}}"#)),
        Err(refusal) => {
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
            json_text(status, refusal.body().to_string())
        }
    }
}

fn json_text(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Returns a response whose body breaks off: the server closes the connection, and the client sees a transport error.
#[cfg(feature = "testing")]
fn broken_connection() -> Response {
    let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    axum::body::Body::from_stream(futures::stream::once(async { Err::<Vec<u8>, _>(broken) })).into_response()
}
