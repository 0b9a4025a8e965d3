//! Files on the page: uploads of the visitor, and files in messages.

use axum::Router;
use axum::body::Bytes;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, Path, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;

use super::super::people;
use super::super::say::{PhotoFile, Say};
use super::super::shared::SharedTelegram;
use super::refusal::{answer, refused};

/// Maximum size of an uploaded file, in bytes. Telegram accepts more, but bots can download at most 20 MB.
const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;
/// Maximum size of an upload, in bytes: the file and the form around it.
const MAX_FORM_BYTES: usize = MAX_FILE_BYTES + 1024 * 1024;
const MAX_CAPTION_UNITS: usize = 1024;
const TOO_LARGE: &str = "the demo takes files of up to 50 MB";

/// Returns the routes that upload and download files.
pub(super) fn routes(shared: SharedTelegram) -> Router {
    Router::new()
        .route("/demo/upload", post(upload))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .route("/demo/file/{id}", get(file))
        .with_state(shared)
}

/// Part `about` of an upload. The other parts are the file, or the sizes of the photo in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UploadInfo {
    chat_id: i64,
    message_thread_id: Option<i64>,
    from: i64,
    reply_to: Option<i64>,
    caption: String,
    /// Width and height of each photo size, in pixels; empty for a file.
    sizes: Vec<(u32, u32)>,
}

/// Parts of an upload, as received.
#[derive(Default)]
struct UploadForm {
    about: Option<UploadInfo>,
    /// Name and content of each file.
    files: Vec<(String, Bytes)>,
}

async fn upload(Extract(shared): Extract<SharedTelegram>, form: Multipart) -> Response {
    let form = match read(form).await {
        Ok(form) => form,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => return refused(TOO_LARGE),
        Err(_) => return refused("the file did not come through"),
    };
    let say = match say_of(form) {
        Ok(say) => say,
        Err(why) => return refused(why),
    };
    let now = shared.now().timestamp();
    let sent = shared.change(|state| people::send(state, say, now));
    answer(sent.map(|sent| json!({"message_id": sent.message_id})))
}

async fn read(mut parts: Multipart) -> Result<UploadForm, MultipartError> {
    let mut form = UploadForm::default();
    while let Some(part) = parts.next_field().await? {
        if part.name() == Some("about") {
            form.about = serde_json::from_str(&part.text().await?).ok();
        } else {
            let name = part.file_name().unwrap_or_default().to_owned();
            form.files.push((name, part.bytes().await?));
        }
    }
    Ok(form)
}

/// Builds the message of an upload. The error is the reason as text.
fn say_of(form: UploadForm) -> Result<Say, &'static str> {
    let UploadForm { about: Some(about), files } = form else {
        return Err("the file did not come through");
    };
    if about.caption.encode_utf16().count() > MAX_CAPTION_UNITS {
        return Err("a caption has at most 1,024 characters");
    }
    if files.is_empty() || files.iter().any(|(_, bytes)| bytes.is_empty()) {
        return Err("the file is empty");
    }
    if files.iter().any(|(_, bytes)| bytes.len() > MAX_FILE_BYTES) {
        return Err(TOO_LARGE);
    }
    let say = Say {
        topic: about.message_thread_id,
        reply_to: about.reply_to,
        ..Say::new(about.from, about.chat_id, about.caption.trim())
    };
    if about.sizes.is_empty() {
        return files
            .into_iter()
            .next()
            .map(|(name, bytes)| say.document(&bare_name(&name), bytes))
            .ok_or("the file is empty");
    }
    let sizes = about.sizes.into_iter().zip(files);
    let photo = |((width, height), (_, bytes)): ((u32, u32), (String, Bytes))| PhotoFile {
        width,
        height,
        bytes: bytes.into(),
    };
    Ok(say.photo_sizes(sizes.map(photo).collect()))
}

/// Returns the last part of a path, or `file` if it is empty.
fn bare_name(name: &str) -> String {
    let bare = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    if bare.is_empty() { "file".to_owned() } else { bare.to_owned() }
}

/// Serves a file of a message. Only pictures are displayed. The browser saves any other file, so it cannot run.
async fn file(Extract(shared): Extract<SharedTelegram>, Path(id): Path<String>) -> Response {
    let Some(bytes) = shared.look(|state| state.files.get(&id).map(|file| file.bytes.clone())) else {
        return (StatusCode::NOT_FOUND, "That file is not here any more.").into_response();
    };
    let safe = (header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    match picture_kind(&bytes) {
        Some(kind) => ([(header::CONTENT_TYPE, kind), safe], bytes).into_response(),
        None => {
            let kind = (header::CONTENT_TYPE, "application/octet-stream");
            ([kind, safe, (header::CONTENT_DISPOSITION, "attachment")], bytes).into_response()
        }
    }
}

/// Returns the MIME type of a picture that browsers display, from its first bytes.
fn picture_kind(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 3] =
        [(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif")];
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = kinds.into_iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| kind);
    known.or(is_webp.then_some("image/webp"))
}
