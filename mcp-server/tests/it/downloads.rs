//! Files of Telegram's are shown by a handle, with what a model can read or see, and never by a path or the token.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::telegram::stored;
use crate::support::{Bench, TOKEN, parse};

const NO_WAY: &str =
    "Telegram gives no way to the file: it is too large for a bot, or on the disk of its own server";
const GONE: &str = "Telegram does not have the file any more";
const BROKEN: &str = "Telegram did not give the file: 500 Internal Server Error";
const CUT: &str = "the file could not be fetched from Telegram: try again later";
const TOO_LARGE: &str = "the file is larger than 1048576 bytes, the most here; --max-file-mb changes that";

/// MCP's codes for a handle that leads nowhere, and for a file that can not be had all the same.
const NOT_FOUND: i64 = -32002;
const INTERNAL: i64 = -32603;

/// The result of a tool that gives a file; of the whole answer, nothing may show the token or a path.
async fn file_of(bench: &Bench, session: &str, tool: &str, args: Value) -> Value {
    let params = json!({"name": tool, "arguments": args});
    let whole = bench.text(session, "tools/call", params).await;
    for hidden in [TOKEN, "SECRET", "file_path", "/file/bot", "/var/lib"] {
        assert!(!whole.contains(hidden), "{hidden} in {whole}");
    }
    parse(&whole)["result"].clone()
}

/// What is shown of a file.
struct Shown {
    name: &'static str,
    mime_type: &'static str,
    extra: Value,
    picture: bool,
}

fn shown(name: &'static str, mime_type: &'static str) -> Shown {
    Shown { name, mime_type, extra: json!({}), picture: false }
}

#[tokio::test]
async fn a_file_is_a_handle_with_what_can_be_shown() {
    let (bench, session) = Bench::with(&["--max-file-mb", "1"]).await;
    let text = |shown: Shown, text: &str| Shown { extra: json!({"text": text}), ..shown };
    let failed = |shown: Shown, why: &str| Shown { extra: json!({"content_error": why}), ..shown };
    let longest = "x".repeat(12 << 10);
    let cases = [
        ("note", text(shown("note.txt", "text/plain"), "hello\nworld")),
        ("table", text(shown("table.json", "application/json"), "{\"a\":1}")),
        ("longest-text", text(shown("longest.txt", "text/plain"), &longest)),
        ("long-text", shown("long.txt", "text/plain")),
        ("binary-text", shown("odd.txt", "text/plain")),
        ("sizeless", shown("sizeless.txt", "text/plain")),
        ("picture", Shown { picture: true, ..shown("file_1.jpg", "image/jpeg") }),
        ("large-picture", shown("large.jpg", "image/jpeg")),
        ("archive", shown("all.zip", "application/zip")),
        ("no-ending", shown("file_7", "application/octet-stream")),
        ("two-mb", shown("two.bin", "application/octet-stream")),
        ("on-disk", shown("note.txt", "text/plain")),
        ("pathless", shown("file", "application/octet-stream")),
        ("gone", failed(shown("gone.txt", "text/plain"), GONE)),
        ("broken", failed(shown("broken.txt", "text/plain"), BROKEN)),
        ("cut", failed(shown("cut.txt", "text/plain"), CUT)),
        ("longer-than-said", failed(shown("liar.txt", "text/plain"), TOO_LARGE)),
    ];
    for (id, wanted) in cases {
        let result = file_of(&bench, &session, "getFile", json!({"file_id": id})).await;
        assert_file(&result, id, &wanted);
    }
    bench.stop().await;
}

fn assert_file(result: &Value, id: &str, shown: &Shown) {
    let size = stored(id).unwrap().size;
    let uri = format!("telegram-file:///{id}");
    let mut file = json!({
        "file_id": id, "file_unique_id": "u", "uri": uri, "name": shown.name, "mime_type": shown.mime_type
    });
    let mut link =
        json!({"type": "resource_link", "uri": uri, "name": shown.name, "mimeType": shown.mime_type});
    if let Some(size) = size {
        file["file_size"] = size.into();
        link["size"] = size.into();
    }
    file.as_object_mut().unwrap().extend(shown.extra.as_object().unwrap().clone());
    assert_eq!(result["structuredContent"], json!({"ok": true, "result": file}), "{id}");
    let content = result["content"].as_array().unwrap();
    assert_eq!(content[0]["text"], result["structuredContent"].to_string(), "{id}");
    let bytes = || BASE64_STANDARD.encode(stored(id).unwrap().content.unwrap());
    let picture = || json!({"type": "image", "mimeType": shown.mime_type, "data": bytes()});
    let wanted: Vec<Value> = [link].into_iter().chain(shown.picture.then(picture)).collect();
    assert_eq!(content[1..], wanted, "{id}");
}

