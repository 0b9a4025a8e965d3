//! Tools are listed, and calls of them reach Telegram or say why not.

use serde_json::json;

use crate::support::{Bench, FILE_NEEDED, names, text};

#[tokio::test]
async fn tools_are_listed_and_odd_cursors_refused() {
    let (bench, session) = Bench::with(&["--all"]).await;
    let tools = bench.tools(&session).await;
    let names = names(&tools);
    assert_eq!((names.len(), names[0]), (181, "find_telegram_methods"));
    assert!(!names.contains(&"getUpdates"));
    let tool = tools.iter().find(|tool| tool["name"] == "deleteMessage").unwrap();
    assert_eq!(tool["title"], "Delete message");
    assert_eq!(tool["_meta"], json!({"class": "delete", "returns": "True"}));
    assert_eq!(tool["annotations"]["destructiveHint"], true);
    assert_eq!(tool["inputSchema"]["required"], json!(["chat_id", "message_id"]));
    let odd = bench.ask(&session, "tools/list", json!({"cursor": "odd"})).await;
    assert_eq!(odd["error"]["code"], -32602);
    bench.stop().await;
}

#[tokio::test]
async fn what_adds_each_time_is_not_said_to_replace() {
    let (bench, session) = Bench::with(&["--all", "--with-lifecycle"]).await;
    let tools = bench.tools(&session).await;
    let is_like_them = |name: &str| ["edit", "set", "delete"].iter().any(|word| name.starts_with(word));
    let adding: Vec<&str> = (tools.iter().zip(names(&tools)))
        .filter(|(tool, name)| is_like_them(name) && tool["annotations"]["idempotentHint"] != true)
        .map(|(_, name)| name)
        .collect();
    let wanted = [
        "setWebhook",
        "deleteWebhook",
        "setChatPhoto",
        "setMyProfilePhoto",
        "setBusinessAccountProfilePhoto",
    ];
    assert_eq!(adding, wanted);
    bench.stop().await;
}

#[tokio::test]
async fn a_call_reaches_telegram_and_brings_its_result() {
    let (bench, session) = Bench::standalone().await;
    let args = json!({"chat_id": 1, "text": "hi", "parse_mode": null});
    let outcome = bench.call(&session, "sendMessage", args).await;
    assert_eq!(outcome, (false, json!({"ok": true, "result": {"message_id": 7, "method": "sendMessage"}})));
    assert_eq!(bench.requests(), [("sendMessage".to_owned(), text("hi"))]);
    bench.stop().await;
}

#[tokio::test]
async fn telegrams_refusals_are_tool_errors_without_the_token() {
    let (bench, session) = Bench::standalone().await;
    let redirect = "302 Found without a Bot API answer: check TELEGRAM_API_URL, or try again later";
    let gateway = "502 Bad Gateway without a Bot API answer: check TELEGRAM_API_URL, or try again later";
    let token =
        "Unauthorized: Telegram does not know this token: copy TELEGRAM_BOT_TOKEN again from @BotFather";
    let flood = "Too Many Requests: retry after 30";
    let cases = [
        (
            "moved",
            json!({"error_code": 400, "description": "Bad Request: upgraded", "migrate_to_chat_id": -1005}),
        ),
        ("long flood", json!({"error_code": 429, "description": flood, "retry_after": 30})),
        ("no token", json!({"error_code": 401, "description": token})),
        ("parrot", json!({"error_code": 404, "description": "Not Found: /bot[token]/sendMessage"})),
        ("shaky", json!({"error_code": 500, "description": "Internal Server Error"})),
        ("proxy", json!({"error_code": 502, "description": gateway})),
        ("elsewhere", json!({"error_code": 302, "description": redirect})),
    ];
    for (at, (cue, error)) in cases.into_iter().enumerate() {
        let outcome = bench.call(&session, "sendMessage", json!({"chat_id": at, "text": cue})).await;
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})), "{cue}");
    }
    assert_eq!(bench.requests().len(), 7, "a call that may have acted was repeated");
    bench.stop().await;
}

#[tokio::test]
async fn answers_beyond_any_bound_are_neither_kept_nor_asked_for_again() {
    let (bench, session) = Bench::standalone().await;
    for cue in ["bulk", "crowd"] {
        let sends = json!({"chat_id": 1, "text": cue});
        let edits = json!({"chat_id": 1, "text": cue, "message_id": 1});
        for (method, arguments) in [("sendMessage", sends), ("editMessageText", edits)] {
            let (is_error, said) = bench.call(&session, method, arguments).await;
            assert_eq!((is_error, &said["error"]["error_code"]), (true, &json!(413)), "{cue}");
            let words = said["error"]["description"].as_str().unwrap();
            assert!(words.contains("was not read: the call may have been carried out"), "{words}");
        }
    }
    assert_eq!(bench.requests().len(), 4, "an answer that is too large was asked for again");
    bench.stop().await;
}

#[tokio::test]
async fn what_can_not_be_called_never_leaves() {
    let (bench, session) = Bench::standalone().await;
    for tool in ["sendmessage", "getUpdates", "../getMe", ""] {
        let answer = bench.ask(&session, "tools/call", json!({"name": tool, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    let no_photo = format!("Bad Request: photo {FILE_NEEDED}");
    let cases = [
        ("sendMessage", json!({"chat_id": 1}), "Bad Request: text is required"),
        ("sendMessage", json!({"chat_id": 1, "text": null}), "Bad Request: text is required"),
        ("sendMessage", json!({}), "Bad Request: chat_id and text are required"),
        (
            "sendMessage",
            json!({"chat_id": 1, "message": "hi"}),
            "Bad Request: text is required; message is not a parameter of sendMessage",
        ),
        (
            "forwardMessage",
            json!({"chat": 1, "from": 2}),
            "Bad Request: chat_id, from_chat_id and message_id are required; chat and from are not parameters of \
             forwardMessage",
        ),
        (
            "sendPoll",
            json!({"chat_id": 1, "question": "a", "options": [{"texts": "b"}]}),
            "Bad Request: options[0].text is required",
        ),
        (
            "sendMessage",
            json!({"chat_id": true, "text": "a"}),
            "Bad Request: chat_id must be a whole number or a text, not true",
        ),
        (
            "deleteMessages",
            json!({"chat_id": 1, "message_ids": 5}),
            "Bad Request: message_ids must be a list of whole numbers, not a number",
        ),
        (
            "sendPhoto",
            json!({"chat_id": 1, "photo": 5}),
            "Bad Request: photo must be a file_id, an http(s) URL, or an object with name and base64 or text, not a \
             number",
        ),
        ("getChat", json!({"chat_id": 1, "x": 2}), "Bad Request: x is not a parameter of getChat"),
        ("sendPhoto", json!({"chat_id": 1, "photo": "file:///etc/passwd"}), &no_photo),
        ("sendPhoto", json!({"chat_id": 1, "photo": "/home/ann/cat.jpg"}), &no_photo),
        ("sendPhoto", json!({"chat_id": 1, "photo": "cat.jpg"}), &no_photo),
    ];
    for (tool, args, description) in cases {
        let outcome = bench.call(&session, tool, args).await;
        let error = json!({"error_code": 400, "description": description});
        assert_eq!(outcome, (true, json!({"ok": false, "error": error})));
    }
    assert_eq!(bench.requests(), []);
    bench.stop().await;
}
