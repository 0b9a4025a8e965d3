//! A web server that gives answers by the path that is asked for, whatever else a request says.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;

/// The status and the body for a path, the head of its request and its body.
type Answers = dyn Fn(&str, &str, &[u8]) -> (u16, String) + Send + Sync;

/// A running server; it ends when dropped.
pub struct Canned {
    /// Such as `http://127.0.0.1:4711`.
    pub url: String,
    task: AbortHandle,
}

impl Canned {
    pub async fn start(answers: impl Fn(&str, &str) -> (u16, String) + Send + Sync + 'static) -> Self {
        Self::reading(move |path, head, _| answers(path, head)).await
    }

    /// A server that looks at the bodies of requests, too.
    pub async fn reading(
        answers: impl Fn(&str, &str, &[u8]) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = listener().await;
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Answers> = Arc::new(answers);
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's server")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that breaks is the client's business.
                drop(tokio::spawn(serve(client, Arc::clone(&answers))));
            }
        });
        Self { url, task: serving.abort_handle() }
    }

    /// A server that knows no path.
    pub async fn empty() -> Self {
        Self::start(|_, _| (404, r#"{"detail":"Not Found"}"#.to_owned())).await
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut client: TcpStream, answers: Arc<Answers>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut sent = vec![0; length.unwrap_or_default()];
    client.read_exact(&mut sent).await?;
    let (status, body) = answers(head.split(' ').nth(1).unwrap_or_default(), &head, &sent);
    let answer = format!(
        "HTTP/1.1 {status} Canned\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(answer.as_bytes()).await
}

/// A picture of one pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
