//! The HTTP side of the offline Telegram: finds the method, checks the call, answers or fails as planned, records it.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use figaro_mcp::table::{Method, Table};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::args::{self, Args};
use super::call::{Call, Uploaded};
use super::error::{self, Refusal};
#[cfg(feature = "testing")]
use super::testing::Failure;
use super::{OfflineTelegram, markup, methods, updates, web};
use crate::at_once;

/// Serves until the runtime stops.
pub(super) async fn serve(tg: OfflineTelegram, listener: TcpListener) {
    let page = tg.options().page.map(|page| web::routes(tg.clone(), page));
    let app = Router::new()
        .fallback(handle)
        .layer(DefaultBodyLimit::max(args::MAX_BODY_BYTES))
        .with_state(tg.clone())
        .merge(page.unwrap_or_default());
    let stopped = tg.clone();
    let stop = async move { stopped.runtime().stopping().await };
    if let Err(error) = axum::serve(at_once(listener), app).with_graceful_shutdown(stop).await {
        tracing::error!(%error, "the offline Telegram stopped serving");
    }
}

/// A call on its way: what is recorded of it whatever happens.
struct Underway {
    n: u64,
    method: &'static Method,
    fields: Map<String, Value>,
    uploads: Vec<Uploaded>,
    at: chrono::DateTime<chrono::Utc>,
    started: Instant,
}

impl Underway {
    fn finished(&self, error: Option<String>) -> Call {
        Call {
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

async fn handle(Extract(tg): Extract<OfflineTelegram>, request: Request) -> Response {
    let path = args::decode(&request.uri().path().replace('+', "%2B"));
    if let Some(file) = path.strip_prefix("/file/bot") {
        return download(&tg, file);
    }
    let Some((token, name)) = path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')) else {
        return answer(Err(Refusal::not_found()));
    };
    if !accepts(&tg, token) {
        return answer(Err(Refusal::unauthorized()));
    }
    let Some(method) = Table::get().method(name) else {
        return answer(Err(Refusal::not_found()));
    };
    let started = Instant::now();
    let at = tg.runtime().now();
    let read = args::read(request, method).await;
    let n = tg.change(super::state::State::next_call);
    let mut underway = Underway { n, method, fields: Map::new(), uploads: Vec::new(), at, started };
    match read {
        Ok(args) => {
            underway.fields.clone_from(&args.fields);
            underway.uploads = args.uploaded();
            call(&tg, &underway, args).await
        }
        Err(refusal) => {
            tg.change(|state| state.record(underway.finished(Some(refusal.to_string()))));
            answer(Err(refusal))
        }
    }
}

async fn call(tg: &OfflineTelegram, underway: &Underway, args: Args) -> Response {
    #[cfg(feature = "testing")]
    if let Some(failure) = tg.change(|state| state.testing.take_failure(&underway.method.name)) {
        return fail_as_planned(tg, underway, args, failure).await;
    }
    answer(perform(tg, underway, args, None).await)
}

#[cfg(feature = "testing")]
async fn fail_as_planned(
    tg: &OfflineTelegram,
    underway: &Underway,
    args: Args,
    failure: Failure,
) -> Response {
    let record = |error: String| tg.change(|state| state.record(underway.finished(Some(error))));
    let fail = |refusal: Refusal| {
        record(refusal.to_string());
        answer(Err(refusal))
    };
    match failure {
        Failure::AppliedButDropped => {
            drop(perform(tg, underway, args, Some("the answer was lost")).await);
            broken_connection()
        }
        Failure::AppliedButHangs => {
            drop(perform(tg, underway, args, Some("the answer is withheld")).await);
            tg.runtime().stopping().await;
            broken_connection()
        }
        Failure::Hang => {
            record("hangs".to_owned());
            tg.runtime().stopping().await;
            broken_connection()
        }
        Failure::DropConnection => {
            record("connection dropped".to_owned());
            broken_connection()
        }
        Failure::Status { status, description } => fail(Refusal::new(status, description)),
        Failure::Answer(body) => {
            record("another answer".to_owned());
            json_text(StatusCode::OK, body)
        }
        Failure::RetryAfter(seconds) => fail(Refusal::retry_after(seconds)),
    }
}

/// Checks and does the call; what is recorded becomes visible together with the effect. With `lost` the
/// bot does not get the answer, for that reason.
async fn perform(
    tg: &OfflineTelegram,
    underway: &Underway,
    mut args: Args,
    lost: Option<&str>,
) -> Result<String, Refusal> {
    let lost = lost.map(ToOwned::to_owned);
    let checked = check(underway.method, &mut args);
    if underway.method.name == "getUpdates" && checked.is_ok() {
        let result = updates::get_updates(tg, &args.fields).await;
        let error = result.as_ref().err().map(ToString::to_string).or(lost);
        tg.change(|state| state.record(underway.finished(error)));
        return result;
    }
    let now = underway.at.timestamp();
    tg.change(|state| {
        let result = checked.and_then(|()| methods::perform(state, underway.method, &args, now));
        let error = result.as_ref().err().map(ToString::to_string).or(lost);
        state.record(underway.finished(error));
        result.map(|result| result.to_string())
    })
}

/// Everything that can be said about a call without knowing the chats.
fn check(method: &Method, args: &mut Args) -> Result<(), Refusal> {
    markup::resolve(&mut args.fields)?;
    // Before the table, which can only say that the keyboard is none of the four kinds.
    methods::check_keyboard(args.fields.get("reply_markup"))?;
    figaro_mcp::check::check(method, &args.fields)
        .map_err(|fault| error::from_fault(method, &args.fields, &fault))?;
    markup::check_entities(&args.fields)
}

fn accepts(tg: &OfflineTelegram, token: &str) -> bool {
    #[cfg(feature = "testing")]
    if tg.look(|state| state.testing.is_revoked) {
        return false;
    }
    token == tg.token()
}

fn download(tg: &OfflineTelegram, path: &str) -> Response {
    let Some((token, path)) = path.split_once('/') else {
        return answer(Err(Refusal::not_found()));
    };
    if !accepts(tg, token) {
        return answer(Err(Refusal::unauthorized()));
    }
    let found = tg.look(|state| state.files.values().find(|f| f.path == path).map(|f| f.bytes.clone()));
    match found {
        Some(bytes) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        None => answer(Err(Refusal::not_found())),
    }
}

/// The answer to a call; a result is the text of its JSON.
fn answer(result: Result<String, Refusal>) -> Response {
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

/// An answer whose body breaks off: the server closes the connection, the client sees a transport error.
#[cfg(feature = "testing")]
fn broken_connection() -> Response {
    let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    axum::body::Body::from_stream(futures::stream::once(async { Err::<Vec<u8>, _>(broken) })).into_response()
}
