//! The body of a request: JSON, of a bounded length, in a bounded time, and with room for its bytes.

use std::time::Duration;

use axum::body::BodyDataStream;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt;
use serde::de::DeserializeOwned;

use super::caller::{Account, Bytes};
use super::error::ApiError;

/// The most bytes of a body.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// It comes within this time.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// So much of a body that is refused is read all the same, and in this time.
const MAX_DRAINED: usize = 4 * MAX_BYTES;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A body, read, and the room that its bytes take until what is made of them is not needed any more.
#[derive(Debug)]
pub(super) struct Body<T> {
    /// The JSON, read into its type.
    pub(crate) said: T,
    /// Room for its bytes, held until this is dropped.
    pub(crate) bytes: Bytes,
}

/// Reads a body of JSON on this account.
///
/// # Errors
/// If it is no such body, does not come in time, or there is no room for it.
pub(super) async fn read<T: DeserializeOwned>(
    account: &Account,
    request: Request,
) -> Result<Body<T>, ApiError> {
    if let Err(error) = check(request.headers()) {
        drain(request.into_body().into_data_stream()).await;
        return Err(error);
    }
    let late = |_late| ApiError {
        status: StatusCode::REQUEST_TIMEOUT,
        ..ApiError::invalid("the body did not come in time")
    };
    let (text, bytes) =
        tokio::time::timeout(BODY_TIMEOUT, gathered(account, request)).await.map_err(late)??;
    let bare = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let mut json = serde_json::Deserializer::from_slice(bare);
    let said = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        let place = path.trim_start_matches('.');
        // The path of a field that nobody knows ends before it.
        let unknown = why.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
        let place = match unknown {
            Some((field, _)) if place.is_empty() => field.to_owned(),
            Some((field, _)) if !place.ends_with(field) => format!("{place}.{field}"),
            _ => place.to_owned(),
        };
        let error = ApiError::invalid(format!("the body cannot be read: {why}"));
        if place.is_empty() { error } else { error.about(&place) }
    })?;
    json.end().map_err(|error| ApiError::invalid(format!("the body cannot be read: {error}")))?;
    Ok(Body { said, bytes })
}

/// Reads a body of JSON, which may be left out.
///
/// # Errors
/// As for [`read`].
pub(super) async fn read_or_none<T: DeserializeOwned + Default>(
    account: &Account,
    request: Request,
) -> Result<T, ApiError> {
    let headers = request.headers();
    let length = headers.get(header::CONTENT_LENGTH).map(|length| length.as_bytes());
    let is_there = headers.contains_key(header::TRANSFER_ENCODING) || !matches!(length, None | Some(b"0"));
    if is_there { Ok(read(account, request).await?.said) } else { Ok(T::default()) }
}

/// Refuses by its head what is no JSON or too long.
fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let error = ApiError::invalid("the body has to be JSON: send Content-Type: application/json");
        return Err(ApiError { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..error });
    }
    let coding = text(header::CONTENT_ENCODING).trim();
    if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
        let error = ApiError::invalid("the body has to be sent as it is: leave Content-Encoding out");
        return Err(ApiError { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..error });
    }
    match text(header::CONTENT_LENGTH).parse::<usize>() {
        Ok(length) if length > MAX_BYTES => Err(too_long()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The bytes of a body. Room is taken for those that are there: whoever announces many and sends few takes it from nobody.
async fn gathered(account: &Account, request: Request) -> Result<(Vec<u8>, Bytes), ApiError> {
    let (mut text, mut bytes) = (Vec::new(), Bytes::default());
    let mut parts = request.into_body().into_data_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| {
            tracing::debug!(%error, "a body broke off");
            let error = ApiError::invalid("the body broke off");
            ApiError { status: StatusCode::REQUEST_TIMEOUT, ..error }
        })?;
        if text.len() + part.len() > MAX_BYTES {
            drain(parts).await;
            return Err(too_long());
        }
        account.hold(part.len(), &mut bytes)?;
        text.extend_from_slice(&part);
    }
    Ok((text, bytes))
}

/// Throws away what still comes of a body that is refused, within a bound: a connection that ends while its client sends is reset,
/// and the client does not get to read why.
async fn drain(mut parts: BodyDataStream) {
    let all = async {
        let mut left = MAX_DRAINED;
        while let Some(Ok(part)) = parts.next().await
            && left > part.len()
        {
            left -= part.len();
        }
    };
    drop(tokio::time::timeout(DRAIN_TIMEOUT, all).await);
}

fn too_long() -> ApiError {
    let error = ApiError::invalid(format!("the body has more than {} MiB", MAX_BYTES >> 20));
    ApiError { status: StatusCode::PAYLOAD_TOO_LARGE, ..error }
}
