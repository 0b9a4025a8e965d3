//! A hand-made server for the tests of providers: it sends chosen bytes in chosen pieces and keeps what it was asked.
//! [`faults`] is what all of them must bear.

pub(crate) mod faults;

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Behaviour after the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Finish,
    Break,
    Hang,
}

#[derive(Clone)]
pub(crate) struct TestReply {
    /// Status line and headers; empty to send nothing at all.
    pub(crate) head: String,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) pause: Duration,
    pub(crate) end: StreamEnd,
}

impl TestReply {
    pub(crate) fn stream(pieces: Vec<Vec<u8>>) -> Self {
        let head = "200 OK\r\ncontent-type: text/event-stream; charset=utf-8".to_owned();
        Self { head, pieces, pause: Duration::ZERO, end: StreamEnd::Finish }
    }

    pub(crate) fn plain(head: &str, body: &str) -> Self {
        Self { head: head.into(), ..Self::stream(vec![body.into()]) }
    }
}

/// One request as it arrived.
pub(crate) struct Heard {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Answers each request on a connection of its own. Dropping it ends everything.
pub(crate) struct TestServer {
    pub(crate) base_url: String,
    pub(crate) heard: Arc<Mutex<Vec<Heard>>>,
    /// One message for each connection that the client closed while the server held it open.
    pub(crate) closed: mpsc::UnboundedReceiver<()>,
    _tasks: JoinSet<()>,
}

impl TestServer {
    pub(crate) async fn start(answer: impl Fn(&Value) -> TestReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (note, closed) = mpsc::unbounded_channel();
        let (answer, log) = (Arc::new(answer), Arc::clone(&heard));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answer, log, note) = (Arc::clone(&answer), Arc::clone(&log), note.clone());
                connections.spawn(async move {
                    let heard = receive(&mut socket).await;
                    let reply = answer(&heard.body);
                    log.lock().unwrap().push(heard);
                    if send_reply(&mut socket, reply).await.is_none() {
                        note.send(()).unwrap();
                    }
                });
            }
        });
        Self { base_url, heard, closed, _tasks: tasks }
    }

    pub(crate) async fn replying(reply: TestReply) -> Self {
        Self::start(move |_| reply.clone()).await
    }
}

async fn receive(socket: &mut TcpStream) -> Heard {
    let mut bytes = Vec::new();
    loop {
        socket.read_buf(&mut bytes).await.unwrap();
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let body = serde_json::from_slice(&bytes[end + 4..]);
        // A question without a body has nothing to wait for.
        let body = if bytes.starts_with(b"GET ") { Ok(Value::Null) } else { body };
        if let Ok(body) = body {
            return Heard { head: String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase(), body };
        }
    }
}

/// `None` if the client closed the connection first.
async fn send_reply(socket: &mut TcpStream, reply: TestReply) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    if !reply.head.is_empty() {
        let head =
            format!("HTTP/1.1 {}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n", reply.head);
        socket.write_all(head.as_bytes()).await.ok()?;
    }
    for piece in reply.pieces.iter().filter(|piece| !piece.is_empty()) {
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        socket.write_all(&chunk).await.ok()?;
        if !reply.pause.is_zero() {
            tokio::time::sleep(reply.pause).await;
        }
    }
    match reply.end {
        StreamEnd::Finish => socket.write_all(b"0\r\n\r\n").await.ok(),
        StreamEnd::Break => Some(()),
        StreamEnd::Hang => socket.read_u8().await.ok().map(drop),
    }
}

/// One client for all tests: each new one reads the machine's certificates.
pub(crate) static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| {
    rustls::crypto::ring::default_provider().install_default().ok();
    reqwest::Client::builder().connect_timeout(Duration::from_secs(10)).no_proxy().build().unwrap()
});
