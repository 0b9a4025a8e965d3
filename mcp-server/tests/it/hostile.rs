//! What is made to cost the server more than it costs the sender: each is refused for little work, and the server goes on.
//! Work is CPU time of this thread, on which client, server and Telegram run; how busy the machine is does not count.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Bench, FILE_NEEDED, KEY, send, text};

/// No answer takes more work, in unoptimized builds too; one that looks at everything again and again would take minutes.
const LITTLE: Duration = Duration::from_secs(2);

/// The CPU time that this thread has taken.
fn work() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    // The name of the thread in brackets may hold spaces.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // Linux counts in hundredths of a second (`man 7 time`, USER_HZ).
    Duration::from_millis(ticks * 10)
}

/// An object in an object and so on, each with this field alone, so that many alternatives of a union could be meant.
fn nested(field: &str, levels: usize, is_list: bool) -> Value {
    (0..levels).fold(json!("x"), |inner, _| json!({field: if is_list { json!([inner]) } else { inner }}))
}

/// How much work a call with this may be: some times what it is to send, read and refuse it without a look inside.
async fn most_work(bench: &Bench, session: &str, value: &Value) -> Duration {
    let before = work();
    let (failed, outcome) = bench.call(session, "getMe", json!({"x": value})).await;
    let description = &outcome["error"]["description"];
    assert!(failed && *description == "Bad Request: x is not a parameter of getMe", "{outcome}");
    (work() - before) * 4 + LITTLE
}

/// Calls it, and returns why it failed; it has to with that much work.
async fn refused(bench: &Bench, session: &str, tool: &str, args: Value, within: Duration) -> String {
    let before = work();
    let (failed, outcome) = bench.call(session, tool, args).await;
    let taken = work() - before;
    assert!(failed && taken < within, "{tool}: {taken:?} {outcome}");
    outcome["error"]["description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn vague_objects_in_each_other_are_refused_at_once() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let block = |block: Value| json!({"chat_id": 1, "rich_message": {"blocks": [block]}});
    for (field, levels, is_list) in [
        ("text", 60, false),
        ("blocks", 55, true),
        ("items", 55, true),
        ("caption", 60, false),
        ("type", 60, false),
    ] {
        let args = block(nested(field, levels, is_list));
        let why = refused(&bench, &session, "sendRichMessage", args, LITTLE).await;
        assert!(why.starts_with("Bad Request: rich_message.blocks[0].type "), "{field}: {why}");
    }
    let paragraph = |text: Value| block(json!({"type": "paragraph", "text": text}));
    let args = paragraph(nested("text", 60, false));
    let why = refused(&bench, &session, "sendRichMessage", args, LITTLE).await;
    assert_eq!(why, "Bad Request: rich_message.blocks[0].text.type is required");
    // A type that fits all the way down, and a fault at the end.
    let bold = (0..60).fold(json!(5), |text, _| json!({"type": "bold", "text": text}));
    let why = refused(&bench, &session, "sendRichMessage", paragraph(bold), LITTLE).await;
    let place = ".text".repeat(61);
    assert_eq!(
        why,
        format!(
            "Bad Request: rich_message.blocks[0]{place} must be a text or a list of RichText objects or an object, not a number"
        )
    );
    let lists = (0..100).fold(json!("x"), |text, _| json!([text]));
    let why = refused(&bench, &session, "sendRichMessage", paragraph(lists), LITTLE).await;
    assert!(why.ends_with("is nested too deep"), "{why}");
    assert_eq!(bench.requests(), []);
    assert!(!bench.call(&session, "sendMessage", text("still here")).await.0);
    bench.stop().await;
}

#[tokio::test]
async fn thousands_of_media_are_answered_like_any_call_of_their_length() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let photo = |media: Value| json!({"type": "photo", "media": media});
    let upload = photo(json!({"name": "a", "text": ""}));
    for (media, count) in [(json!({"media": "a"}), 6000), (photo(json!("a")), 3500), (upload, 1800)] {
        let many = Value::from(vec![media; count]);
        let within = most_work(&bench, &session, &many).await;
        let args = json!({"chat_id": 1, "media": many});
        let why = refused(&bench, &session, "sendMediaGroup", args, within).await;
        assert_eq!(why, "Bad Request: media must have at least 2 and at most 10 items");
    }
    bench.stop().await;
}

