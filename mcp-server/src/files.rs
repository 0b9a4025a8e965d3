//! Files in a call's arguments: a file id, an http(s) URL, or an object with name and content, which is moved out and sent
//! as multipart. Anything else is rejected: a self-hosted Bot API server would read `file:` paths from its disk. The server
//! calls [`take`] before a call is sent.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::check::FileArgument;

/// Telegram's limit for photos, in bytes. Self-hosted servers accept more.
const MAX_PHOTO: usize = 10 * 1024 * 1024;
/// Telegram's limit for other files, in bytes.
const MAX_FILE: usize = 50 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub(crate) struct UploadLimits {
    /// Limit for any file, in bytes.
    pub(crate) bytes: usize,
    /// `true` if Telegram's own limits apply too; a self-hosted Bot API server has none.
    pub(crate) of_telegram: bool,
}

/// A file sent with a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Upload {
    /// Name of the multipart part; the argument refers to it as `attach://` and this name.
    pub(crate) part: String,
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
}

/// Error of a file in a call. The path has the form `media[0].media`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadFile {
    #[error(
        "{0} must be a file_id, an http(s) URL, or an object with name and base64 or text; this server reads no files \
         of its machine"
    )]
    NoFile(String),
    #[error("{path} is not a file to upload: {reason}. Give name, and either base64 or text")]
    NoUpload { path: String, reason: String },
    #[error("{path} is {bytes} bytes long, and {most} are the most here{remedy}")]
    TooLarge { path: String, bytes: usize, most: usize, remedy: &'static str },
}

/// Argument object with a file's content.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileContent {
    name: String,
    base64: Option<String>,
    text: Option<String>,
}

/// Moves file contents out of the arguments, replacing them by `attach://<part>`, and checks the other files.
///
/// # Errors
/// The first [`BadFile`]. The arguments are then partly changed and unusable.
pub(crate) fn take(
    args: &mut Map<String, Value>,
    places: Vec<FileArgument>,
    limits: UploadLimits,
) -> Result<Vec<Upload>, BadFile> {
    let mut whole = Value::Object(std::mem::take(args));
    let mut uploads = Vec::new();
    for FileArgument { path, pointer } in places {
        let Some(value) = whole.pointer_mut(&pointer) else { continue };
        match value {
            Value::String(text) if is_remote(text) => {}
            Value::Object(_) => {
                let is_parameter = pointer.matches('/').count() == 1;
                let part = if is_parameter { path.clone() } else { format!("file{}", uploads.len()) };
                let given = std::mem::replace(value, Value::String(format!("attach://{part}")));
                uploads.push(upload(path, part, given, limits)?);
            }
            _ => return Err(BadFile::NoFile(path)),
        }
    }
    if let Value::Object(map) = whole {
        *args = map;
    }
    Ok(uploads)
}

fn upload(path: String, part: String, given: Value, limits: UploadLimits) -> Result<Upload, BadFile> {
    let refuse = |path: String, reason: &str| BadFile::NoUpload { path, reason: reason.to_owned() };
    let content: FileContent = match serde_json::from_value(given) {
        Ok(content) => content,
        Err(error) => return Err(refuse(path, &error.to_string())),
    };
    let bytes = match (content.base64, content.text) {
        (Some(base64), None) => {
            // Many encoders break lines.
            let has_lines = base64.bytes().any(|b| b.is_ascii_whitespace());
            let packed = if has_lines { base64.split_ascii_whitespace().collect() } else { base64 };
            BASE64_STANDARD.decode(packed).map_err(|error| refuse(path.clone(), &error.to_string()))?
        }
        (None, Some(text)) => text.into_bytes(),
        (Some(_), Some(_)) => return Err(refuse(path, "it has both base64 and text")),
        (None, None) => return Err(refuse(path, "it has no content")),
    };
    let name = content.name.trim();
    if name.is_empty() || name.len() > 255 || name.contains(['/', '\\', '\0', '\r', '\n']) {
        return Err(refuse(path, "its name must be a file name without folders"));
    }
    limits.check(&path, bytes.len())?;
    Ok(Upload { part, name: name.to_owned(), bytes: bytes.into() })
}

impl UploadLimits {
    fn check(self, path: &str, bytes: usize) -> Result<(), BadFile> {
        let is_photo = path == "photo" || path.ends_with(".photo");
        let (most, remedy) = match self {
            Self { of_telegram: true, bytes } if is_photo && bytes > MAX_PHOTO => {
                (MAX_PHOTO, "; send it as a document")
            }
            Self { of_telegram: true, bytes } if bytes > MAX_FILE => (MAX_FILE, ""),
            Self { bytes, .. } => (bytes, "; --max-file-mb changes that"),
        };
        if bytes <= most {
            return Ok(());
        }
        Err(BadFile::TooLarge { path: path.to_owned(), bytes, most, remedy })
    }
}

