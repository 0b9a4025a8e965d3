//! HTTP server: access control and limits. `process` and the tests call [`serve`].

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
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

use crate::body::Bodies;
use crate::server::BotApi;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// Interval between attempts to open a port that is in use.
const PORT_RETRY: Duration = Duration::from_secs(5);
/// Time for connections to close after the last responses.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(450);

/// Error that ended serving or prevented its start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The HTTP client for Telegram could not be built, usually for lack of the system's certificates.
    #[error("the HTTP client for Telegram does not start: install the system's CA certificates")]
    Client(#[from] reqwest::Error),
    /// An I/O error of the socket.
    #[error("the MCP socket failed: start again")]
    Socket(#[from] io::Error),
    /// The input on standard input was not MCP.
    #[error(
        "the client did not begin as MCP does: start this from an MCP client, or leave out --stdio for HTTP"
    )]
    NoClient(#[source] Box<ServerInitializeError>),
    /// A task of the server ended early.
    #[error("serving broke down: start again")]
    Broken(#[from] JoinError),
}

/// Listening sockets of the server.
#[derive(Debug)]
pub struct Doors {
    /// Main socket. Under a parent only the parent uses it.
    pub(crate) main: TcpListener,
    /// Socket for other clients; only under a parent.
    pub(crate) outside: Option<Outside>,
}

/// Socket for clients other than the parent.
#[derive(Debug)]
pub(crate) enum Outside {
    /// The socket is open.
    Open(TcpListener),
    /// Another process uses this port. The socket opens once the port is free.
    Taken(u16),
}

impl From<TcpListener> for Doors {
    fn from(main: TcpListener) -> Self {
        Self { main, outside: None }
    }
}

/// Serves MCP at `/mcp` until `shutdown` resolves, then ends within two seconds.
///
/// # Errors
/// If serving cannot begin, or a socket fails.
pub async fn serve(
    doors: impl Into<Doors>,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Doors { main, outside } = doors.into();
    let ports = [Some(main.local_addr()?.port()), outside.as_ref().map(Outside::port).transpose()?];
    let bot_api = BotApi::new(&settings)?;
    let (stop, streams) = (CancellationToken::new(), CancellationToken::new());
    let app = router(bot_api.clone(), &ports, settings.max_message_bytes(), streams.clone())
        .layer(middleware::from_fn_with_state(Arc::<[SecretString]>::from(settings.keys), require_key));
    let outside = async {
        let Some(outside) = outside else { return Ok(()) };
        match outside.opened(&stop).await? {
            Some(listener) => listen(listener, app.clone(), &stop).await,
            None => Ok(()),
        }
    };
    let ending = async {
        shutdown.await;
        stop.cancel();
        bot_api.settle().await;
        // Ends the streams held open by clients, so that their connections can close.
        streams.cancel();
        tokio::time::sleep(CLOSE_TIMEOUT).await;
    };
    tokio::select! {
        served = async { tokio::try_join!(listen(main, app.clone(), &stop), outside) } => {
            served?;
            Ok(())
        }
        () = ending => Ok(()),
        never = bot_api.poll_updates() => match never {},
    }
}

impl Outside {
    fn port(&self) -> io::Result<u16> {
        match self {
            Self::Open(listener) => Ok(listener.local_addr()?.port()),
            Self::Taken(port) => Ok(*port),
        }
    }

    /// Waits until the socket can be opened; `None` if the server stops first.
    async fn opened(self, stop: &CancellationToken) -> io::Result<Option<TcpListener>> {
        let listener = match self {
            Self::Open(listener) => listener,
            Self::Taken(port) => loop {
                tokio::select! {
                    () = tokio::time::sleep(PORT_RETRY) => {}
                    () = stop.cancelled() => return Ok(None),
                }
                if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                    break listener;
                }
            },
        };
        tracing::info!("other MCP clients are served at http://{}/mcp", listener.local_addr()?);
        Ok(Some(listener))
    }
}

/// Serves the clients of one socket until the server stops.
async fn listen(listener: TcpListener, app: Router, stop: &CancellationToken) -> io::Result<()> {
    // Otherwise each response waits 40 ms for the client's acknowledgement.
    let listener = listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    });
    axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned()).await
}

fn router(bot_api: BotApi, ports: &[Option<u16>], longest: usize, streams: CancellationToken) -> Router {
    let at = |port: &u16| ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let hosts: Vec<String> = ports.iter().flatten().flat_map(at).collect();
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(streams)
        .with_allowed_origins(hosts.iter().map(|host| format!("http://{host}")))
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(longest);
    let service =
        StreamableHttpService::new(move || Ok(bot_api.new_session()), Arc::new(Sessions::new()), config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn(Sessions::unavailable_when_full))
        .layer(middleware::from_fn(end_without_content))
        .layer(middleware::from_fn_with_state(Bodies::new(longest), Bodies::bound))
}

/// Answers the end of a session with 204: the official Python clients report the 202 of `rmcp` as a failure.
async fn end_without_content(request: Request, next: Next) -> Response {
    let is_end = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

async fn require_key(State(keys): State<Arc<[SecretString]>>, mut request: Request, next: Next) -> Response {
    if !keys.is_empty() && !has_key(&keys, request.headers()) {
        let how = "a key is needed: send `Authorization: Bearer <MCP_API_KEY>`\n";
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], how).into_response();
    }
    // The key is no longer needed and stays hidden from later handlers.
    request.headers_mut().remove(header::AUTHORIZATION);
    next.run(request).await
}

/// Compares with all keys in constant time, so that timing leaks nothing.
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
