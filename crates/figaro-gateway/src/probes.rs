//! Health, readiness and metrics of the process, at an address of their own (`METRICS_ADDR`). Called by the binary.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::watch;

use super::caller::{Caller, KnownCallers};
use super::error::GatewayError;
use super::metrics::{CONTENT_TYPE, Metrics};
use figaro_config::HttpSettings;
use figaro_store::StoreMeters;

/// State of the process as its supervisor asks for it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Probes {
    /// Metrics of the stores.
    pub stores: StoreMeters,
    /// Metrics of the process and its bots, with those of the stores.
    pub metrics: Metrics,
    readiness: watch::Sender<Readiness>,
}

/// Readiness of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It answers, or stands by for a process that does.
    Ready,
    /// Not ready, for this reason.
    Unready(&'static str),
    /// About to end: it does not get ready any more.
    Stopping,
}

impl Readiness {
    /// Returns the state in words that anybody may read.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Unready(reason) => reason,
            Self::Stopping => "stopping",
        }
    }

    /// Returns `true` if the process is about to end.
    #[must_use]
    pub fn is_stopping(self) -> bool {
        self == Self::Stopping
    }
}

impl Default for Probes {
    fn default() -> Self {
        let (stores, (readiness, _)) =
            (StoreMeters::default(), watch::channel(Readiness::Unready("starting")));
        Self { metrics: Metrics::new(&stores), stores, readiness }
    }
}

impl Probes {
    /// Reports the process as ready from now on: it answers, or stands by for a process that does.
    pub fn set_ready(&self) {
        self.set(Readiness::Ready);
    }

    /// Reports the process as not ready from now on, with a reason that anybody may read.
    pub fn set_unready(&self, reason: &'static str) {
        self.set(Readiness::Unready(reason));
    }

    /// Reports that the process is about to end.
    pub fn set_stopping(&self) {
        self.set(Readiness::Stopping);
    }

    fn set(&self, to: Readiness) {
        self.readiness.send_if_modified(|readiness| {
            let changes = !readiness.is_stopping() && *readiness != to;
            if changes {
                *readiness = to;
            }
            changes
        });
    }

    /// Returns the readiness with its changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Builds the router. On loopback metrics are for every program of this machine, elsewhere for callers of the gateway
    /// with the right.
    pub fn router(&self, settings: &HttpSettings) -> Router {
        let is_here = settings.metrics_address.is_none_or(|address| address.ip().is_loopback());
        let known =
            if is_here { KnownCallers::new(&HttpSettings::default()) } else { KnownCallers::new(settings) };
        Router::new()
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(ready))
            .route("/metrics", get(metrics))
            .with_state(ProbeState { probes: self.clone(), known: Arc::new(known) })
    }
}

#[derive(Debug, Clone)]
struct ProbeState {
    probes: Probes,
    known: Arc<KnownCallers>,
}

impl FromRef<ProbeState> for Arc<KnownCallers> {
    fn from_ref(state: &ProbeState) -> Self {
        state.known.clone()
    }
}

async fn ready(State(state): State<ProbeState>) -> Response {
    let readiness = *state.probes.readiness.borrow();
    let is_ready = readiness == Readiness::Ready;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, format!("{}\n", readiness.words())).into_response()
}

async fn metrics(State(state): State<ProbeState>, caller: Caller) -> Result<Response, GatewayError> {
    answer(&state.probes.metrics, &caller)
}

/// Returns the metrics for a caller.
///
/// # Errors
/// If the caller may not read them.
pub(super) fn answer(metrics: &Metrics, caller: &Caller) -> Result<Response, GatewayError> {
    caller.require(|rights| rights.metrics || rights.owner, "metrics")?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.text()).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;
    use figaro_config::{ApiKey, KeyHash, Rights};
    use tower::ServiceExt;

    use super::*;

    fn key(name: &str, metrics: bool) -> ApiKey {
        let rights = Rights { metrics, ..Rights::USUAL };
        let (hash, name) = (KeyHash::of(&format!("key-of-{name}")), name.to_owned());
        ApiKey { hash, name, rights, tenant: None, user: None, per_minute: None, per_day: None }
    }

    #[tokio::test]
    async fn metrics_for_other_machines_need_a_key_with_the_right() {
        let keys = vec![key("prometheus", true), key("app", false)];
        let address = Some(([0, 0, 0, 0], 9464).into());
        let settings = HttpSettings { metrics_address: address, keys, ..HttpSettings::default() };
        let router = Probes::default().router(&settings);
        let asked = async |path: &str, key: Option<&str>| {
            let mut request = Request::builder().uri(path).header(header::HOST, "localhost");
            if let Some(key) = key {
                request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            }
            router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
        };
        let wanted =
            [(Some("key-of-prometheus"), 200), (Some("key-of-app"), 403), (Some("other"), 401), (None, 401)];
        for (key, status) in wanted {
            assert_eq!(asked("/metrics", key).await, status, "{key:?}");
        }
        assert_eq!((asked("/healthz", None).await, asked("/readyz", None).await), (200, 503));
    }
}