#[tokio::test]
async fn where_telegram_names_no_bound_each_media_is_looked_at_once() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let rich = |media: Value| json!({"id": "a", "media": {"type": "photo", "media": media}});
    let cases = [
        (json!({"media": "a"}), Some("rich_message.media[0].id is required".to_owned())),
        (rich(json!("/a")), Some(format!("rich_message.media[0].media.media {FILE_NEEDED}"))),
        (rich(json!("a")), None),
    ];
    for (media, wanted) in cases {
        let many = Value::from(vec![media; 2000]);
        let within = most_work(&bench, &session, &many).await;
        let args = json!({"chat_id": 1, "rich_message": {"media": many}});
        if let Some(wanted) = wanted {
            let why = refused(&bench, &session, "sendRichMessage", args, within).await;
            assert_eq!(why, format!("Bad Request: {wanted}"));
            continue;
        }
        let before = work();
        assert!(!bench.call(&session, "sendRichMessage", args.clone()).await.0);
        let taken = work() - before;
        assert!(taken < within, "{taken:?}");
        assert_eq!(bench.requests(), [("sendRichMessage".to_owned(), args)]);
    }
    bench.stop().await;
}

/// What the server says to a body: its HTTP status, and the text.
async fn posted(bench: &Bench, session: &str, body: String) -> (u16, String) {
    let request = bench.http.post(&bench.url).header("content-type", "application/json").body(body);
    let request = request.header("accept", "application/json, text/event-stream");
    let response = send(request, &[KEY, ("mcp-session-id", session)]).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"sendDocument","arguments":{arguments}}}}}"#
    )
}

#[tokio::test]
async fn json_has_a_bound_of_its_own_and_files_have_another() {
    let (bench, session) = Bench::unpaced(&["--max-file-mb", "2"]).await;
    let tiny = |count: usize| call(&format!(r#"{{"x":[{}0]}}"#, r#"{"a":0},"#.repeat(count)));
    let file = |bytes: usize, beside: &str| {
        let content = "x".repeat(bytes);
        call(&format!(r#"{{"chat_id":1,"document":{{"name":"a","text":"{content}"}}{beside}}}"#))
    };
    let long = "x".repeat(1 << 20);
    let beside = format!(r#","caption":"{long}""#);
    let cases = [
        (tiny(6000), None),
        (tiny(7000), Some("20000 keys and values")),
        (tiny(400_000), Some("20000 keys and values")),
        (call(&format!(r#"{{"x":"{long}"}}"#)), Some("1048576 bytes")),
        (call(&format!(r#"{{"text":"{long}"}}"#)), Some("1048576 bytes")),
        (file(2 << 20, ""), None),
        (file(1 << 20, &beside), Some("1048576 bytes")),
        (file(4 << 20, ""), Some("request body exceeds")),
    ];
    for (body, refusal) in cases {
        let start: String = body.chars().take(120).collect();
        let (status, text) = posted(&bench, &session, body).await;
        assert_eq!(status, if refusal.is_some() { 413 } else { 200 }, "{start}: {text}");
        assert!(text.contains(refusal.unwrap_or("result")), "{start}: {text}");
    }
    assert_eq!(bench.methods(), ["sendDocument"]);
    bench.stop().await;
}

#[tokio::test]
async fn what_is_hardly_json_is_refused_and_the_server_goes_on() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let digits = "9".repeat(500_000);
    let cases = [
        ("[".repeat(15_000), 400),
        (r#"{"a":"#.repeat(9000), 400),
        (call(&"[".repeat(15_000)), 400),
        (call(&format!("{}1{}", "[".repeat(15_000), "]".repeat(15_000))), 400),
        (call(&format!(r#"{{"chat_id":{digits}}}"#)), 400),
        (call(&format!(r#"{{"chat_id":1e{digits}}}"#)), 400),
        (call(&format!(r#"{{"chat_id":0.{digits}}}"#)), 200),
        (call(r#"{"chat_id":-0}"#), 200),
        (call(r#"{"chat_id":1e400}"#), 400),
        (format!("\"{}", "\\".repeat(500_001)), 400),
        ("\0".repeat(1000), 400),
        (",".repeat(1 << 20), 400),
        (",".repeat((1 << 20) + 1), 413),
        (String::new(), 400),
    ];
    for (body, wanted) in cases {
        let start: String = body.chars().take(120).collect();
        let (status, text) = posted(&bench, &session, body).await;
        assert_eq!(status, wanted, "{start}: {text}");
    }
    assert_eq!(bench.requests(), []);
    assert!(!bench.call(&session, "sendMessage", text("still here")).await.0);
    bench.stop().await;
}
