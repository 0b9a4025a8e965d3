//! Files that come with a call go to Telegram as parts of a form, and the other arguments as its fields.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::telegram::{Asked, Part};
use crate::support::{Bench, FILE_NEEDED, KEY, request, text};

fn in_base64(name: &str, bytes: &[u8]) -> Value {
    json!({"name": name, "base64": BASE64_STANDARD.encode(bytes)})
}

fn in_text(name: &str, text: &str) -> Value {
    json!({"name": name, "text": text})
}

fn part(part: &str, name: &str, bytes: &[u8]) -> Part {
    Part { part: part.to_owned(), name: name.to_owned(), bytes: bytes.to_vec() }
}

/// The form of a call; fields that hold JSON are read, so that the order of names does not matter.
fn form(asked: &Asked) -> (Value, Vec<Part>) {
    let mut fields = asked.args.clone();
    for field in fields.as_object_mut().unwrap().values_mut() {
        let read = serde_json::from_str(field.as_str().unwrap()).ok();
        if let Some(read @ (Value::Array(_) | Value::Object(_))) = read {
            *field = read;
        }
    }
    (fields, asked.files.clone().unwrap())
}

type Case = (&'static str, Value, Value, Vec<Part>);

const BYTES: &[u8] = b"\x00\xff\r\n--boundary\r\n\x80";

fn at_the_top() -> Vec<Case> {
    vec![
        (
            "sendDocument",
            json!({"chat_id": 1, "document": in_base64("a b.bin", BYTES)}),
            json!({"chat_id": "1"}),
            vec![part("document", "a b.bin", BYTES)],
        ),
        (
            "sendDocument",
            json!({
                "chat_id": "@name", "document": in_text("Zahlen.csv", "a;ä\n1;2\n"), "caption": "[no JSON",
                "thumbnail": in_base64("small.jpg", b"jpg"), "disable_notification": true,
                "reply_parameters": {"message_id": 4}
            }),
            json!({
                "chat_id": "@name", "caption": "[no JSON", "disable_notification": "true",
                "reply_parameters": {"message_id": 4}
            }),
            vec![
                part("document", "Zahlen.csv", "a;ä\n1;2\n".as_bytes()),
                part("thumbnail", "small.jpg", b"jpg"),
            ],
        ),
        (
            "sendPhoto",
            json!({"chat_id": 1, "photo": in_base64("日本.png", b""), "caption": null}),
            json!({"chat_id": "1"}),
            vec![part("photo", "日本.png", b"")],
        ),
        (
            "setChatPhoto",
            json!({"chat_id": -5, "photo": in_base64("p.jpg", b"jpg")}),
            json!({"chat_id": "-5"}),
            vec![part("photo", "p.jpg", b"jpg")],
        ),
    ]
}

fn deep_inside() -> Vec<Case> {
    vec![
        (
            "sendMediaGroup",
            json!({"chat_id": 1, "media": [
                {"type": "photo", "media": in_base64("1.jpg", b"one"), "caption": "first"},
                {"type": "photo", "media": "https://example.org/2.jpg"},
                {"type": "video", "media": in_base64("3.mp4", b"three"), "thumbnail": in_base64("3.jpg", b"small")},
                {"type": "photo", "media": "AgACAgIAAxkBAAIB-x_1"}
            ]}),
            json!({"chat_id": "1", "media": [
                {"type": "photo", "media": "attach://file0", "caption": "first"},
                {"type": "photo", "media": "https://example.org/2.jpg"},
                {"type": "video", "media": "attach://file1", "thumbnail": "attach://file2"},
                {"type": "photo", "media": "AgACAgIAAxkBAAIB-x_1"}
            ]}),
            vec![
                part("file0", "1.jpg", b"one"),
                part("file1", "3.mp4", b"three"),
                part("file2", "3.jpg", b"small"),
            ],
        ),
        (
            "editMessageMedia",
            json!({"chat_id": 1, "message_id": 2, "media": {"type": "document", "media": in_text("n.txt", "new")}}),
            json!({
                "chat_id": "1", "message_id": "2", "media": {"type": "document", "media": "attach://file0"}
            }),
            vec![part("file0", "n.txt", b"new")],
        ),
        (
            "createNewStickerSet",
            json!({"user_id": 1, "name": "s_by_bot", "title": "S", "stickers": [
                {"sticker": in_base64("s.webp", b"webp"), "format": "static", "emoji_list": ["🙂"]}
            ]}),
            json!({"user_id": "1", "name": "s_by_bot", "title": "S", "stickers": [
                {"sticker": "attach://file0", "format": "static", "emoji_list": ["🙂"]}
            ]}),
            vec![part("file0", "s.webp", b"webp")],
        ),
    ]
}

#[tokio::test]
async fn files_arrive_as_parts_and_the_rest_as_fields() {
    let (bench, session) = Bench::unpaced(&[]).await;
    for (method, args, fields, parts) in at_the_top().into_iter().chain(deep_inside()) {
        bench.seen.lock().unwrap().asks.clear();
        let outcome = bench.call(&session, method, args).await;
        let wanted = json!({"ok": true, "result": {"message_id": 7, "method": method}});
        assert_eq!(outcome, (false, wanted));
        let asks = bench.asks();
        let [asked] = asks.as_slice() else { panic!("{asks:?}") };
        // The order of fields and parts says nothing.
        let (sent, mut files) = form(asked);
        files.sort_by(|a, b| a.part.cmp(&b.part));
        assert_eq!((asked.method.as_str(), sent, files), (method, fields, parts));
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_call_without_a_file_is_json() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let photo = json!({"chat_id": 1, "photo": "https://example.org/a.jpg", "has_spoiler": true});
    for (method, args) in [("sendMessage", text("hi")), ("sendPhoto", photo), ("getMe", json!({}))] {
        assert!(!bench.call(&session, method, args.clone()).await.0);
        let last = bench.asks().pop().unwrap();
        assert_eq!(last, Asked { method: method.to_owned(), args, files: None });
    }
    bench.stop().await;
}

#[tokio::test]
async fn what_is_no_file_or_too_large_never_leaves() {
    let (bench, session) = Bench::unpaced(&["--max-file-mb", "1"]).await;
    let size = 1 << 20;
    let no_upload = |path: &str, why: &str| {
        format!("{path} is not a file to upload: {why}. Give name, and either base64 or text")
    };
    let folder = "its name must be a file name without folders";
    let cases = [
        (
            in_base64("a", &vec![0; size + 1]),
            format!(
                "document is {} bytes long, and {size} are the most here; --max-file-mb changes that",
                size + 1
            ),
        ),
        (
            in_text("a", &"x".repeat(size + 1)),
            format!(
                "document is {} bytes long, and {size} are the most here; --max-file-mb changes that",
                size + 1
            ),
        ),
        (json!({"name": "a"}), no_upload("document", "it has no content")),
        (
            json!({"name": "a", "text": "x", "base64": "eA=="}),
            no_upload("document", "it has both base64 and text"),
        ),
        (in_text("", "x"), no_upload("document", folder)),
        (in_text("../a", "x"), no_upload("document", folder)),
        (in_text("a\r\nContent-Type: x", "x"), no_upload("document", folder)),
        (json!("attach://document"), format!("document {FILE_NEEDED}")),
    ];
    for (document, why) in cases {
        let outcome = bench.call(&session, "sendDocument", json!({"chat_id": 1, "document": document})).await;
        let error = json!({"error_code": 400, "description": format!("Bad Request: {why}")});
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})));
    }
    let bad = json!({"name": "a.jpg", "base64": "not base64!"});
    let media =
        json!([{"type": "photo", "media": "https://example.org/a.jpg"}, {"type": "photo", "media": bad}]);
    let (failed, outcome) =
        bench.call(&session, "sendMediaGroup", json!({"chat_id": 1, "media": media})).await;
    let description = outcome["error"]["description"].as_str().unwrap();
    assert!(
        failed && description.starts_with("Bad Request: media[1].media is not a file to upload: "),
        "{outcome}"
    );
    assert_eq!(bench.asks(), []);
    bench.stop().await;
}

#[tokio::test]
async fn the_largest_file_passes_and_a_larger_body_does_not() {
    let (bench, session) = Bench::unpaced(&["--max-file-mb", "1"]).await;
    let bytes = vec![7; 1 << 20];
    let call = |bytes: &[u8]| json!({"name": "sendDocument", "arguments": {"chat_id": 1, "document": in_base64("a", bytes)}});
    let answer = bench.ask(&session, "tools/call", call(&bytes)).await;
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
    assert_eq!(bench.asks()[0].files, Some(vec![part("document", "a", &bytes)]));
    let headers = [KEY, ("mcp-session-id", session.as_str())];
    let response = bench.post(&headers, &request("tools/call", call(&vec![7; 2 << 20]))).await;
    assert_eq!(response.status(), 413);
    assert_eq!(bench.asks().len(), 1);
    bench.stop().await;
}
