//! What providers over HTTP share: values into events, what failures mean, and when a silent one is given up.

pub(super) mod body;
pub(super) mod decode;
pub(super) mod error;
pub(super) mod idle;
#[cfg(test)]
pub(super) mod testing;

use std::time::Duration;

use futures::{Future, StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use serde::de::DeserializeOwned;

use self::decode::Values;
use self::idle::{Pulse, with_idle_timeout};
use super::{EventStream, ProviderError};
use figaro_base::secret::Redactor;

/// The longest answer in one piece that is read. The longest list of models known has about 2 MB, 64 vectors of 4,096
/// numbers have 6.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The JSON that a request gets within a time.
pub(super) async fn json<T: DeserializeOwned>(
    request: RequestBuilder,
    limit: Duration,
) -> Result<T, ProviderError> {
    let asking = async {
        let response = request.send().await.map_err(|error| error::from_reqwest(&error))?;
        if !response.status().is_success() {
            return Err(error::refusal(response).await);
        }
        let body = whole(response).await?;
        read(&body)
    };
    tokio::time::timeout(limit, asking).await.unwrap_or(Err(ProviderError::Stalled(limit)))
}

/// What the bytes of an answer say.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| {
        let what = if error.is_data() { "is of another form than expected" } else { "is not JSON" };
        ProviderError::Foreign(format!("the answer {what} ({error}); is the base URL right?"))
    })
}

/// The values of a streamed answer that has begun. The pulse beats with every byte.
pub(super) async fn streamed(response: Response, pulse: Pulse) -> Result<Values, ProviderError> {
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

/// The bytes of an answer, up to [`MAX_BODY_BYTES`].
async fn whole(mut response: Response) -> Result<Vec<u8>, ProviderError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| error::from_reqwest(&error))? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            let told = format!("the answer is longer than {MAX_BODY_BYTES} bytes");
            return Err(ProviderError::Refused(told));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// How a call is watched.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// Takes secrets out of what a provider says.
    pub(super) redactor: Redactor,
    /// A provider that is silent for so long has stalled.
    pub(super) idle_limit: Duration,
}

impl Watch {
    /// The stream that `open` begins, ended when the provider goes silent; its errors are fit to be shown. The pulse
    /// that `open` gets is to beat with every byte.
    pub(super) fn over<F, O>(self, open: O) -> EventStream
    where
        F: Future<Output = Result<EventStream, ProviderError>> + Send + 'static,
        O: FnOnce(Pulse) -> F + Send + 'static,
    {
        let Self { redactor, idle_limit } = self;
        // The clock starts when the stream is first asked for, not when it is made.
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
