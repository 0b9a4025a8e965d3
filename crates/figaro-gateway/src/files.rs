//! `/v1/files`: documents of a person, uploaded as OpenAI's clients do, and the files that come with a question. Only the text
//! of a file is stored.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use futures::{StreamExt, TryStreamExt};
use multer::{Constraints, Field, Multipart, SizeLimit};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::caller::Caller;
use super::error::GatewayError;
use super::file_part::FilePart;
use super::gateway::Gateway;
use super::models::may_ask;
use figaro_agent::channel::FileError;
use figaro_agent::documents::NewFile;
use figaro_agent::turn::requested::RequestedFile;
use figaro_base::ids::{ChatId, DocumentId};
use figaro_domain::document::{Document, DocumentSource, MAX_FILE_BYTES, Unreadable};

/// Time for a whole form: the transfer of its file, its turn and its reading take up to 210 s.
const FORM_TIMEOUT: Duration = Duration::from_secs(215);
/// Maximum number of files of a question.
const MAX_FILES: usize = 10;
/// Prefix of the ids of files, as OpenAI's begin.
const PREFIX: &str = "file-";
/// Purposes of files that are for the model to read. OpenAI's other purposes have no use here.
const PURPOSES: [&str; 2] = ["user_data", "assistants"];

/// Reads an uploaded file and stores its text.
///
/// # Errors
/// If the caller names no person, the form has no file, or the file cannot be read.
pub(super) async fn upload(
    State(gateway): State<Gateway>,
    caller: Caller,
    request: Request,
) -> Result<Json<Value>, GatewayError> {
    let none = || GatewayError::not_found("no_file", "the person has no chat");
    let chat = home(&gateway, &caller, true).await?.ok_or_else(none)?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(|kind| multer::parse_boundary(kind).ok()).ok_or_else(|| {
        GatewayError::invalid("a file is sent as multipart/form-data, in the fields file and purpose")
    })?;
    let limit = SizeLimit::new().whole_stream(MAX_FILE_BYTES as u64 + 64 * 1024);
    let body = request.into_body().into_data_stream();
    let mut form = Multipart::with_constraints(body, boundary, Constraints::new().size_limit(limit));
    let mut stored = Vec::new();
    let read =
        tokio::time::timeout(FORM_TIMEOUT, read_form(&gateway, &caller, chat, &mut form, &mut stored)).await;
    let late = || GatewayError {
        status: StatusCode::REQUEST_TIMEOUT,
        ..GatewayError::invalid("the form was not received and read in time: send it again")
    };
    match read.unwrap_or_else(|_elapsed| Err(late())) {
        Ok(()) if stored.len() == 1 => Ok(Json(shown(&stored[0]))),
        outcome => {
            // A refused upload leaves nothing behind.
            for document in &stored {
                remove_stored(&gateway, document).await?;
            }
            let words = "the form needs one file, in the field file";
            Err(outcome.err().unwrap_or_else(|| GatewayError::invalid(words).about("file")))
        }
    }
}

