//! A small Telegram that records what it is asked, and does what the text of a message or the id of a file says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::TOKEN;

/// What it saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) asks: Vec<Asked>,
    /// Requests whose connection closed before their answer.
    pub(crate) aborted: usize,
    /// Updates for whoever polls.
    pub(crate) updates: Vec<Value>,
    /// `true` while another process polls.
    pub(crate) is_polled: bool,
}

pub(crate) type Shared = Arc<Mutex<Seen>>;

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The JSON body, or the text fields of a form.
    pub(crate) args: Value,
    /// The files of a form; `None` for JSON.
    pub(crate) files: Option<Vec<Part>>,
}

/// A file that came with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of its part.
    pub(crate) part: String,
    /// The name of the file.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// A file that it has.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) path: Option<String>,
    pub(crate) size: Option<usize>,
    /// `None` where the path leads nowhere.
    pub(crate) content: Option<Vec<u8>>,
}

/// The address of a new one, what it sees, and the task that keeps it alive.
pub(crate) async fn start() -> (String, Shared, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Shared::default();
    let mut task = JoinSet::new();
    task.spawn(serve(listener, seen.clone()));
    (address, seen, task)
}

/// Answers whoever connects.
pub(crate) async fn serve(listener: TcpListener, seen: Shared) {
    let app = Router::new().fallback(answer).with_state(seen).layer(DefaultBodyLimit::disable());
    axum::serve(listener, app).await.unwrap();
}

/// The file of an id, which says what is special about it.
pub(crate) fn stored(id: &str) -> Option<Stored> {
    let (path, content) = match id {
        "note" => ("documents/note.txt", b"hello\nworld".to_vec()),
        "table" => ("documents/table.json", b"{\"a\":1}".to_vec()),
        "picture" => ("photos/file_1.jpg", b"\xff\xd8\xff\xe0 a picture".to_vec()),
        "archive" => ("documents/all.zip", b"PK\x03\x04\xff".to_vec()),
        "no-ending" => ("documents/file_7", b"who knows".to_vec()),
        "binary-text" => ("documents/odd.txt", vec![0xff, 0xfe, 0x00]),
        "longest-text" => ("documents/longest.txt", vec![b'x'; 12 << 10]),
        "long-text" => ("documents/long.txt", vec![b'x'; (12 << 10) + 1]),
        "large-picture" => ("photos/large.jpg", vec![0xff; (1 << 20) + 1]),
        "two-mb" => ("documents/two.bin", vec![0xff; 2 << 20]),
        "gone" => ("documents/gone.txt", Vec::new()),
        "broken" => ("documents/broken.txt", b"not now".to_vec()),
        "cut" => ("documents/cut.txt", b"the first half".to_vec()),
        "sizeless" => ("documents/sizeless.txt", b"how long am I".to_vec()),
        "longer-than-said" => ("documents/liar.txt", vec![b'x'; 2 << 20]),
        "pathless" => ("", Vec::new()),
        "on-disk" => ("/var/lib/telegram-bot-api/12345:SECRET-token_x/documents/note.txt", b"hello".to_vec()),
        _ => return None,
    };
    let size = match id {
        "sizeless" => None,
        "longer-than-said" => Some(5),
        "gone" => Some(7),
        _ => Some(content.len()),
    };
    let path = Some(path.to_owned()).filter(|path| !path.is_empty());
    Some(Stored { path, size, content: Some(content).filter(|_| id != "gone") })
}

/// Counts a request that is dropped before its answer.
struct Unanswered(Shared);

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.lock().unwrap().aborted += 1;
    }
}

async fn answer(State(seen): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if let Some(file) = path.strip_prefix(&format!("/file/bot{TOKEN}/")) {
        return content(file, &path);
    }
    let method =
        path.strip_prefix(&format!("/bot{TOKEN}/")).unwrap_or_else(|| panic!("path {path}")).to_owned();
    let (args, files) = body(request).await;
    let asked = Asked { method, args, files };
    let times = {
        let mut seen = seen.lock().unwrap();
        seen.asks.push(asked.clone());
        seen.asks.iter().filter(|earlier| **earlier == asked).count()
    };
    if asked.args["allowed_updates"].is_array() {
        return polled(&asked.args, seen).await;
    }
    let cue = ["text", "title", "chat_id"].iter().find_map(|name| asked.args[*name].as_str());
    match refused(cue.unwrap_or_default(), times, &path, seen).await {
        Some(response) => response,
        None => result(&asked),
    }
}

