//! Body of a request: JSON of limited length, read within a time limit, with a permit for its bytes.

use std::time::Duration;

use axum::body::BodyDataStream;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt;
use serde::de::DeserializeOwned;

use super::caller::{Account, BodyPermit};
use super::error::GatewayError;

/// Maximum size of a body, in bytes.
pub(super) const MAX_BYTES: usize = 4 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Limits for draining a refused body, in bytes and in time.
const MAX_DRAINED: usize = 4 * MAX_BYTES;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Parsed body. Its permit is held until the content is no longer needed.
#[derive(Debug)]
pub(super) struct RequestBody<T> {
    /// JSON, read into its type.
    pub(crate) said: T,
    /// Permit for the bytes, held until this is dropped.
    pub(crate) bytes: BodyPermit,
}

/// Reads a JSON body on this account.
///
/// # Errors
/// If the body is no such JSON, does not arrive in time, or exceeds the limits of bytes.
pub(super) async fn read<T: DeserializeOwned>(
    account: &Account,
    request: Request,
) -> Result<RequestBody<T>, GatewayError> {
    if let Err(error) = check(request.headers()) {
        drain(request.into_body().into_data_stream()).await;
        return Err(error);
    }
    let late = |_late| GatewayError {
        status: StatusCode::REQUEST_TIMEOUT,
        ..GatewayError::invalid("the body did not come in time")
    };
    let (text, bytes) =
        tokio::time::timeout(BODY_TIMEOUT, gathered(account, request)).await.map_err(late)??;
    let bare = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let mut json = serde_json::Deserializer::from_slice(bare);
    let said = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        // A question mark stands for what is not known, as where the body is no JSON.
        let place = path.trim_start_matches('.').trim_end_matches('?').trim_end_matches('.');
        // The path that serde reports ends before an unknown field.
        let unknown = why.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
        let place = match unknown {
            Some((field, _)) if place.is_empty() => field.to_owned(),
            Some((field, _)) if !place.ends_with(field) => format!("{place}.{field}"),
            _ => place.to_owned(),
        };
        let error = GatewayError::invalid(format!("the body cannot be read: {why}"));
        if place.is_empty() { error } else { error.about(&place) }
    })?;
    json.end().map_err(|error| GatewayError::invalid(format!("the body cannot be read: {error}")))?;
    Ok(RequestBody { said, bytes })
}

/// Reads an optional JSON body.
///
/// # Errors
/// As for [`read`].
pub(super) async fn read_or_none<T: DeserializeOwned + Default>(
    account: &Account,
    request: Request,
) -> Result<T, GatewayError> {
    let headers = request.headers();
    let length = headers.get(header::CONTENT_LENGTH).map(|length| length.as_bytes());
    let is_there = headers.contains_key(header::TRANSFER_ENCODING) || !matches!(length, None | Some(b"0"));
    if is_there { Ok(read(account, request).await?.said) } else { Ok(T::default()) }
}

/// Refuses by its headers a body that is no JSON or too long.
fn check(headers: &HeaderMap) -> Result<(), GatewayError> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let error = GatewayError::invalid("the body has to be JSON: send Content-Type: application/json");
        return Err(GatewayError { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..error });
    }
    let coding = text(header::CONTENT_ENCODING).trim();
    if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
        let error = GatewayError::invalid("the body has to be sent as it is: leave Content-Encoding out");
        return Err(GatewayError { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..error });
    }
    match text(header::CONTENT_LENGTH).parse::<usize>() {
        Ok(length) if length > MAX_BYTES => Err(too_long()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Reads the bytes of a body. Permits are taken only for bytes that have arrived, so a client that announces many and
/// sends few blocks nobody.
async fn gathered(account: &Account, request: Request) -> Result<(Vec<u8>, BodyPermit), GatewayError> {
    let (mut text, mut bytes) = (Vec::new(), BodyPermit::default());
    let mut parts = request.into_body().into_data_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| {
            tracing::debug!(%error, "a body broke off");
            let error = GatewayError::invalid("the body broke off");
            GatewayError { status: StatusCode::REQUEST_TIMEOUT, ..error }
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

/// Discards the rest of a refused body, within limits. A connection that closes while its client sends is reset, and
/// the client then never reads the reason.
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

fn too_long() -> GatewayError {
    let error = GatewayError::invalid(format!("the body has more than {} MiB", MAX_BYTES >> 20));
    GatewayError { status: StatusCode::PAYLOAD_TOO_LARGE, ..error }
}
