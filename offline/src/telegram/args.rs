//! Reads the arguments of a call from query, JSON, form or multipart, and converts them to the types in the table.

use std::collections::BTreeMap;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::CONTENT_TYPE;
use figaro_mcp::table::{ApiType, Method};
use serde_json::{Map, Value};

use super::call::Uploaded;
use super::error::BotApiError;

/// Maximum size of a body, in bytes: the largest upload Telegram accepts, and room for the rest of the form.
pub(super) const MAX_BODY_BYTES: usize = 51 * 1024 * 1024;

/// Arguments and files of a call.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) fields: Map<String, Value>,
    /// Uploaded files, by the name of their part.
    pub(super) uploads: BTreeMap<String, UploadedFile>,
}

#[derive(Debug)]
pub(super) struct UploadedFile {
    pub(super) name: String,
    pub(super) bytes: Bytes,
}

/// Number of leading bytes of a file stored with its call.
const HEAD_BYTES: usize = 256;

impl Args {
    /// Returns the summaries of the files to store with the call, ordered by part name.
    pub(super) fn uploaded(&self) -> Vec<Uploaded> {
        let remembered = |(part, upload): (&String, &UploadedFile)| Uploaded {
            part: part.clone(),
            name: upload.name.clone(),
            size: upload.bytes.len(),
            head: upload.bytes.iter().copied().take(HEAD_BYTES).collect(),
        };
        self.uploads.iter().map(remembered).collect()
    }
}

/// Reads query and body of a request for a method.
pub(super) async fn read(request: Request, method: &Method) -> Result<Args, BotApiError> {
    let mut args = Args::default();
    for (name, value) in decode_form(request.uri().query().unwrap_or_default()) {
        args.fields.insert(name, Value::String(value));
    }
    let kind = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "multipart/form-data" {
        read_multipart(request, &mut args).await?;
    } else {
        let body = to_bytes(request.into_body(), MAX_BODY_BYTES)
            .await
            .map_err(|_too_large| BotApiError::new(413, "Request Entity Too Large"))?;
        read_body(&kind, &body, &mut args)?;
    }
    for param in &method.params {
        if let Some(value) = args.fields.get_mut(&param.name) {
            coerce(value, &param.ty);
        }
    }
    for part in args.uploads.keys().filter(|part| method.params.iter().any(|p| p.name == **part)) {
        args.fields.insert(part.clone(), Value::String(format!("attach://{part}")));
    }
    check_attached(&args)?;
    Ok(args)
}

fn read_body(kind: &str, body: &[u8], args: &mut Args) -> Result<(), BotApiError> {
    if body.is_empty() {
        return Ok(());
    }
    if kind == "application/json" {
        let parsed: Value = serde_json::from_slice(body)
            .map_err(|error| BotApiError::bad(format!("can't parse JSON object: {error}")))?;
        let Value::Object(fields) = parsed else {
            return Err(BotApiError::bad("the JSON must be an object"));
        };
        args.fields.extend(fields);
        return Ok(());
    }
    if kind == "application/x-www-form-urlencoded" {
        let pairs = decode_form(&String::from_utf8_lossy(body));
        args.fields.extend(pairs.into_iter().map(|(name, value)| (name, Value::String(value))));
        return Ok(());
    }
    Err(BotApiError::bad(format!("content type {kind:?} is not one the Bot API reads")))
}

async fn read_multipart(request: Request, args: &mut Args) -> Result<(), BotApiError> {
    let broken = |error: String| BotApiError::bad(format!("can't parse multipart form: {error}"));
    let mut form = Multipart::from_request(request, &()).await.map_err(|e| broken(e.to_string()))?;
    while let Some(part) = form.next_field().await.map_err(|e| broken(e.to_string()))? {
        let name = part.name().unwrap_or_default().to_owned();
        let file = part.file_name().map(ToOwned::to_owned);
        let bytes = part.bytes().await.map_err(|e| broken(e.to_string()))?;
        match file {
            None => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                args.fields.insert(name, Value::String(text));
            }
            Some(file) => {
                args.uploads.insert(name, UploadedFile { name: file, bytes });
            }
        }
    }
    Ok(())
}

/// Checks that every `attach://` names an uploaded part.
fn check_attached(args: &Args) -> Result<(), BotApiError> {
    let whole = Value::Object(args.fields.clone()).to_string();
    let missing = whole
        .split("attach://")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .find(|part| !args.uploads.contains_key(*part));
    match missing {
        Some(_) => Err(BotApiError::bad("invalid file HTTP URL specified: Unsupported URL protocol")),
        None => Ok(()),
    }
}

/// Converts text to the expected type. Text that cannot be converted stays, and the check reports it.
fn coerce(value: &mut Value, ty: &ApiType) {
    let Value::String(text) = &*value else { return };
    if let Some(better) = read_as(text, ty) {
        *value = better;
    }
}

fn read_as(text: &str, ty: &ApiType) -> Option<Value> {
    match ty {
        ApiType::String | ApiType::InputFile => None,
        ApiType::Integer => text.parse::<i64>().ok().map(Value::from),
        ApiType::Float => text.parse::<f64>().ok().map(Value::from),
        ApiType::Boolean | ApiType::True => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(Value::Bool(true)),
            "false" | "0" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        ApiType::Array(_) | ApiType::Named(_) => {
            serde_json::from_str(text).ok().filter(|v: &Value| v.is_array() || v.is_object())
        }
        ApiType::Union(types) => types.iter().find_map(|ty| read_as(text, ty)),
    }
}

/// Parses `a=1&b=x%20y` into pairs.
fn decode_form(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// Decodes percent encoding; `+` becomes a space.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let hex = tail.get(..2).and_then(|h| std::str::from_utf8(h).ok());
        match (first, hex.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_takes_the_type_of_its_parameter() {
        let cases = [
            ("Integer", "12", json!(12)),
            ("Integer", "twelve", json!("twelve")),
            ("Integer|String", "-100", json!(-100)),
            ("Integer|String", "@name", json!("@name")),
            ("String", "12", json!("12")),
            ("Boolean", "True", json!(true)),
            ("Float", "1.5", json!(1.5)),
            ("Array<Integer>", "[1,2]", json!([1, 2])),
            ("InlineKeyboardMarkup|ForceReply", "{\"force_reply\":true}", json!({"force_reply": true})),
            ("InputFile|String", "{\"x\":1}", json!("{\"x\":1}")),
        ];
        for (ty, text, wanted) in cases {
            let mut value = json!(text);
            coerce(&mut value, &ApiType::parse(ty));
            assert_eq!(value, wanted, "{text} as {ty}");
        }
    }

    #[test]
    fn forms_are_decoded() {
        let wanted = [("text", "a b&c=ü"), ("n", "1"), ("empty", "")];
        let decoded = decode_form("text=a+b%26c%3D%C3%BC&n=1&empty=");
        assert_eq!(decoded, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(decode("100%"), "100%");
    }
}