fn is_remote(text: &str) -> bool {
    let is_id = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_id || Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::table::ApiTable;
    use serde_json::json;

    const LIMITS: UploadLimits = UploadLimits { bytes: 20, of_telegram: true };

    fn taken(method: &str, args: &Value) -> Result<(Vec<Upload>, Value), String> {
        let mut args = args.as_object().unwrap().clone();
        let places = check(ApiTable::get().method(method).unwrap(), &args).unwrap();
        let uploads = take(&mut args, places, LIMITS);
        uploads.map(|uploads| (uploads, Value::Object(args))).map_err(|bad| bad.to_string())
    }

    #[test]
    fn only_ids_and_web_addresses_are_files() {
        let cases = [
            ("AgACAgIAAxkBAAIB-x_1", true),
            ("https://example.org/a.jpg?x=1", true),
            ("HTTP://example.org/a.jpg", true),
            ("", false),
            ("file:///etc/passwd", false),
            (" file:///etc/passwd", false),
            ("FILE:/etc/passwd", false),
            ("attach://part", false),
            ("/etc/passwd", false),
            ("data:image/png;base64,AA", false),
            ("ftp://example.org/a", false),
            ("https://", false),
        ];
        for (text, wanted) in cases {
            assert_eq!(is_remote(text), wanted, "{text}");
        }
    }

    #[test]
    fn files_are_found_at_any_depth() {
        let option = |media: &str| json!({"text": "a", "media": {"type": "photo", "media": media}});
        let album = |item: Value| json!({"chat_id": 1, "media": [{"type": "photo", "media": "AgAC"}, item]});
        let button = json!({"inline_keyboard": [[{"text": "file:///a", "url": "https://example.org"}]]});
        let cases = [
            ("sendPhoto", json!({"chat_id": 1, "photo": "attach://a", "caption": "x"}), Some("photo")),
            ("sendPhoto", json!({"chat_id": 1, "photo": "AgAC", "caption": "file:///a"}), None),
            ("sendMessage", json!({"chat_id": 1, "text": "file:///a", "reply_markup": button}), None),
            (
                "sendPoll",
                json!({"chat_id": 1, "question": "q", "options": [option("AgAC"), option("file:///a")]}),
                Some("options[1].media.media"),
            ),
            (
                "sendMediaGroup",
                album(json!({"type": "video", "media": "AgAC", "cover": "file:///a"})),
                Some("media[1].cover"),
            ),
            (
                "sendMediaGroup",
                album(json!({"type": "video", "media": "AgAC", "thumbnail": "attach://t"})),
                Some("media[1].thumbnail"),
            ),
        ];
        for (method, args, wanted) in cases {
            let wanted = wanted.map(|path| BadFile::NoFile(path.to_owned()).to_string());
            assert_eq!(taken(method, &args).err(), wanted, "{method} {args}");
        }
    }

    #[test]
    fn contents_leave_the_arguments_for_parts() {
        let file = |name: &str| json!({"name": name, "base64": "aGVs\nbG8="});
        let upload = |part: &str, name: &str, bytes: &[u8]| Upload {
            part: part.to_owned(),
            name: name.to_owned(),
            bytes: Bytes::copy_from_slice(bytes),
        };
        let args = json!({"chat_id": 1, "document": {"name": "a.txt", "text": "hé"}, "thumbnail": "AgAC"});
        let wanted = json!({"chat_id": 1, "document": "attach://document", "thumbnail": "AgAC"});
        let parts = vec![upload("document", "a.txt", "hé".as_bytes())];
        assert_eq!(taken("sendDocument", &args), Ok((parts, wanted)));

        let media = |media: Value, cover: Value| {
            json!({"chat_id": 1, "media": [
                {"type": "photo", "media": "AgAC"},
                {"type": "video", "media": media, "cover": cover},
            ]})
        };
        let parts = vec![upload("file0", "v.mp4", b"hello"), upload("file1", "c.jpg", b"hello")];
        let mut sent = taken("sendMediaGroup", &media(file("v.mp4"), file("c.jpg"))).unwrap();
        sent.0.sort_by(|a, b| a.part.cmp(&b.part));
        assert_eq!(sent, (parts, media(json!("attach://file0"), json!("attach://file1"))));
    }

    #[test]
    fn what_is_no_file_to_upload_is_refused_with_a_reason() {
        let cases = [
            (json!({"base64": "AA=="}), "missing field `name`"),
            (json!({"name": "a"}), "it has no content"),
            (json!({"name": "a", "base64": "AA==", "text": "b"}), "both base64 and text"),
            (json!({"name": "a", "base64": "not base64!"}), "Invalid symbol"),
            (json!({"name": "a", "text": "b", "path": "/etc/passwd"}), "unknown field `path`"),
            (json!({"name": "../a", "text": "b"}), "a file name without folders"),
            (json!({"name": " ", "text": "b"}), "a file name without folders"),
            (json!({"name": "a", "text": "x".repeat(21)}), "is 21 bytes long, and 20 are the most"),
        ];
        for (file, wanted) in cases {
            let refused = taken("sendPhoto", &json!({"chat_id": 1, "photo": file})).unwrap_err();
            assert!(refused.starts_with("photo is") && refused.contains(wanted), "{refused}");
        }
    }

    #[test]
    fn telegrams_own_limits_hold_where_its_servers_do() {
        let most = |bytes: usize, of_telegram: bool, path: &str| match (UploadLimits { bytes, of_telegram })
            .check(path, usize::MAX)
        {
            Err(BadFile::TooLarge { most, .. }) => most >> 20,
            other => panic!("{other:?}"),
        };
        let cases = [
            (100, true, "document", 50),
            (100, true, "photo", 10),
            (100, true, "photo.photo", 10),
            (100, false, "photo", 100),
            (5, true, "photo", 5),
        ];
        for (megabytes, of_telegram, path, wanted) in cases {
            assert_eq!(most(megabytes << 20, of_telegram, path), wanted, "{path}");
        }
    }
}
