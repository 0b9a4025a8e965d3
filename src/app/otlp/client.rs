//! Requests to the collector. The exporter makes them on threads of its own, outside of the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Maximum time of a request.
const REQUEST: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes.
const ANSWER: usize = 64 * 1024;

/// Client for the collector. Clones share what was told.
#[derive(Debug, Clone)]
pub(super) struct CollectorClient {
    http: reqwest::Client,
    runtime: Handle,
    /// `true` once the log has told that the collector does not take anything.
    is_told: Arc<AtomicBool>,
}

impl CollectorClient {
    /// Makes a client that works on the current runtime.
    pub(super) fn new(http: reqwest::Client) -> Self {
        Self { http, runtime: Handle::current(), is_told: Arc::default() }
    }

    /// Tells when the collector begins to fail, and when it works again.
    fn tell(&self, failure: Option<&str>) {
        let was_told = self.is_told.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(reason) if !was_told => {
                tracing::warn!(
                    reason,
                    "the collector of OTEL_EXPORTER_OTLP_ENDPOINT does not take traces or metrics"
                );
            }
            None if was_told => tracing::info!("the collector takes traces and metrics again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (http, client) = (self.http.clone(), self.clone());
        // The runtime drives the connection; this future may be polled anywhere.
        let sent = self.runtime.spawn(async move {
            let late = || Err("it gives no answer".into());
            let sent = timeout(REQUEST, sent(&http, request)).await.unwrap_or_else(|_elapsed| late());
            match &sent {
                Ok(answer) if answer.status().is_success() => client.tell(None),
                Ok(answer) => client.tell(Some(&format!("it answers {}", answer.status()))),
                Err(error) => client.tell(Some(&whole(error))),
            }
            sent
        });
        sent.await?
    }
}

/// Returns an error with its causes, without the address, which the setting has.
fn whole(error: &HttpError) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}

async fn sent(http: &reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let request = reqwest::Request::try_from(request)?;
    let mut answer = http.execute(request).await?;
    let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        if body.len() + part.len() > ANSWER {
            return Err("its answer is too long".into());
        }
        body.extend_from_slice(&part);
    }
    let mut response = Response::new(Bytes::from(body));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}
