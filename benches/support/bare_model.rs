//! A model that costs next to nothing: it answers every chat completion at once with the same words, and checks nothing.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::listener;

/// What it says.
const WORDS: &str = "Nothing is on today.";

/// The model on a port of loopback.
pub(crate) struct BareModel {
    url: String,
    serving: tokio::task::JoinHandle<()>,
}

impl BareModel {
    pub(crate) async fn start() -> Self {
        let listener = listener().await;
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                drop(tokio::spawn(serve(stream)));
            }
        });
        Self { url, serving }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for BareModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut stream: TcpStream) {
    let mut bytes = Vec::new();
    let mut read = [0; 16 * 1024];
    loop {
        let Some((head, length)) = request(&bytes) else {
            match stream.read(&mut read).await {
                Ok(0) | Err(_) => return,
                Ok(count) => bytes.extend_from_slice(&read[..count]),
            }
            continue;
        };
        let body = bytes[head..head + length].to_vec();
        bytes.drain(..head + length);
        let streams = body.windows(13).any(|part| part == br#""stream":true"#);
        let (kind, body) =
            if streams { ("text/event-stream", events()) } else { ("application/json", whole()) };
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Where the body of the first request begins and how long it is, once all of it is there.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    (bytes.len() >= head + length).then_some((head, length))
}

fn whole() -> String {
    format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"offline","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"{WORDS}"}}}}],"usage":{USAGE}}}"#
    )
}

const USAGE: &str = r#"{"prompt_tokens":900,"completion_tokens":5,"total_tokens":905}"#;

fn events() -> String {
    let chunk = |rest: &str| {
        format!(r#"data: {{"id":"c","object":"chat.completion.chunk","created":1,"model":"offline",{rest}}}"#)
            + "\n\n"
    };
    let words = format!(
        r#""choices":[{{"index":0,"finish_reason":null,"delta":{{"role":"assistant","content":"{WORDS}"}}}}]"#
    );
    let end = r#""choices":[{"index":0,"finish_reason":"stop","delta":{}}]"#;
    let usage = format!(r#""choices":[],"usage":{USAGE}"#);
    chunk(&words) + &chunk(end) + &chunk(&usage) + "data: [DONE]\n\n"
}
