//! Files as the Bot API shows them: as a `File`, and within a message.

use figaro_mcp::table::ApiType;
use serde_json::{Value, json};

use super::sample;
use super::say::PhotoFile;
use super::state::TelegramState;

/// Returns the value of a file in a message.
pub(super) fn shown(state: &TelegramState, ty: &ApiType, file_id: &str) -> Value {
    let file = state.files.get(file_id);
    let size = file.map_or(0, |f| f.bytes.len());
    if matches!(ty, ApiType::Array(_)) {
        return json!([size_shown(file_id, 640, 480, size)]);
    }
    let mut value = sample::of_type(ty);
    if value.get("file_id").is_some() {
        value["file_id"] = json!(file_id);
        value["file_unique_id"] = json!(unique(file_id));
        value["file_size"] = json!(size);
    }
    if *ty == ApiType::Named("Document".to_owned()) {
        let name = file.and_then(|f| f.path.rsplit('/').next()).unwrap_or("file");
        value["file_name"] = json!(name);
        if let Some(kind) = kind_of(name) {
            value["mime_type"] = json!(kind);
        }
    }
    value
}

/// Stores one size of a photo. Returns the Bot API's `PhotoSize`.
pub(super) fn photo_size(state: &mut TelegramState, photo: PhotoFile) -> Value {
    let PhotoFile { width, height, bytes } = photo;
    let size = bytes.len();
    size_shown(&state.keep_file("photo.jpg", bytes), width, height, size)
}

fn size_shown(file_id: &str, width: u32, height: u32, size: usize) -> Value {
    json!({
        "file_id": file_id, "file_unique_id": unique(file_id), "width": width, "height": height, "file_size": size,
    })
}

/// Returns the MIME type for the extension of a file name.
fn kind_of(name: &str) -> Option<&'static str> {
    let kinds = [
        ("png", "image/png"),
        ("jpg", "image/jpeg"),
        ("webp", "image/webp"),
        ("pdf", "application/pdf"),
        ("txt", "text/plain"),
        ("csv", "text/csv"),
    ];
    let (_, ending) = name.rsplit_once('.')?;
    kinds.into_iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, kind)| kind)
}

/// Returns the Bot API's `File`. `size` is in bytes; `path` is its path under `/file`.
pub(super) fn described(id: &str, size: usize, path: &str) -> Value {
    json!({"file_id": id, "file_unique_id": unique(id), "file_size": size, "file_path": path})
}

fn unique(file_id: &str) -> String {
    format!("unique-{file_id}")
}
