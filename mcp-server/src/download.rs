//! Files stored by Telegram, for clients that must not see its URLs, since these hold the bot's token. A file is shown with
//! a handle, and with its content if that is text or a picture for models. `resources/read` returns any file by its handle.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ContentBlock, ProtocolVersion, Resource, ResourceContents, ResourceTemplate};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use crate::files::UploadLimits;
use crate::table::{ApiTable, ApiType, Method};
use crate::telegram::{Telegram, TelegramFailure, TelegramRequest};

/// Prefix of a handle; the file id follows.
const SCHEME: &str = "telegram-file:///";
/// Maximum size of a text shown with its file, in bytes: as much as a model should read at once.
const MAX_TEXT: u64 = 12 * 1024;
/// Maximum size of a picture shown with its file, in bytes.
const MAX_PICTURE: u64 = 1024 * 1024;
/// Picture formats that models accept.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "image/gif"];

/// Fetches files from Telegram.
#[derive(Debug, Clone)]
pub(crate) struct Downloads {
    pub(crate) telegram: Arc<Telegram>,
    pub(crate) limits: UploadLimits,
    /// `true` if pictures are shown with their files.
    pub(crate) pictures: bool,
}

/// Data about a file before it is fetched.
struct FileInfo {
    path: Option<String>,
    name: String,
    mime_type: String,
    size: Option<u64>,
}

/// Returns `true` if the method returns a `File`.
pub(crate) fn gives_file(method: &Method) -> bool {
    matches!(&method.returns, ApiType::Named(name) if name == "File")
}

/// Returns the URI template of the handles.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{file_id}}"), "telegram-file")
        .with_title("A file of a message, by its file_id")
        .with_description(
            "The content of a photo, document, voice message or other file that the bot has seen",
        )
}

/// Returns `true` if the client knows resource links. They exist since revision 2025-06-18; the result holds the handle
/// too.
pub(crate) fn knows_links(context: &RequestContext<RoleServer>) -> bool {
    context.peer.peer_info().is_none_or(|peer| peer.protocol_version >= ProtocolVersion::V_2025_06_18)
}

impl Downloads {
    /// Presents a `File` of Telegram with a handle in place of its path, and with blocks that show its content.
    pub(crate) async fn present(&self, file: Value) -> (Value, Vec<ContentBlock>) {
        let Value::Object(mut file) = file else {
            return (file, Vec::new());
        };
        let known = FileInfo::of(&file);
        file.remove("file_path");
        let id = file.get("file_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let uri = format!("{SCHEME}{id}");
        file.extend([
            ("uri".to_owned(), json!(uri)),
            ("name".to_owned(), json!(known.name)),
            ("mime_type".to_owned(), json!(known.mime_type)),
        ]);
        let mut link = Resource::new(uri, known.name.clone()).with_mime_type(known.mime_type.clone());
        link.size = known.size;
        let mut blocks = vec![ContentBlock::resource_link(link)];
        match self.content(&known).await {
            Ok(Some(ShownContent::Text(text))) => drop(file.insert("text".to_owned(), json!(text))),
            Ok(Some(ShownContent::Picture(bytes))) => {
                blocks.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), known.mime_type));
            }
            Ok(None) => {}
            Err(failure) => drop(file.insert("content_error".to_owned(), json!(failure.description))),
        }
        (Value::Object(file), blocks)
    }

    /// Reads the content behind a handle.
    pub(crate) async fn read(&self, uri: &str) -> Result<ResourceContents, ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("{uri:?} is no {SCHEME}<file_id>"), None);
        let id = uri.strip_prefix(SCHEME).filter(|id| !id.is_empty()).ok_or_else(unknown)?;
        let method = ApiTable::get().method("getFile").ok_or_else(unknown)?;
        let args = Map::from_iter([("file_id".to_owned(), json!(id))]);
        let refused = |failure: TelegramFailure| match failure.error_code {
            400 | 404 => ErrorData::resource_not_found(failure.description, None),
            _ => ErrorData::internal_error(failure.description, None),
        };
        let file = self
            .telegram
            .call(TelegramRequest { method, args: &args, uploads: &[] })
            .await
            .map_err(refused)?;
        let known = file.as_object().map(FileInfo::of).ok_or_else(unknown)?;
        let bytes = self.fetch(&known).await.map_err(refused)?;
        let contents = match String::from_utf8(bytes) {
            Ok(text) => ResourceContents::text(text, uri),
            Err(binary) => ResourceContents::blob(BASE64_STANDARD.encode(binary.as_bytes()), uri),
        };
        Ok(contents.with_mime_type(known.mime_type))
    }

    async fn content(&self, known: &FileInfo) -> Result<Option<ShownContent>, TelegramFailure> {
        let Some(most) = known.worth_showing(self.pictures) else {
            return Ok(None);
        };
        if known.path.is_none() || known.size.is_none_or(|size| size > most) {
            return Ok(None);
        }
        let bytes = self.fetch(known).await?;
        if PICTURES.contains(&known.mime_type.as_str()) {
            return Ok(Some(ShownContent::Picture(bytes)));
        }
        Ok(String::from_utf8(bytes).ok().map(ShownContent::Text))
    }

    async fn fetch(&self, known: &FileInfo) -> Result<Vec<u8>, TelegramFailure> {
        let Some(path) = &known.path else {
            let why = "Telegram gives no way to the file: it is too large for a bot, or on the disk of its own server";
            return Err(TelegramFailure::new(404, why));
        };
        self.telegram.download(path, self.limits.bytes).await
    }
}

enum ShownContent {
    Text(String),
    Picture(Vec<u8>),
}

impl FileInfo {
    fn of(file: &Map<String, Value>) -> Self {
        // A self-hosted server in local mode gives a path on its disk.
        let path = file.get("file_path").and_then(Value::as_str);
        let name = path.and_then(|path| path.rsplit('/').next()).unwrap_or("file").to_owned();
        let mime_type = mime_guess::from_path(&name).first_or_octet_stream().to_string();
        let path = path.filter(|path| !path.starts_with('/')).map(ToOwned::to_owned);
        Self { path, name, mime_type, size: file.get("file_size").and_then(Value::as_u64) }
    }

    /// Returns the maximum size at which the content is shown; `None` if a model cannot use it.
    fn worth_showing(&self, pictures: bool) -> Option<u64> {
        let kind = self.mime_type.as_str();
        let is_text = kind.starts_with("text/")
            || ["application/json", "application/xml", "application/toml", "application/x-yaml"]
                .contains(&kind);
        match kind {
            _ if PICTURES.contains(&kind) => pictures.then_some(MAX_PICTURE),
            _ if is_text => Some(MAX_TEXT),
            _ => None,
        }
    }
}
