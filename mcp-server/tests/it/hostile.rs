//! What is made to cost the server more than it costs the sender: each is answered at once, and the server goes on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Bench, text};

/// Nobody waits longer for an answer, unoptimized builds on busy machines included.
const AT_ONCE: Duration = Duration::from_secs(1);
/// An object in an object and so on, each with this field alone, so that many alternatives of a union could be meant.
fn nested(field: &str, levels: usize, is_list: bool) -> Value {
    (0..levels).fold(json!("x"), |inner, _| json!({field: if is_list { json!([inner]) } else { inner }}))
}

/// How long a call with this may take: some times what it takes to send, read and refuse it without a look inside.
async fn patience(bench: &Bench, session: &str, value: &Value) -> Duration {
    let start = Instant::now();
    let (failed, outcome) = bench.call(session, "getMe", json!({"x": value})).await;
    let description = &outcome["error"]["description"];
    assert!(failed && *description == "Bad Request: x is not a parameter of getMe", "{outcome}");
    start.elapsed() * 4 + AT_ONCE
}

/// Calls it, and returns why it failed; it has to within that time.
async fn refused(bench: &Bench, session: &str, tool: &str, args: Value, within: Duration) -> String {
    let start = Instant::now();
    let (failed, outcome) = bench.call(session, tool, args).await;
    let elapsed = start.elapsed();
    assert!(failed && elapsed < within, "{tool}: {elapsed:?} {outcome}");
    outcome["error"]["description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn vague_objects_in_each_other_are_refused_at_once() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let block = |block: Value| json!({"chat_id": 1, "rich_message": {"blocks": [block]}});
    let vague = "must be InputRichBlock, not an object";
    for (field, levels, is_list) in [
        ("text", 60, false),
        ("blocks", 55, true),
        ("items", 55, true),
        ("caption", 60, false),
        ("type", 60, false),
    ] {
        let args = block(nested(field, levels, is_list));
        let why = refused(&bench, &session, "sendRichMessage", args, AT_ONCE).await;
        assert_eq!(why, format!("Bad Request: rich_message.blocks[0] {vague}"), "{field}");
    }
    let paragraph = |text: Value| block(json!({"type": "paragraph", "text": text}));
    let args = paragraph(nested("text", 60, false));
    let why = refused(&bench, &session, "sendRichMessage", args, AT_ONCE).await;
    assert_eq!(why, "Bad Request: rich_message.blocks[0].text must be RichText, not an object");
    // A type that fits all the way down, and a fault at the end.
    let bold = (0..60).fold(json!(5), |text, _| json!({"type": "bold", "text": text}));
    let why = refused(&bench, &session, "sendRichMessage", paragraph(bold), AT_ONCE).await;
    let place = ".text".repeat(61);
    assert_eq!(why, format!("Bad Request: rich_message.blocks[0]{place} must be RichText, not a number"));
    let lists = (0..100).fold(json!("x"), |text, _| json!([text]));
    let why = refused(&bench, &session, "sendRichMessage", paragraph(lists), AT_ONCE).await;
    assert!(why.ends_with("is nested too deep"), "{why}");
    assert_eq!(bench.requests(), []);
    assert!(!bench.call(&session, "sendMessage", text("still here")).await.0);
    bench.stop().await;
}

#[tokio::test]
async fn two_hundred_thousand_media_are_answered_like_any_call_of_their_length() {
    let (bench, session) = Bench::unpaced(&[]).await;
    let photo = |media: Value| json!({"type": "photo", "media": media});
    let upload = photo(json!({"name": "a", "text": ""}));
    for (media, count) in [(json!({"media": "a"}), 200_000), (photo(json!("a")), 20_000), (upload, 20_000)] {
        let many = Value::from(vec![media; count]);
        let within = patience(&bench, &session, &many).await;
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
    let no_file = "must be a file_id, an http(s) URL, or an object with name and base64";
    let cases = [
        (json!({"media": "a"}), Some("rich_message.media[0].id is required".to_owned())),
        (rich(json!("/a")), Some(format!("rich_message.media[0].media.media {no_file}"))),
        (rich(json!("a")), None),
    ];
    for (media, wanted) in cases {
        let many = Value::from(vec![media; 20_000]);
        let within = patience(&bench, &session, &many).await;
        let args = json!({"chat_id": 1, "rich_message": {"media": many}});
        if let Some(wanted) = wanted {
            let why = refused(&bench, &session, "sendRichMessage", args, within).await;
            assert_eq!(why, format!("Bad Request: {wanted}"));
            continue;
        }
        let start = Instant::now();
        assert!(!bench.call(&session, "sendRichMessage", args.clone()).await.0);
        assert!(start.elapsed() < within, "{:?}", start.elapsed());
        assert_eq!(bench.requests(), [("sendRichMessage".to_owned(), args)]);
    }
    bench.stop().await;
}