#[tokio::test]
async fn a_parent_is_shown_texts_but_no_pictures() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let result = file_of(&bench, &session, "getFile", json!({"file_id": "picture"})).await;
    assert_file(&result, "picture", &shown("file_1.jpg", "image/jpeg"));
    let result = file_of(&bench, &session, "getFile", json!({"file_id": "note"})).await;
    let note = Shown { extra: json!({"text": "hello\nworld"}), ..shown("note.txt", "text/plain") };
    assert_file(&result, "note", &note);
    let uri = json!({"uri": "telegram-file:///picture"});
    let read = bench.ask(&session, "resources/read", uri).await;
    let picture = BASE64_STANDARD.encode(stored("picture").unwrap().content.unwrap());
    assert_eq!(read["result"]["contents"][0]["blob"], picture);
    bench.stop().await;
}

#[tokio::test]
async fn an_uploaded_sticker_is_shown_alike() {
    let (bench, session) = Bench::standalone().await;
    let args = json!({
        "user_id": 1, "sticker": {"name": "a.webp", "base64": "AAAA"}, "sticker_format": "static"
    });
    let result = file_of(&bench, &session, "uploadStickerFile", args).await;
    assert_file(&result, "picture", &Shown { picture: true, ..shown("file_1.jpg", "image/jpeg") });
    let (failed, outcome) = bench.call(&session, "getFile", json!({"file_id": "nonsense"})).await;
    let error = json!({"error_code": 400, "description": "Bad Request: invalid file_id"});
    assert_eq!((failed, outcome), (true, json!({"ok": false, "error": error})));
    bench.stop().await;
}

#[tokio::test]
async fn a_handle_is_read_as_text_or_bytes() {
    let (bench, session) = Bench::with(&["--max-file-mb", "1"]).await;
    let cases = [
        ("note", "text/plain", true),
        ("long-text", "text/plain", true),
        ("sizeless", "text/plain", true),
        ("no-ending", "application/octet-stream", true),
        ("picture", "image/jpeg", false),
        ("archive", "application/zip", false),
        ("binary-text", "text/plain", false),
    ];
    for (id, mime_type, is_text) in cases {
        let uri = format!("telegram-file:///{id}");
        let answer = bench.ask(&session, "resources/read", json!({"uri": uri})).await;
        let bytes = stored(id).unwrap().content.unwrap();
        let mut wanted = json!({"uri": uri, "mimeType": mime_type});
        match is_text {
            true => wanted["text"] = String::from_utf8(bytes).unwrap().into(),
            false => wanted["blob"] = BASE64_STANDARD.encode(bytes).into(),
        }
        assert_eq!(answer["result"], json!({"contents": [wanted]}), "{id}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_handle_that_can_not_be_read_says_why() {
    let (bench, session) = Bench::with(&["--max-file-mb", "1"]).await;
    let no_handle = |uri: &str| format!("{uri:?} is no telegram-file:///<file_id>");
    let cases = [
        ("telegram-file:///gone", NOT_FOUND, GONE.to_owned()),
        ("telegram-file:///broken", INTERNAL, BROKEN.to_owned()),
        ("telegram-file:///cut", INTERNAL, CUT.to_owned()),
        ("telegram-file:///two-mb", INTERNAL, TOO_LARGE.to_owned()),
        ("telegram-file:///longer-than-said", INTERNAL, TOO_LARGE.to_owned()),
        ("telegram-file:///on-disk", NOT_FOUND, NO_WAY.to_owned()),
        ("telegram-file:///pathless", NOT_FOUND, NO_WAY.to_owned()),
        ("telegram-file:///nonsense", NOT_FOUND, "Bad Request: invalid file_id".to_owned()),
        ("telegram-file:///", NOT_FOUND, no_handle("telegram-file:///")),
        ("telegram-file://note", NOT_FOUND, no_handle("telegram-file://note")),
        ("file:///etc/passwd", NOT_FOUND, no_handle("file:///etc/passwd")),
        ("", NOT_FOUND, no_handle("")),
    ];
    for (uri, code, why) in cases {
        let whole = bench.text(&session, "resources/read", json!({"uri": uri})).await;
        assert!(!whole.contains("SECRET"), "{whole}");
        assert_eq!(parse(&whole)["error"], json!({"code": code, "message": why}), "{uri}");
    }
    let (status, answer) = bench.ask_newest("resources/read", json!({"uri": "telegram-file:///gone"})).await;
    assert_eq!((status, &answer["error"]), (200, &json!({"code": -32602, "message": GONE})));
    bench.stop().await;
}

#[tokio::test]
async fn the_form_of_handles_is_listed() {
    let (bench, session) = Bench::standalone().await;
    let answer = bench.ask(&session, "resources/templates/list", json!({})).await;
    let templates = answer["result"]["resourceTemplates"].as_array().unwrap();
    let uris: Vec<_> = templates.iter().map(|template| &template["uriTemplate"]).collect();
    assert_eq!(uris, ["telegram-file:///{file_id}"]);
    let listed = bench.ask(&session, "resources/list", json!({})).await;
    assert_eq!(listed["result"], json!({"resources": []}));
    bench.stop().await;
}
