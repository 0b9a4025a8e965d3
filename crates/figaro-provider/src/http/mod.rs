//! Shared code of providers over HTTP: decoding of values, classification of failures, and the timeout for silence.

pub(super) mod body;
pub(super) mod decode;
pub(super) mod error;
pub(super) mod idle;
#[cfg(test)]
pub(super) mod testing;

use std::time::Duration;

use futures::{Future, StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;

use self::decode::ValueStream;
use self::idle::{Pulse, with_idle_timeout};
use super::{EventStream, ProviderError};
use figaro_base::secret::Redactor;

/// Maximum size of an answer in one piece, in bytes. The longest known list of models has about 2 MB; 64 vectors of
/// 4,096 numbers have 6 MB.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Sends a request and reads its JSON answer within a time limit.
pub(super) async fn json<T: DeserializeOwned>(
    request: RequestBuilder,
    limit: Duration,
) -> Result<T, ProviderError> {
    read(&bytes(request, limit).await?)
}

/// Sends a request and reads its answer of any kind within a time limit.
pub(super) async fn bytes(request: RequestBuilder, limit: Duration) -> Result<Vec<u8>, ProviderError> {
    let asking = async {
        let (client, request) = request.build_split();
        let request = request.map_err(|error| error::from_reqwest(&error))?;
        let works = request.method() == Method::POST;
        let response = client.execute(request).await.map_err(|error| match works && !error.is_connect() {
            // The connection was there: the service may have done its work, which costs something.
            true => ProviderError::Cut(error.without_url().to_string()),
            false => error::from_reqwest(&error),
        })?;
        if !response.status().is_success() {
            return Err(error::refusal(response).await);
        }
        whole(response).await
    };
    tokio::time::timeout(limit, asking).await.unwrap_or(Err(ProviderError::Stalled(limit)))
}

/// Parses the bytes of an answer.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| {
        let what = if error.is_data() { "is of another form than expected" } else { "is not JSON" };
        ProviderError::Foreign(format!("the answer {what} ({error}); is the base URL right?"))
    })
}

/// Returns the values of a streamed answer that has begun. The pulse beats with every byte.
pub(super) async fn streamed(response: Response, pulse: Pulse) -> Result<ValueStream, ProviderError> {
    pulse.beat();
    if !response.status().is_success() {
        return Err(error::refusal(response).await);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/html") {
        let advice = "the answer is a web page, not an event stream; is the base URL right?";
        return Err(ProviderError::Foreign(advice.into()));
    }
    Ok(body::values(response.bytes_stream().inspect(move |_| pulse.beat())))
}

/// Reads the bytes of an answer, at most [`MAX_BODY_BYTES`].
async fn whole(mut response: Response) -> Result<Vec<u8>, ProviderError> {
    let mut body = Vec::new();
    // The service has done its work by now.
    let cut = |error: reqwest::Error| ProviderError::Cut(error.without_url().to_string());
    while let Some(chunk) = response.chunk().await.map_err(cut)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            let told = format!("the answer is longer than {MAX_BODY_BYTES} bytes");
            return Err(ProviderError::Foreign(told));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[derive(Debug, Clone)]
pub(super) struct CallWatch {
    /// Removes secrets from messages of the provider.
    pub(super) redactor: Redactor,
    /// Silence after which a provider counts as stalled.
    pub(super) idle_limit: Duration,
}

impl CallWatch {
    /// Returns the stream that `open` begins. It ends when the provider falls silent, and its errors are fit to be
    /// shown. `open` must make its pulse beat with every byte.
    pub(super) fn over<F, O>(self, open: O) -> EventStream
    where
        F: Future<Output = Result<EventStream, ProviderError>> + Send + 'static,
        O: FnOnce(Pulse) -> F + Send + 'static,
    {
        let Self { redactor, idle_limit } = self;
        // The timer starts when the stream is first polled, not when it is created.
        let begun = stream::once(async move {
            let pulse = Pulse::start();
            let opening = open(pulse.clone());
            let answer = stream::once(async move {
                opening.await.unwrap_or_else(|error| stream::iter([Err(error)]).boxed())
            });
            with_idle_timeout(answer.flatten().boxed(), pulse, idle_limit)
        });
        begun.flatten().map(move |event| event.map_err(|error| error::presentable(error, &redactor))).boxed()
    }
}
