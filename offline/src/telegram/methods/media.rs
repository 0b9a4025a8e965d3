//! Files in calls: values of type `InputFile|String`, and the methods that upload or find a file.

use figaro_mcp::table::ApiType;
use serde_json::Value;

use super::super::error::BotApiError;
use super::super::files::{described, shown};
use super::super::state::TelegramState;
use super::request::{CheckedRequest, MethodOutcome};

/// Maximum size for `getFile`, in bytes.
const MAX_DOWNLOAD_BYTES: usize = 20 * 1024 * 1024;
const MAX_PHOTO_BYTES: usize = 10 * 1024 * 1024;
const MAX_UPLOAD_BYTES: usize = 50 * 1024 * 1024;

/// Returns the value of a message field for a file, given as an upload, a URL or a `file_id`.
pub(super) fn attached(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    field: &str,
    ty: &ApiType,
    source: &str,
) -> Result<Value, BotApiError> {
    let most = if field == "photo" { MAX_PHOTO_BYTES } else { MAX_UPLOAD_BYTES };
    let file_id = stored(state, request, source, most)?;
    Ok(shown(state, ty, &file_id))
}

pub(super) fn get_file(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let id = request.text("file_id").unwrap_or_default();
    let Some(file) = state.files.get(id) else {
        return Err(BotApiError::bad("wrong file_id or the file is temporarily unavailable"));
    };
    if file.bytes.len() > MAX_DOWNLOAD_BYTES {
        return Err(BotApiError::bad("file is too big"));
    }
    Ok(described(id, file.bytes.len(), &file.path))
}

pub(super) fn upload(state: &mut TelegramState, request: &CheckedRequest<'_>) -> MethodOutcome {
    let source = request.text("sticker").unwrap_or_default();
    let id = stored(state, request, source, MAX_UPLOAD_BYTES)?;
    let file = state.files.get(&id);
    Ok(described(&id, file.map_or(0, |f| f.bytes.len()), file.map_or("", |f| &f.path)))
}

fn stored(
    state: &mut TelegramState,
    request: &CheckedRequest<'_>,
    source: &str,
    most: usize,
) -> Result<String, BotApiError> {
    if let Some(upload) = source.strip_prefix("attach://").and_then(|part| request.args.uploads.get(part)) {
        if upload.bytes.is_empty() {
            return Err(BotApiError::bad("file must be non-empty"));
        }
        if upload.bytes.len() > most {
            return Err(BotApiError::new(413, "Request Entity Too Large"));
        }
        return Ok(state.keep_file(&upload.name, upload.bytes.to_vec()));
    }
    if source.starts_with("http://") || source.starts_with("https://") {
        let name = source.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or("file").to_owned();
        return Ok(state.keep_file(&name, Vec::new()));
    }
    if state.files.contains_key(source) {
        return Ok(source.to_owned());
    }
    Err(BotApiError::bad("wrong file identifier/HTTP URL specified"))
}
