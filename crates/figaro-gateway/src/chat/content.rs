//! Content of a message: a text, or parts of several kinds. Parts of unknown kinds are skipped. If a person sent one,
//! the model is told that it was there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::file_part::FilePart;
use figaro_provider::MediaPart;

/// Text and pictures of a content.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MessageContent {
    /// Text of all parts.
    pub text: String,
    /// Pictures of all parts, in order.
    pub images: Vec<MediaPart>,
    /// Files of all parts, in order.
    pub files: Vec<FilePart>,
}

impl MessageContent {
    /// Reads content of a person. The model is told of parts that cannot be read.
    ///
    /// # Errors
    /// The fault, in words.
    pub(crate) fn of_person(content: Option<&Value>) -> Result<Self, String> {
        Self::read(content, |kind, _part| {
            Some(format!("[something of the kind {} came with this: it cannot be read here]", shown(kind)))
        })
    }

    /// Reads content of the model or of its prompt. Parts that are not text, such as thoughts, are skipped.
    ///
    /// # Errors
    /// The fault, in words.
    pub(crate) fn of_model(content: Option<&Value>) -> Result<Self, String> {
        Self::read(content, |_kind, _part| None)
    }

    /// Reads content of a tool. Anything that is not content, or a part that is none, is kept as its JSON.
    pub(crate) fn of_tool(content: Option<&Value>) -> Self {
        let value = || content.filter(|content| !content.is_null()).map(Value::to_string);
        Self::read(content, |_kind, part| Some(part.to_string()))
            .unwrap_or_else(|_value| Self { text: value().unwrap_or_default(), ..Self::default() })
    }

    fn read(
        content: Option<&Value>,
        unread: impl Fn(&str, &Value) -> Option<String>,
    ) -> Result<Self, String> {
        let parts = match content {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::String(text)) => return Ok(Self { text: text.clone(), ..Self::default() }),
            Some(Value::Array(parts)) => parts.as_slice(),
            Some(part @ Value::Object(_)) => std::slice::from_ref(part),
            Some(Value::Bool(_) | Value::Number(_)) => {
                return Err("its content is neither a text nor a list of parts".to_owned());
            }
        };
        let (mut texts, mut images, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            match ContentPart::read(part)? {
                ContentPart::Text(text) => texts.push(text.to_owned()),
                ContentPart::Image(image) => images.push(image),
                ContentPart::File(file) => files.push(file),
                ContentPart::Unread(kind) => texts.extend(unread(kind, part)),
            }
        }
        Ok(Self { text: texts.join("\n"), images, files })
    }
}

enum ContentPart<'a> {
    Text(&'a str),
    Image(MediaPart),
    File(FilePart),
    /// Part of a kind that is skipped.
    Unread(&'a str),
}

impl<'a> ContentPart<'a> {
    fn read(part: &'a Value) -> Result<Self, String> {
        let field = |name: &str| part.get(name).and_then(Value::as_str);
        if let Some(text) = part.as_str() {
            return Ok(Self::Text(text));
        }
        match field("type") {
            Some("text" | "input_text" | "output_text") => Ok(Self::Text(field("text").unwrap_or_default())),
            Some("refusal") => Ok(Self::Text(field("refusal").unwrap_or_default())),
            Some(kind @ ("image_url" | "input_image")) => match part.get("image_url") {
                None | Some(Value::Null) => Ok(Self::Unread(kind)),
                Some(url) => image(url).map(Self::Image),
            },
            Some(kind @ "file") => file(kind, part.get("file").unwrap_or(&Value::Null)),
            Some(kind @ "input_file") => file(kind, part),
            Some(kind) => Ok(Self::Unread(kind)),
            None => {
                field("text").map(Self::Text).ok_or_else(|| "a part of its content has no type".to_owned())
            }
        }
    }
}

/// Reads a file: its id, or its content as a data URL or as plain base64. Other addresses are not loaded.
fn file<'a>(kind: &'a str, file: &'a Value) -> Result<ContentPart<'a>, String> {
    let field = |name: &str| file.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(id) = field("file_id") {
        return Ok(ContentPart::File(FilePart::Id(id.to_owned())));
    }
    let Some(data) = field("file_data") else { return Ok(ContentPart::Unread(kind)) };
    let base64 = data.split_once(";base64,").map_or(data, |(_, base64)| base64);
    let bytes = STANDARD.decode(base64.trim());
    let bytes = bytes.map_err(|_odd| "file_data is base64, as data:application/pdf;base64,…".to_owned())?;
    let name = field("filename").unwrap_or("file").to_owned();
    Ok(ContentPart::File(FilePart::Content { name, bytes }))
}

/// Reads a picture, which both dialects send as a data URL. Other URLs are not loaded: they could address machines
/// that only this one reaches.
fn image(url: &Value) -> Result<MediaPart, String> {
    let url = url.as_str().or_else(|| url.get("url")?.as_str()).unwrap_or_default();
    MediaPart::of_data_url(url).ok_or_else(|| {
        "a picture is a JPEG, PNG, WebP or GIF whose bytes are sent, as data:image/png;base64,…: other addresses are not loaded"
            .to_owned()
    })
}

/// Quotes foreign text in a message, shortened.
pub(super) fn shown(word: &str) -> String {
    format!("`{}`", word.chars().filter(|c| !c.is_control()).take(64).collect::<String>())
}
