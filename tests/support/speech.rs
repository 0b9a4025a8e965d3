//! A service on loopback that turns speech into text: OpenAI's `POST /v1/audio/transcriptions`, and Gemini's
//! `generateContent` with a sound. It checks each request to the byte.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;

/// A sound as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardSound {
    pub model: String,
    /// Name of the file; empty for Gemini, which gets none.
    pub name: String,
    pub mime: String,
    pub bytes: Vec<u8>,
}

#[derive(Default)]
struct SpeechLog {
    answers: VecDeque<(u16, Value)>,
    heard: Vec<HeardSound>,
    faults: Vec<String>,
}

/// A running service; it ends when dropped.
pub struct Speech {
    /// Address without a path, such as `http://127.0.0.1:4711`.
    pub origin: String,
    log: Arc<Mutex<SpeechLog>>,
    task: AbortHandle,
}

impl Speech {
    pub async fn start() -> Self {
        let listener = listener().await;
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(SpeechLog::default()));
        let shared = log.clone();
        #[expect(clippy::disallowed_methods, reason = "it ends with the test's server")]
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let log = shared.clone();
                #[expect(clippy::disallowed_methods, reason = "it ends with its connection")]
                tokio::spawn(async move { drop(serve(client, &log).await) });
            }
        });
        Self { origin, log, task: serving.abort_handle() }
    }

    /// The next sound has these words. OpenAI's service counts 7 tokens for the sound and 3 for the words.
    pub fn says(&self, words: &str) {
        let usage = json!({"type": "tokens", "input_tokens": 7, "output_tokens": 3, "total_tokens": 10});
        let part = json!({"content": {"role": "model", "parts": [{"text": words}]}, "finishReason": "STOP"});
        let count = json!({"promptTokenCount": 7, "candidatesTokenCount": 3});
        let answer = json!({"text": words, "usage": usage, "candidates": [part], "usageMetadata": count});
        self.log.lock().answers.push_back((200, answer));
    }

    /// The next request fails.
    pub fn fails(&self, status: u16) {
        self.log.lock().answers.push_back((status, json!({"error": {"message": "no ears today"}})));
    }

    pub fn heard(&self) -> Vec<HeardSound> {
        self.log.lock().heard.clone()
    }

    /// Faults of the requests so far.
    pub fn faults(&self) -> Vec<String> {
        self.log.lock().faults.clone()
    }
}

impl Drop for Speech {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A request as it arrived.
pub struct Arrived {
    pub path: String,
    /// Value of `content-type`.
    pub kind: String,
    pub body: Vec<u8>,
}

/// Reads a whole request.
pub async fn arrived(client: &mut TcpStream) -> std::io::Result<Arrived> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let field = |name: &str| {
        let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let length = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    client.read_exact(&mut body).await?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok(Arrived { path, kind: field("content-type").unwrap_or_default(), body })
}

/// Answers a request.
pub async fn answer(client: &mut TcpStream, status: u16, kind: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    client.write_all(head.as_bytes()).await?;
    client.write_all(body).await
}

async fn serve(mut client: TcpStream, log: &Mutex<SpeechLog>) -> std::io::Result<()> {
    loop {
        let asked = arrived(&mut client).await?;
        let read = match asked.path.as_str() {
            "/v1/audio/transcriptions" => form(&asked.kind, &asked.body),
            path if path.ends_with(":generateContent") => gemini(path, &asked.body),
            other => Err(format!("there is no {other}")),
        };
        let (status, given) = {
            let mut log = log.lock();
            match read {
                Ok(sound) => log.heard.push(sound),
                Err(fault) => log.faults.push(fault),
            }
            let silence =
                json!({"text": "", "candidates": [{"content": {"parts": [{"text": "[silence]"}]}}]});
            log.answers.pop_front().unwrap_or((200, silence))
        };
        answer(&mut client, status, "application/json", given.to_string().as_bytes()).await?;
    }
}

/// Reads the parts of a form: each with its head and its bytes.
pub fn parts(kind: &str, body: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let boundary =
        kind.strip_prefix("multipart/form-data; boundary=").ok_or_else(|| format!("{kind}: no form"))?;
    let between = format!("\r\n--{boundary}");
    let whole = [b"\r\n", body].concat();
    let mut parts = Vec::new();
    let mut rest = whole.as_slice();
    while let Some(at) = find(rest, between.as_bytes()) {
        parts.push(&rest[..at]);
        rest = &rest[at + between.len()..];
    }
    if rest != b"--\r\n" || !parts.first().is_some_and(|first| first.is_empty()) {
        return Err(format!("the form does not end as it should: {:?}", String::from_utf8_lossy(rest)));
    }
    let parts = parts.into_iter().skip(1).map(|part| {
        let part = part.strip_prefix(b"\r\n").ok_or("a part begins wrongly")?;
        let at = find(part, b"\r\n\r\n").ok_or("a part has no end of its head")?;
        Ok((String::from_utf8_lossy(&part[..at]).into_owned(), part[at + 4..].to_vec()))
    });
    parts.collect()
}

/// Reads the form that OpenAI's clients send: model, format of the answer, file, and nothing else.
fn form(kind: &str, body: &[u8]) -> Result<HeardSound, String> {
    let mut parts = parts(kind, body)?.into_iter();
    let mut text = |name: &str| {
        let (head, value) = parts.next().ok_or("a part is missing")?;
        match head == format!("Content-Disposition: form-data; name=\"{name}\"") {
            true => Ok(String::from_utf8_lossy(&value).into_owned()),
            false => Err(format!("{head} in place of {name}")),
        }
    };
    let model = text("model")?;
    let format = text("response_format")?;
    if format != "json" {
        return Err(format!("the format {format}"));
    }
    let (head, bytes) = parts.next().ok_or("the file is missing")?;
    let named = head.strip_prefix("Content-Disposition: form-data; name=\"file\"; filename=\"");
    let named = named.and_then(|rest| rest.split_once("\"\r\nContent-Type: "));
    let (name, mime) = named.ok_or_else(|| format!("{head} is no file"))?;
    if parts.next().is_some() {
        return Err("the form has more parts".to_owned());
    }
    Ok(HeardSound { model, name: name.to_owned(), mime: mime.to_owned(), bytes })
}

fn gemini(path: &str, body: &[u8]) -> Result<HeardSound, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let model =
        path.strip_prefix("/v1beta/models/").and_then(|path| path.split(':').next()).unwrap_or_default();
    let known = ["contents", "generationConfig", "system_instruction"];
    if let Some(other) =
        body.as_object().and_then(|body| body.keys().find(|key| !known.contains(&key.as_str())))
    {
        return Err(format!("an unknown field {other}"));
    }
    let [content] = body["contents"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        return Err("there is one content".to_owned());
    };
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [part] = parts else { return Err(format!("{} parts", parts.len())) };
    let data = &part["inline_data"];
    let bytes =
        STANDARD.decode(data["data"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
    let mime = data["mime_type"].as_str().unwrap_or_default().to_owned();
    Ok(HeardSound { model: model.to_owned(), name: String::new(), mime, bytes })
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