/// The arguments of a request, and its files if it is a form.
async fn body(request: Request) -> (Value, Option<Vec<Part>>) {
    let kind = request.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
    if kind == "application/json" {
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
        return (serde_json::from_slice(&body).unwrap(), None);
    }
    let (mut args, mut files) = (Map::new(), Vec::new());
    let mut form = Multipart::from_request(request, &()).await.unwrap();
    while let Some(field) = form.next_field().await.unwrap() {
        let part = field.name().unwrap().to_owned();
        match field.file_name().map(ToOwned::to_owned) {
            Some(name) => files.push(Part { part, name, bytes: field.bytes().await.unwrap().to_vec() }),
            None => drop(args.insert(part, field.text().await.unwrap().into())),
        }
    }
    (Value::Object(args), Some(files))
}

/// Updates from the offset on, within a second.
async fn polled(args: &Value, seen: Shared) -> Response {
    for _ in 0..50 {
        let (is_polled, updates) = {
            let seen = seen.lock().unwrap();
            (seen.is_polled, seen.updates.clone())
        };
        if is_polled {
            return refusal(409, "Conflict: terminated by other getUpdates request", json!({}));
        }
        let is_new = |update: &&Value| update["update_id"].as_i64() >= args["offset"].as_i64();
        let new: Vec<&Value> = updates.iter().filter(is_new).collect();
        if !new.is_empty() {
            return axum::Json(json!({"ok": true, "result": new})).into_response();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    axum::Json(json!({"ok": true, "result": []})).into_response()
}

/// What goes wrong, by the cue and how often the same was asked.
async fn refused(cue: &str, times: usize, path: &str, seen: Shared) -> Option<Response> {
    let flood = |seconds: u64| {
        refusal(429, &format!("Too Many Requests: retry after {seconds}"), json!({"retry_after": seconds}))
    };
    Some(match (cue, times) {
        ("never", _) => {
            let _unanswered = Unanswered(seen);
            std::future::pending().await
        }
        ("half a second", _) => {
            tokio::time::sleep(Duration::from_millis(500)).await;
            return None;
        }
        ("flood", 1) => flood(1),
        ("long flood", _) => flood(30),
        ("moved", _) => refusal(400, "Bad Request: upgraded", json!({"migrate_to_chat_id": -1005})),
        ("no token", _) => refusal(401, "Unauthorized", json!({})),
        ("parrot", _) => refusal(404, &format!("Not Found: {path}"), json!({})),
        ("@shaky", 1..=2) | ("@once" | "once" | "then wrong", 1) | ("shaky", _) => {
            refusal(500, "Internal Server Error", json!({}))
        }
        ("then wrong" | "wrong", _) => refusal(400, "Bad Request: not modified", json!({})),
        ("proxy", _) => (StatusCode::BAD_GATEWAY, format!("<html>{path}</html>")).into_response(),
        ("elsewhere", _) => (StatusCode::FOUND, [(header::LOCATION, "/trap")]).into_response(),
        ("bulk", _) => {
            format!(r#"{{"ok": true, "result": {{"a": "{}"}}}}"#, "x".repeat(30 << 20)).into_response()
        }
        ("crowd", _) => format!(r#"{{"ok": true, "result": [{}0]}}"#, "0,".repeat(1 << 20)).into_response(),
        _ => return None,
    })
}

fn refusal(code: u16, description: &str, parameters: Value) -> Response {
    let body = json!({"ok": false, "error_code": code, "description": description, "parameters": parameters});
    (StatusCode::from_u16(code).unwrap(), axum::Json(body)).into_response()
}

fn result(asked: &Asked) -> Response {
    let id = match asked.method.as_str() {
        "getFile" => asked.args["file_id"].as_str().unwrap(),
        "uploadStickerFile" => "picture",
        method => {
            let result = json!({"message_id": 7, "method": method});
            return axum::Json(json!({"ok": true, "result": result})).into_response();
        }
    };
    let Some(Stored { path, size, .. }) = stored(id) else {
        return refusal(400, "Bad Request: invalid file_id", json!({}));
    };
    let mut file = json!({"file_id": id, "file_unique_id": "u"});
    if let Some(size) = size {
        file["file_size"] = size.into();
    }
    if let Some(path) = path {
        file["file_path"] = path.into();
    }
    axum::Json(json!({"ok": true, "result": file})).into_response()
}

/// A file by its path.
fn content(file: &str, path: &str) -> Response {
    let id = ["note", "table", "picture", "archive", "no-ending", "binary-text", "longest-text", "long-text"]
        .into_iter()
        .chain(["large-picture", "two-mb", "sizeless", "longer-than-said", "broken", "cut"])
        .find(|id| stored(id).unwrap().path.as_deref() == Some(file));
    let found = id.and_then(|id| Some((id, stored(id).unwrap().content?)));
    match found {
        Some(("broken", _)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("no {path}")).into_response(),
        // The connection ends before what was promised.
        Some(("cut", half)) => {
            ([(header::CONTENT_LENGTH, (2 * half.len()).to_string())], half).into_response()
        }
        Some((_, bytes)) => bytes.into_response(),
        None => (StatusCode::NOT_FOUND, format!("no {path}")).into_response(),
    }
}
