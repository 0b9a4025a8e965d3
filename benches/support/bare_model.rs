//! A model that costs next to nothing: it answers every chat completion with the same words, at once or at a pace, calls for
//! facts and summaries as they want it, and checks nothing. What the offline model checks of each request would be in the figures.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::listener;

/// What it says in each piece.
const WORDS: &str = "Nothing is on today. ";
/// What each of its answers begins with.
pub(crate) const FIRST_WORD: &str = "Nothing";

/// How prompts for work beside answers begin, and what it says to them, in JSON.
const BESIDE: [(&str, &str); 2] = [
    ("You keep what is worth remembering", r#"{\"items\":[]}"#),
    ("You summarise conversations.", r#"{\"summary\":\"They asked what is on.\",\"importance\":3}"#),
];

/// How fast it answers.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// A stream comes in so many pieces.
    pub(crate) pieces: u32,
    /// The pause before each. An answer that is no stream comes after all of them.
    pub(crate) pause: Duration,
}

impl Pace {
    /// All at once.
    pub(crate) const NONE: Self = Self { pieces: 1, pause: Duration::ZERO };
}

/// The model on a port of loopback.
pub(crate) struct BareModel {
    url: String,
    serving: tokio::task::JoinHandle<()>,
}

impl BareModel {
    pub(crate) async fn start(pace: Pace) -> Self {
        let listener = listener().await;
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                drop(tokio::spawn(serve(stream, pace)));
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

async fn serve(mut stream: TcpStream, pace: Pace) {
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
        let has = |words: &str| body.windows(words.len()).any(|part| part == words.as_bytes());
        let words = BESIDE.iter().find(|(task, _)| has(task)).map_or(WORDS, |(_, words)| words);
        let (kind, parts) = match has(r#""stream":true"#) {
            true => ("text/event-stream", events(pace, words)),
            false => ("application/json", whole(pace, words)),
        };
        if write(&mut stream, kind, parts).await.is_err() {
            return;
        }
    }
}

/// Writes an answer of parts, each after its pause.
async fn write(stream: &mut TcpStream, kind: &str, parts: Vec<(Duration, String)>) -> std::io::Result<()> {
    let length: usize = parts.iter().map(|(_, part)| part.len()).sum();
    let mut bytes = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    for (pause, part) in parts {
        if !pause.is_zero() {
            stream.write_all(bytes.as_bytes()).await?;
            bytes.clear();
            tokio::time::sleep(pause).await;
        }
        bytes.push_str(&part);
    }
    stream.write_all(bytes.as_bytes()).await
}

/// Where the body of the first request begins and how long it is, once all of it is there.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    (bytes.len() >= head + length).then_some((head, length))
}

fn whole(pace: Pace, words: &str) -> Vec<(Duration, String)> {
    let words = words.repeat(pace.pieces as usize);
    let body = format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"offline","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"{words}"}}}}],"usage":{USAGE}}}"#
    );
    vec![(pace.pause * pace.pieces, body)]
}

const USAGE: &str = r#"{"prompt_tokens":900,"completion_tokens":5,"total_tokens":905}"#;

fn events(pace: Pace, words: &str) -> Vec<(Duration, String)> {
    let chunk = |rest: &str| {
        format!(r#"data: {{"id":"c","object":"chat.completion.chunk","created":1,"model":"offline",{rest}}}"#)
            + "\n\n"
    };
    let words = chunk(&format!(
        r#""choices":[{{"index":0,"finish_reason":null,"delta":{{"role":"assistant","content":"{words}"}}}}]"#
    ));
    let end = chunk(r#""choices":[{"index":0,"finish_reason":"stop","delta":{}}]"#);
    let usage = chunk(&format!(r#""choices":[],"usage":{USAGE}"#));
    let mut parts = vec![(pace.pause, words); pace.pieces as usize];
    parts.push((Duration::ZERO, end + &usage + "data: [DONE]\n\n"));
    parts
}
