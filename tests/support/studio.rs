//! A service on loopback that draws and speaks: OpenAI's `POST /v1/images/generations`, `/v1/images/edits` and
//! `/v1/audio/speech`, and Gemini's `generateContent` with a picture. It checks each request to the byte.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::listener;
use super::speech::{answer, arrived, parts};
use super::wait::eventually;

/// Stands for no answer.
const HANG: u16 = 0;
const BREAK: u16 = 1;
/// A sound that begins as Opus in Ogg does.
pub const SOUND: &[u8] = b"OggS\0\x02spoken\xff";

/// Order that arrived: the path and the fields of the request, and the picture to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub path: String,
    pub fields: Value,
    pub base: Option<Vec<u8>>,
}

#[derive(Default)]
struct StudioLog {
    failures: VecDeque<(u16, String)>,
    /// Tokens of pictures from now on, by the service's own count.
    count: Option<u64>,
    orders: Vec<Order>,
    faults: Vec<String>,
}

/// A running service; it ends when dropped.
pub struct Studio {
    /// Address without a path, such as `http://127.0.0.1:4711`.
    pub origin: String,
    log: Arc<Mutex<StudioLog>>,
    task: AbortHandle,
}

impl Studio {
    pub async fn start() -> Self {
        let listener = listener().await;
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(StudioLog::default()));
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

    /// The next request fails.
    pub fn fails(&self, status: u16, words: &str) {
        self.log.lock().failures.push_back((status, words.to_owned()));
    }

    /// From now on a picture counts so many tokens.
    pub fn counts(&self, tokens: u64) {
        self.log.lock().count = Some(tokens);
    }

    /// The next request is never answered.
    pub fn hangs(&self) {
        self.fails(HANG, "");
    }

    /// The connection of the next request ends without an answer.
    pub fn breaks_off(&self) {
        self.fails(BREAK, "");
    }

    /// Waits until so many orders have come.
    pub async fn ordered(&self, count: usize) {
        eventually(
            || format!("no {count} orders: {:?}", self.orders()),
            async || (self.orders().len() >= count).then_some(()),
        )
        .await;
    }

    pub fn orders(&self) -> Vec<Order> {
        self.log.lock().orders.clone()
    }

    /// Faults of the requests so far.
    pub fn faults(&self) -> Vec<String> {
        self.log.lock().faults.clone()
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns the PNG that is given for the order with this number, from 1.
pub fn picture(number: usize) -> Vec<u8> {
    let number = u8::try_from(number).unwrap();
    vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', number]
}

async fn serve(mut client: TcpStream, log: &Mutex<StudioLog>) -> std::io::Result<()> {
    loop {
        let asked = arrived(&mut client).await?;
        let read = match asked.path.as_str() {
            "/v1/images/generations" => drawn(&asked.body),
            "/v1/images/edits" => changed(&asked.kind, &asked.body),
            "/v1/audio/speech" => spoken(&asked.body),
            path if path.ends_with(":generateContent") => gemini(&asked.body),
            other => Err(format!("there is no {other}")),
        };
        let (number, failure, count) = {
            let mut log = log.lock();
            match read {
                Ok((fields, base)) => log.orders.push(Order { path: asked.path.clone(), fields, base }),
                Err(fault) => log.faults.push(fault),
            }
            (log.orders.len(), log.failures.pop_front(), log.count.unwrap_or(1_000))
        };
        if let Some((status, words)) = failure {
            if status == HANG {
                std::future::pending::<()>().await;
            }
            if status == BREAK {
                return Ok(());
            }
            let error = json!({"error": {"message": words}}).to_string();
            answer(&mut client, status, "application/json", error.as_bytes()).await?;
            continue;
        }
        if asked.path == "/v1/audio/speech" {
            answer(&mut client, 200, "audio/ogg", SOUND).await?;
            continue;
        }
        let base64 = STANDARD.encode(picture(number));
        let parts = json!([{"text": "Here."}, {"inlineData": {"mimeType": "image/png", "data": base64}}]);
        let given = json!({
            "data": [{"b64_json": base64}],
            "usage": {"input_tokens": 20, "output_tokens": count},
            "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": count},
        });
        answer(&mut client, 200, "application/json", given.to_string().as_bytes()).await?;
    }
}

type ReadOrder = Result<(Value, Option<Vec<u8>>), String>;

/// Checks that an object has these fields, in any order, and no others.
fn with_fields(body: Value, known: &[&[&str]]) -> Result<Value, String> {
    let mut names: Vec<&str> =
        body.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match known.contains(&names.as_slice()) {
        true => Ok(body),
        false => Err(format!("the fields {names:?}")),
    }
}

/// Fields of a picture: of the models named `gpt-image`, and of others.
const PICTURE: [&[&str]; 2] =
    [&["model", "prompt", "quality", "size"], &["model", "prompt", "response_format", "size"]];

fn drawn(body: &[u8]) -> ReadOrder {
    let body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Ok((with_fields(body, &PICTURE)?, None))
}

fn changed(kind: &str, body: &[u8]) -> ReadOrder {
    let (mut fields, mut base) = (Map::new(), None);
    for (head, bytes) in parts(kind, body)? {
        let name = head.strip_prefix("Content-Disposition: form-data; name=\"").unwrap_or_default();
        match name.split_once('"') {
            Some(("image", "; filename=\"image.png\"\r\nContent-Type: image/png")) => base = Some(bytes),
            Some((name, "")) => {
                fields.insert(name.to_owned(), String::from_utf8_lossy(&bytes).into());
            }
            _ => return Err(format!("the part {head}")),
        }
    }
    let base = base.ok_or("no picture to change")?;
    Ok((with_fields(fields.into(), &PICTURE)?, Some(base)))
}

fn spoken(body: &[u8]) -> ReadOrder {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if body["response_format"] != "opus" {
        return Err(format!("the format {}", body["response_format"]));
    }
    Ok((with_fields(body, &[&["input", "model", "response_format", "voice"]])?, None))
}

fn gemini(body: &[u8]) -> ReadOrder {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let body = with_fields(body, &[&["contents", "generationConfig"]])?;
    let parts = body["contents"][0]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let base = parts.get(1).and_then(|part| part["inline_data"]["data"].as_str());
    let base = base.map(|base64| STANDARD.decode(base64).map_err(|error| error.to_string())).transpose()?;
    let fields = json!({"prompt": parts[0]["text"], "config": body["generationConfig"]});
    Ok((fields, base))
}
