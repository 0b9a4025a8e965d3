//! Downloads photos and documents, for use in prompts.

use futures::StreamExt;
use serde_json::{Value, json};

use super::api::{Api, GetFile};
use super::error::ApiError;
use figaro_agent::channel::{FileError, FileStream};

/// Opens a file, if it has at most `max_bytes` bytes.
pub(super) async fn open(api: &Api, file_id: &str, max_bytes: usize) -> Result<FileStream, FileError> {
    let file = api.call(GetFile(json!({"file_id": file_id}))).await.map_err(of_api)?;
    let size = file.get("file_size").and_then(Value::as_u64).unwrap_or_default();
    if usize::try_from(size).map_or(true, |size| size > max_bytes) {
        return Err(FileError::TooBig);
    }
    // A self-hosted Bot API server in local mode returns a path on its disk.
    let path = file.get("file_path").and_then(Value::as_str).filter(|path| !path.starts_with('/'));
    let path = path.ok_or_else(|| FileError::Gone("Telegram names no path".to_owned()))?;
    let mut left = max_bytes;
    // The stated size may be wrong.
    let within = move |piece: Result<Vec<u8>, String>| {
        let piece = piece.map_err(FileError::Unavailable)?;
        left = left.checked_sub(piece.len()).ok_or(FileError::TooBig)?;
        Ok(piece)
    };
    Ok(api.download(path).map(within).boxed())
}

fn of_api(error: ApiError) -> FileError {
    match error {
        ApiError::Refused(words) if words.contains("too big") => FileError::TooBig,
        ApiError::Refused(words) => FileError::Gone(words),
        ApiError::Unauthorized
        | ApiError::Conflict
        | ApiError::RetryAfter(_)
        | ApiError::Migrated(_)
        | ApiError::Unreachable(_)
        | ApiError::Unclear(_) => FileError::Unavailable(error.to_string()),
    }
}
