//! The HTTP side: who may connect, from where, with how much. `process` and the tests call [`serve`].

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::{ExposeSecret, SecretString};
use subtle::{Choice, ConstantTimeEq};
use tokio::net::TcpListener;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::server::BotApi;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// For all of a call but the contents of its files.
const MAX_CALL: usize = 1024 * 1024;
/// For connections to close after the last answers.
const CLOSE_PATIENCE: Duration = Duration::from_millis(450);

/// Why serving ended, or never began.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No HTTP client for Telegram could be made; the system's certificates are the usual reason.
    #[error("the HTTP client for Telegram does not start: install the system's CA certificates")]
    Client(#[from] reqwest::Error),
    /// The socket failed.
    #[error("the MCP socket failed: start again")]
    Socket(#[from] io::Error),
    /// What came on standard input was no MCP.
    #[error(
        "the client did not begin as MCP does: start this from an MCP client, or leave out --stdio for HTTP"
    )]
    NoClient(#[source] Box<ServerInitializeError>),
    /// A task of the server's ended before its time.
    #[error("serving broke down: start again")]
    Broken(#[from] JoinError),
}

/// Serves MCP at `/mcp` until `shutdown` resolves, then ends within two seconds.
///
/// # Errors
/// When it can not begin, or its socket fails.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let port = listener.local_addr()?.port();
    let bot_api = BotApi::new(&settings)?;
    let (stop, streams) = (CancellationToken::new(), CancellationToken::new());
    let app = router(bot_api.clone(), port, settings.max_file_bytes, streams.clone())
        .layer(middleware::from_fn_with_state(Arc::<[SecretString]>::from(settings.keys), require_key));
    // Without it each answer waits 40 ms for the client's acknowledgement.
    let listener = listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    });
    let server = axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned());
    let ending = async {
        shutdown.await;
        stop.cancel();
        bot_api.settle().await;
        // Ends the streams that clients hold open, so that their connections can close.
        streams.cancel();
        tokio::time::sleep(CLOSE_PATIENCE).await;
    };
    tokio::select! {
        served = server => Ok(served?),
        () = ending => Ok(()),
    }
}

fn router(bot_api: BotApi, port: u16, max_file_bytes: usize, streams: CancellationToken) -> Router {
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(streams)
        .with_allowed_origins(hosts.iter().map(|host| format!("http://{host}")))
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        // Base64 takes four bytes for three.
        .with_max_request_body_bytes(MAX_CALL + max_file_bytes / 3 * 4);
    let sessions = Arc::new(Sessions::new());
    let service = StreamableHttpService::new(move || Ok(bot_api.clone()), sessions.manager(), config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(sessions, Sessions::track))
}

async fn require_key(State(keys): State<Arc<[SecretString]>>, mut request: Request, next: Next) -> Response {
    if !keys.is_empty() && !has_key(&keys, request.headers()) {
        let how = "a key is needed: send `Authorization: Bearer <MCP_API_KEY>`\n";
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], how).into_response();
    }
    // It has done its work and is to be seen by nobody behind this door.
    request.headers_mut().remove(header::AUTHORIZATION);
    next.run(request).await
}

/// Compares with every key and byte by byte to the end, so that time tells nothing.
fn has_key(keys: &[SecretString], headers: &HeaderMap) -> bool {
    let Some((scheme, key)) = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
    else {
        return false;
    };
    let fits = keys
        .iter()
        .fold(Choice::from(0), |fits, own| fits | own.expose_secret().as_bytes().ct_eq(key.as_bytes()));
    scheme.eq_ignore_ascii_case("bearer") && bool::from(fits)
}