/// Reads a form and adds the files in it to those that are stored.
async fn read_form(
    gateway: &Gateway,
    caller: &Caller,
    chat: ChatId,
    form: &mut Multipart<'static>,
    stored: &mut Vec<Document>,
) -> Result<(), GatewayError> {
    while let Some(field) = form.next_field().await.map_err(|error| of_form(&error))? {
        match field.name() {
            Some("file") if !stored.is_empty() => {
                return Err(GatewayError::invalid("the form has two files: send one at a time").about("file"));
            }
            Some("file") => stored.push(kept(gateway, caller, chat, field).await?),
            Some("purpose") => {
                let purpose = field.text().await.map_err(|error| of_form(&error))?;
                if !PURPOSES.contains(&purpose.trim()) {
                    let words =
                        format!("files are only read by the model here: send {}", PURPOSES.join(" or "));
                    return Err(GatewayError::invalid(words).about("purpose"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists the files of a person, newest first.
///
/// # Errors
/// If the caller names no person.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Json<Value>, GatewayError> {
    let files = match home(&gateway, &caller, false).await? {
        Some(chat) => gateway.documents.store.of_chat(chat)?,
        None => Vec::new(),
    };
    let files: Vec<Value> = files.iter().rev().map(shown).collect();
    Ok(Json(json!({"object": "list", "data": files, "has_more": false})))
}

/// Shows a file.
///
/// # Errors
/// If the person has no such file.
pub(super) async fn one(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    Ok(Json(shown(&found(&gateway, &caller, &id).await?)))
}

/// Removes a file for good.
///
/// # Errors
/// If the person has no such file.
pub(super) async fn remove(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    let document = found(&gateway, &caller, &id).await?;
    remove_stored(&gateway, &document).await?;
    Ok(Json(json!({"id": id, "object": "file", "deleted": true})))
}

/// Refuses to send a file back.
///
/// # Errors
/// Always.
pub(super) async fn content(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    found(&gateway, &caller, &id).await?;
    Err(GatewayError::invalid("only the text of a file is stored, so it cannot be sent back"))
}

/// Returns the files of a question, with the text of those that are stored.
///
/// # Errors
/// If the person has no such file.
pub(super) async fn of_question(
    gateway: &Gateway,
    caller: &Caller,
    parts: Vec<FilePart>,
) -> Result<Vec<RequestedFile>, GatewayError> {
    if parts.len() > MAX_FILES {
        return Err(GatewayError::invalid(format!("a question has at most {MAX_FILES} files")));
    }
    let mut files: Vec<RequestedFile> = Vec::with_capacity(parts.len());
    for part in parts {
        let file = match part {
            FilePart::Content { name, bytes } => {
                let hash = digest(&SHA256, &bytes);
                let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
                RequestedFile::Content { name, unique_id: format!("sha256:{hash}"), bytes }
            }
            FilePart::Id(id) => {
                let document = found(gateway, caller, &id).await?;
                let passages = gateway.documents.store.passages(&document, 0, usize::MAX)?;
                RequestedFile::Stored(
                    Box::new(document),
                    passages.into_iter().map(|(_, passage)| passage).collect(),
                )
            }
        };
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// Returns the chat of the person, which all their sessions are part of. A chat that has no name yet is made if `is_new`.
async fn home(gateway: &Gateway, caller: &Caller, is_new: bool) -> Result<Option<ChatId>, GatewayError> {
    caller.require(may_ask, "files")?;
    let words = "files belong to a person: name one with the header X-User-Id, or use a key with `user=`";
    let home = caller.home().ok_or_else(|| GatewayError::invalid(words))?;
    let conversation = match is_new {
        true => Some(gateway.store.external().keep(&home).await?),
        false => gateway.store.external().find(&home)?,
    };
    Ok(conversation.map(|conversation| conversation.chat))
}

async fn found(gateway: &Gateway, caller: &Caller, id: &str) -> Result<Document, GatewayError> {
    let none = || GatewayError::not_found("no_file", "there is no such file");
    let chat = home(gateway, caller, false).await?.ok_or_else(none)?;
    let wanted: DocumentId = id.strip_prefix(PREFIX).and_then(|id| id.parse().ok()).ok_or_else(none)?;
    let documents = gateway.documents.store.of_chat(chat)?;
    documents.into_iter().find(|document| document.id == wanted).ok_or_else(none)
}

async fn kept(
    gateway: &Gateway,
    caller: &Caller,
    chat: ChatId,
    field: Field<'static>,
) -> Result<Document, GatewayError> {
    let file = NewFile {
        chat,
        name: field.file_name().unwrap_or("file").to_owned(),
        file_id: None,
        unique_id: None,
        source: DocumentSource {
            telegram: None,
            session: None,
            turn: None,
            sender: caller.person().unwrap_or_else(|| caller.unknown("anonymous")),
        },
        now: gateway.clock.now(),
    };
    let content = field.map_ok(|bytes| bytes.to_vec()).map_err(|error| match error {
        multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. } => {
            FileError::TooBig
        }
        error => FileError::Gone(error.to_string()),
    });
    gateway.documents.add(file, content.boxed()).await?.map_err(of_file)
}

async fn remove_stored(gateway: &Gateway, document: &Document) -> Result<(), GatewayError> {
    gateway.documents.store.remove(document.chat, document.id).await?;
    Ok(())
}

/// Converts a document into OpenAI's object of a file.
fn shown(document: &Document) -> Value {
    json!({
        "id": format!("{PREFIX}{}", document.id),
        "object": "file",
        "bytes": document.bytes,
        "created_at": document.added_at.timestamp(),
        "filename": document.name,
        "purpose": PURPOSES[0],
        "status": "processed",
    })
}

fn of_file(reason: Unreadable) -> GatewayError {
    let error = GatewayError::invalid(format!("the file {reason}")).about("file");
    match reason {
        Unreadable::TooLarge => GatewayError { status: StatusCode::PAYLOAD_TOO_LARGE, ..error },
        Unreadable::Busy => GatewayError::unavailable("busy", error.message),
        Unreadable::NoReader => GatewayError::unavailable("no_reader", error.message),
        _ => error,
    }
}

fn of_form(error: &multer::Error) -> GatewayError {
    match error {
        multer::Error::StreamSizeExceeded { .. } => of_file(Unreadable::TooLarge),
        error => GatewayError::invalid(format!("the form cannot be read: {error}")),
    }
}
