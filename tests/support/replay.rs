//! A model's service that sends chosen bytes, whatever its dialect: for what no service should send and some do.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;

/// One answer.
#[derive(Debug, Clone)]
pub struct Sent {
    status: u16,
    kind: &'static str,
    bytes: Vec<u8>,
    /// The connection breaks where the answer should end.
    breaks: bool,
    /// It comes in pieces of so many bytes.
    piece: usize,
    /// The same reply with a header more.
    header: &'static str,
}

impl Sent {
    /// A stream of events.
    pub fn events(text: &str) -> Self {
        let (bytes, piece) = (text.into(), usize::MAX);
        Self { status: 200, kind: "text/event-stream", bytes, breaks: false, piece, header: "x-more: none" }
    }

    /// A stream of lines.
    pub fn lines(text: &str) -> Self {
        Self { kind: "application/x-ndjson", ..Self::events(text) }
    }

    /// A JSON document with this status.
    pub fn document(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", ..Self::events(&body.to_string()) }
    }

    pub const fn in_pieces(mut self, of_bytes: usize) -> Self {
        self.piece = of_bytes;
        self
    }

    pub const fn with_header(mut self, header: &'static str) -> Self {
        self.header = header;
        self
    }

    pub const fn broken(mut self) -> Self {
        self.breaks = true;
        self
    }
}

/// A running service; it ends when dropped.
pub struct Replay {
    /// Such as `http://127.0.0.1:4711`.
    pub url: String,
    heard: Arc<Mutex<Vec<Value>>>,
    task: AbortHandle,
}

impl Replay {
    /// Answers each request for an answer with the next of these, and again with the last.
    pub async fn start(answers: Vec<Sent>) -> Self {
        let listener = listener().await;
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        let answers = Arc::new(answers);
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's server")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that breaks is the client's business.
                drop(tokio::spawn(serve(client, Arc::clone(&answers), Arc::clone(&log))));
            }
        });
        Self { url, heard, task: serving.abort_handle() }
    }

    /// The requests for an answer so far.
    pub fn requests(&self) -> Vec<Value> {
        self.heard.lock().clone()
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut client: TcpStream,
    answers: Arc<Vec<Sent>>,
    heard: Arc<Mutex<Vec<Value>>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    client.read_exact(&mut body).await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_question = ["messages", "input", "contents"].iter().any(|field| body[*field].is_array());
    let answer = match is_question {
        true => {
            let mut heard = heard.lock();
            heard.push(body);
            answers.get(heard.len() - 1).or(answers.last()).cloned().unwrap()
        }
        // What it serves, and what it knows of a model.
        false => Sent::document(404, &Value::Null),
    };
    let framing = if answer.breaks { "content-length: 1000000" } else { "x-framing: none" };
    let Sent { status, kind, header, .. } = answer;
    let head = format!(
        "HTTP/1.1 {status} Replayed\r\ncontent-type: {kind}\r\n{framing}\r\n{header}\r\nconnection: close\r\n\r\n"
    );
    client.set_nodelay(true)?;
    client.write_all(head.as_bytes()).await?;
    for piece in answer.bytes.chunks(answer.piece) {
        client.write_all(piece).await?;
        client.flush().await?;
        // Without a pause, pieces may arrive as one.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    client.shutdown().await
}
