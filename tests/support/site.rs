//! A web site on loopback, for what is read behind links.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;

/// One answer of the site: the head without its first line, and the body.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// Sends the body byte by byte, one each half second.
    trickles: bool,
}

impl Answer {
    pub fn of(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let head = format!("content-type: {kind}\r\ncontent-length: {}\r\n", body.len());
        Self { status: 200, head, body, trickles: false }
    }

    pub fn page(html: &str) -> Self {
        Self::of("text/html; charset=utf-8", html)
    }

    pub fn redirect(to: &str) -> Self {
        Self { status: 302, head: format!("location: {to}\r\ncontent-length: 0\r\n"), ..Self::page("") }
    }

    pub fn status(status: u16) -> Self {
        Self { status, ..Self::page("no") }
    }

    /// States another length than the body has.
    pub fn stating(self, length: u64) -> Self {
        Self { head: format!("content-type: text/html\r\ncontent-length: {length}\r\n"), ..self }
    }

    pub fn trickling(self) -> Self {
        Self { trickles: true, ..self }
    }
}

/// A running site; it ends when dropped.
pub struct Site {
    /// Address and port, such as `127.0.0.1:4711`.
    pub host: String,
    asked: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

impl Site {
    /// Serves these paths; any other is not found.
    pub async fn start(answers: impl IntoIterator<Item = (&str, Answer)>) -> Self {
        let listener = listener().await;
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers: HashMap<String, Answer> =
            answers.into_iter().map(|(path, answer)| (path.to_owned(), answer)).collect();
        let (log, answers) = (asked.clone(), Arc::new(answers));
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's server")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (log, answers) = (log.clone(), answers.clone());
                #[expect(clippy::disallowed_methods, reason = "it ends with its connection")]
                tokio::spawn(async move { drop(serve(client, &log, &answers).await) });
            }
        });
        Self { host, asked, task: serving.abort_handle() }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// The paths asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut client: TcpStream,
    log: &Mutex<Vec<String>>,
    answers: &HashMap<String, Answer>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    assert!(head.starts_with("GET ") && !head.to_lowercase().contains("cookie"), "{head}");
    log.lock().push(path.clone());
    let missing = Answer::status(404);
    let Answer { status, head, body, trickles } = answers.get(&path).unwrap_or(&missing);
    client.write_all(format!("HTTP/1.1 {status} X\r\n{head}connection: close\r\n\r\n").as_bytes()).await?;
    if *trickles {
        for byte in body {
            client.write_all(&[*byte]).await?;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        return Ok(());
    }
    client.write_all(body).await?;
    client.shutdown().await
}
