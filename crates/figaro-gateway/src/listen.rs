//! Socket of the gateway and its connections: their number, the limits of a request head, and an orderly end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;

use super::error::GatewayError;
use figaro_base::shutdown::TaskTracker;

/// Maximum number of open connections. Further ones wait.
const MAX_CONNECTIONS: usize = 1024;
/// Timeout for the head of a request, counted from the previous answer. Clients keep idle connections open about this
/// long.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Limits of a request head: number of headers, and size in bytes.
const MAX_HEADERS: usize = 64;
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// Limits up to which a head is read at all, so that its client can be told the fault. A longer head is refused
/// without explanation.
const READ_HEADERS: usize = 8 * MAX_HEADERS;
const READ_BYTES: usize = 4 * MAX_HEAD_BYTES;
/// Timeout for writing. A connection whose peer reads nothing for this long is closed, and with it any follower of a
/// turn.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for a connection to end once a stop is requested; a little less than running turns have.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(7);
/// Pause after the system refused to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Socket of the gateway.
#[derive(Debug)]
pub struct GatewayListener(TcpListener);

impl GatewayListener {
    /// Binds this address.
    ///
    /// # Errors
    /// If the address is in use or does not belong to this machine.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Self)
    }

    /// Returns the bound address.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Logs the bound address; `served` is what is there, with its verb.
    pub fn tell_address(&self, served: &str) {
        match self.address() {
            Ok(address) => tracing::info!("{served} at http://{address}"),
            Err(error) => tracing::warn!(%error, "{served} at an address that is not known"),
        }
    }

    /// Serves connections until a stop is requested. Open connections then end once their answers are sent.
    pub async fn serve(self, router: Router, background: TaskTracker) {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let taken = tokio::select! {
                () = background.stopping() => return,
                taken = next(&self.0, &room) => taken,
            };
            let (router, stopping) = (router.clone(), background.clone());
            background.spawn("http", async move { connection(taken, router, stopping).await });
        }
    }
}

/// Refuses a head that is too long.
pub(super) fn check_head(request: &Request) -> Result<(), GatewayError> {
    let uri = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    let headers = request.headers();
    // Each header is a line: name, `: `, value and line end.
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if headers.len() <= MAX_HEADERS && uri + bytes <= MAX_HEAD_BYTES {
        return Ok(());
    }
    let words =
        format!("the head has more than {MAX_HEADERS} headers or {} KiB: send less", MAX_HEAD_BYTES >> 10);
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    Err(GatewayError { status, code: "head_too_large", ..GatewayError::invalid(words) })
}

/// Connection with its permit among the open ones.
struct AcceptedConnection {
    socket: TcpStream,
    _room: OwnedSemaphorePermit,
}

async fn next(listener: &TcpListener, room: &Arc<Semaphore>) -> AcceptedConnection {
    loop {
        let Ok(_room) = room.clone().acquire_owned().await else {
            // The semaphore is never closed.
            return std::future::pending().await;
        };
        match listener.accept().await {
            Ok((socket, _)) => return AcceptedConnection { socket, _room },
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(taken: AcceptedConnection, router: Router, stopping: TaskTracker) {
    // Without it each event waits 40 ms for the client's acknowledgement.
    if let Err(error) = taken.socket.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays slow");
    }
    talk(taken.socket, router, stopping).await;
}

/// Answers the requests of a connection until it ends.
async fn talk(socket: impl AsyncRead + AsyncWrite + Send + 'static, router: Router, stopping: TaskTracker) {
    let mut socket = TimeoutWriter::new(socket);
    socket.set_timeout(Some(WRITE_TIMEOUT));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder.max_headers(READ_HEADERS).max_buf_size(READ_BYTES);
    let connection =
        builder.serve_connection(TokioIo::new(Box::pin(socket)), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = stopping.stopping() => {
            connection.as_mut().graceful_shutdown();
            // A client that reads slowly or does not send the rest must not hold up a stop.
            match timeout(DRAIN_TIMEOUT, connection).await {
                Ok(served) => served,
                Err(_late) => return,
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Body, Bytes};
    use axum::routing::get;
    use futures::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    /// Answers without an end.
    fn endless() -> Router {
        let words = || async {
            Body::from_stream(stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 512]))))
        };
        Router::new().route("/", get(words))
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_other_end_takes_nothing_is_ended() {
        let (mut client, server) = tokio::io::duplex(4_096);
        let began = Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        // Whoever reads, however slowly, is served on.
        let slowly = async {
            let mut piece = [0; 1_024];
            for _ in 0..10 {
                tokio::time::sleep(WRITE_TIMEOUT / 2).await;
                client.read_exact(&mut piece).await.unwrap();
            }
        };
        futures::join!(talk(server, endless(), TaskTracker::new()), slowly);
        let took = began.elapsed();
        assert!(took >= WRITE_TIMEOUT * 5 && took < WRITE_TIMEOUT * 7, "{took:?}");
        // What was on its way is there, and nothing comes behind it.
        let mut rest = Vec::new();
        drop(client.read_to_end(&mut rest).await);
        assert!(rest.len() <= 4_096);
    }
}
