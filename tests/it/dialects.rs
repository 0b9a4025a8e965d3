//! Shapes of answers that services send in each dialect, good and odd: what the person sees of them, which calls are made, and what
//! is booked. One bot for each dialect reads them all.

use chrono::DateTime;
use figaro_base::ids::ChatId;
use figaro_domain::conversation::{ConversationId, MessageRole};
use serde_json::{Value, json};

use crate::streams::{answer, chunk, event, gemini, line, words};
use crate::support::replay::{Replay, Sent};
use crate::support::{ANN, World};

const LOAVES: &str = "Two loaves.";
/// The tokens that answers are said to have.
const COUNTED: u64 = 5;
/// Those of [`LOAVES`] by estimate, where nothing is said.
const ESTIMATED: u64 = 4;

/// An answer, in one request or several.
struct Row {
    name: &'static str,
    sent: Vec<Sent>,
    says: &'static str,
    /// The calls that are made, such as `list_notes{}`.
    calls: &'static str,
    /// The tokens that are booked for what was written.
    output: u64,
}

/// An answer that comes to [`LOAVES`] and is not counted.
fn row(name: &'static str, sent: Sent) -> Row {
    Row { name, sent: vec![sent], says: LOAVES, calls: "", output: ESTIMATED }
}

fn counted(name: &'static str, sent: Sent) -> Row {
    Row { output: COUNTED, ..row(name, sent) }
}

/// A pass that makes calls, before one that answers; neither is counted.
fn calling(name: &'static str, calls: &'static str, output: u64, passes: [Sent; 2]) -> Row {
    Row { sent: passes.into(), calls, output, ..row(name, Sent::events("")) }
}

/// A failure: nothing is booked.
fn failing(name: &'static str, says: &'static str, sent: Sent) -> Row {
    Row { says, output: 0, ..row(name, sent) }
}

const QUOTA: &str = "My account at the model's provider has no credit left. Only the owner can fix that. Your message is kept.";
const KEY: &str =
    "The model's provider rejected my API key. Only the owner can fix that. Your message is kept.";
const LONG: &str = "This conversation has become too long for my model. /new starts a fresh one.";
const REFUSED: &str = "The model refused this request. Ask in other words, or start over with /new.";
const SPENT: &str = "The model reached its length limit before it said anything. Ask for less at once.";

/// Asks one bot of this provider for all of them.
async fn all(provider: &str, rows: Vec<Row>) {
    let world = World::new().await;
    let replay = Replay::start(rows.iter().flat_map(|row| row.sent.clone()).collect()).await;
    let bot = world.bot_at(provider, &replay).await;
    let (mut asked, mut wrong) = (0, Vec::new());
    for row in &rows {
        let told = world.ask(row.name).await["text"].as_str().unwrap().to_owned();
        // Behind a failure stands where more is to be found.
        let told = told.split(" /why says").next().unwrap_or_default().trim_start_matches("⚠\u{fe0f} ");
        asked += row.sent.len();
        // The rows behind it would get what is meant for others.
        assert_eq!(replay.requests().len(), asked, "{}: {told} {wrong:?}\n{}", row.name, bot.log());
        if told != row.says {
            wrong.push(format!("{}: says {told:?}", row.name));
        }
    }
    bot.ends_well().await;
    let booked = booked(&world).await;
    assert_eq!(booked.len(), rows.len());
    for (row, (calls, output)) in rows.iter().zip(booked) {
        if (calls.as_str(), output) != (row.calls, row.output) {
            wrong.push(format!("{}: {calls:?}, {output} tokens", row.name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The calls that were made for each question, and the tokens of its answer.
async fn booked(world: &World) -> Vec<(String, u64)> {
    let store = world.stored().await;
    let conversation = ConversationId { chat: ChatId(ANN), topic: None };
    let session = store.conversations().session(conversation, DateTime::UNIX_EPOCH).unwrap().id;
    let mut turns: Vec<(String, u64)> = Vec::new();
    for message in store.conversations().recent(session, usize::MAX).unwrap() {
        let (role, last) = (message.role, turns.last_mut());
        match (role, &message.tool, last) {
            (MessageRole::User, ..) => turns.push((String::new(), 0)),
            (_, Some(tool), Some((calls, _))) => {
                let space = if calls.is_empty() { "" } else { " " };
                calls.push_str(&format!("{space}{}{}", tool.tool_name, tool.tool_arguments));
            }
            (_, None, Some((_, output))) => {
                *output = message.token_usage.map_or(*output, |usage| usage.output);
            }
            (_, _, None) => {}
        }
    }
    turns
}

/// A chunk with this in the place of its delta, and the end.
fn chat(delta: Value) -> Sent {
    Sent::events(&(chunk(delta, Some("stop")) + "data: [DONE]\n\n"))
}

/// A text that is no JSON in the place of a chunk.
fn raw(text: &str) -> Sent {
    Sent::events(&format!("data: {text}\n\ndata: [DONE]\n\n"))
}

/// An answer with this count.
fn chat_with(usage: &Value) -> Sent {
    Sent::events(&(answer(LOAVES).replace("data: [DONE]\n\n", "") + &format!("data: {usage}\n\n")))
}

/// A call of a chat in these pieces.
fn chat_calls(pieces: &[Value]) -> String {
    let chunks: String = pieces.iter().map(|piece| chunk(json!({"tool_calls": piece}), None)).collect();
    chunks + &chunk(json!({}), Some("tool_calls"))
}

fn piece(index: Value, id: Value, name: Value, arguments: Value) -> Value {
    json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
}

const NOTE: &str = r#"{"content":"b","key":"a"}"#;
const NOTED: &str = r#"add_note{"content":"b","key":"a"}"#;

/// A call with its arguments in one event, as the Chat dialect sends it.
fn call(name: &str, arguments: impl Into<Value>) -> String {
    chat_calls(&[json!([piece(json!(0), json!("x"), json!(name), arguments.into())])])
}

#[tokio::test]
async fn words_of_chat_completions() {
    let lenient = |more: &str| {
        raw(&format!(
            r#"{{"choices":[{{"delta":{{"content":"Two loaves."}},{more}"finish_reason":"stop"}}]}}"#
        ))
    };
    let parts = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": LOAVES}]);
    let said = |text: &str| Sent::events(&answer(text));
    let choice = |choice: Value| raw(&json!({"choices": [choice]}).to_string());
    all("compatible", vec![
        row("text in parts", chat(json!({"content": parts}))),
        row("text in an object", chat(json!({"content": {"type": "text", "text": LOAVES}}))),
        row("text of the completions before", choice(json!({"text": LOAVES, "finish_reason": "stop"}))),
        row("a number", Sent::events(&(chunk(json!({"content": "Two loaves"}), None) + &answer(".")))),
        row("a refusal", chat(json!({"content": null, "refusal": LOAVES}))),
        row("no number", lenient("\"logprobs\":NaN,")),
        row("a comma too much", lenient("\"x\":[1,],")),
        row("words of Python", lenient("'x':None,")),
        row("too deep", lenient(&format!("\"x\":{}{},", "[".repeat(200), "]".repeat(200)))),
        row("half a character", raw(r#"{"choices":[{"delta":{"reasoning_content":"\ud83e","content":"Two loaves."},"finish_reason":"stop"}]}"#)).with_output(5),
        row("another reason to end", Sent::events(&(words(LOAVES) + &chunk(json!({}), Some("eos_token"))))),
        row("an end mark", Sent::events(&(words("Two loaves.<|im") + &answer("_end|>")))),
        row("a box", said("\\boxed{\\text{Two loaves.}}")),
        row("marks of a box", said("<|begin_of_box|>Two loaves.<|end_of_box|>")),
        row("reasoning in words", said("Here is my thought process:\nhm\nHere is my response:\nTwo loaves.")).with_output(12),
        Row { says: "Well.\nTwo loaves.", ..row("a block of its own", said("Well.\n<think>\nhm hm\n</think>\nTwo loaves.")) }.with_output(10),
        Row { says: "Use <think> so.", ..row("a tag in words", said("Use <think> so.")) }.with_output(6),
        Row { says: "Two lo …", output: 2, ..row("cut", Sent::events(&(words("Two lo") + &chunk(json!({}), Some("length"))))) },
        Row { says: SPENT, ..row("cut in its reasoning", Sent::events(&(chunk(json!({"reasoning_content": "x".repeat(400)}), None) + &chunk(json!({}), Some("length"))))) }.with_output(0),
    ])
    .await;
}

#[tokio::test]
async fn counts_and_failures_of_chat_completions() {
    let named = |input: &str, output: &str| json!({"choices": [], "usage": {input: 23, output: 5}});
    let failed = |body: Value| Sent::document(200, &body);
    let event = |body: Value| raw(&body.to_string());
    let long = || {
        event(json!({"error": {"message": "the request exceeds the available context size", "code": 400}}))
    };
    all("compatible", vec![
        counted("as OpenAI does", chat_with(&named("prompt_tokens", "completion_tokens"))),
        counted("other names", chat_with(&named("input_tokens", "output_tokens"))),
        counted("in texts", chat_with(&json!({"choices": [], "usage": {"prompt_tokens": "23", "completion_tokens": "5"}}))),
        counted("in floats", chat_with(&json!({"choices": [], "usage": {"prompt_tokens": 23.0, "completion_tokens": 5.0}}))),
        counted("in a choice", chat_with(&json!({"choices": [{"delta": {}, "usage": {"prompt_tokens": 23, "completion_tokens": 5}}]}))),
        counted("at Groq", chat_with(&json!({"choices": [], "x_groq": {"usage": {"prompt_tokens": 23, "completion_tokens": 5}}}))),
        counted("without choices", chat_with(&json!({"usage": {"prompt_tokens": 23, "completion_tokens": 5}}))),
        row("as nothing", chat_with(&json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}))),
        failing("an error in the stream", QUOTA, event(json!({"error": {"message": "m", "code": "insufficient_quota"}}))),
        failing("an error as a document", KEY, failed(json!({"error": {"message": "m", "code": 401}}))),
        failing("an error in a list", QUOTA, failed(json!([{"error": {"message": "m", "code": 402}}]))),
        failing("an error in a choice", QUOTA, event(json!({"choices": [{"delta": {}, "error": {"message": "m", "code": 402}}]}))),
        failing("a code and words", KEY, failed(json!({"code": "401", "msg": "m", "success": false}))),
        failing("words alone", REFUSED, failed(json!({"object": "error", "message": "m", "code": 400}))),
        failing("a status of its own", KEY, failed(json!({"base_resp": {"status_code": 401, "status_msg": "m"}}))),
        // It is sent once more, and shorter.
        Row { sent: vec![long(), long()], ..failing("too long", LONG, raw("")) },
        Row { sent: vec![event(json!({"error": {"message": "busy", "code": 503}})), Sent::events(&answer(LOAVES))], ..row("busy, and then not", raw("")) },
    ])
    .await;
}

#[tokio::test]
async fn calls_of_chat_completions() {
    let none = Value::Null;
    let passes = |sent: &str| [Sent::events(sent), Sent::events(&answer(LOAVES))];
    let note = |name: &'static str, sent: String| calling(name, NOTED, 13, passes(&sent));
    let list = |name: &'static str, sent: String| calling(name, "list_notes{}", 5, passes(&sent));
    let pieces = |index: &Value, later: &Value| {
        let (start, end) = NOTE.split_at(9);
        let begin = piece(index.clone(), json!("x"), json!("add_note"), json!(start));
        chat_calls(&[json!([begin]), json!([piece(later.clone(), none.clone(), none.clone(), json!(end))])])
    };
    let two = |index: Value| {
        let call = |id: &str| piece(index.clone(), json!(id), json!("list_notes"), json!("{}"));
        chat_calls(&[json!([call("x")]), json!([call("y")])])
    };
    let old = json!({"name": "add_note", "arguments": NOTE});
    let text = |text: &str| answer(text);
    all("compatible", vec![
        note("in pieces", pieces(&json!(0), &json!(0))),
        note("without an index", pieces(&none, &none)),
        note("another index later", pieces(&json!(3), &json!(0))),
        note("an object", call("add_note", json!({"content": "b", "key": "a"}))),
        note("in a text", call("add_note", json!(NOTE).to_string())),
        note("fenced", call("add_note", format!("```json\n{NOTE}\n```"))),
        note("twice", call("add_note", format!("{NOTE}{NOTE}"))),
        note("a comma too much", call("add_note", NOTE.replace('}', ",}"))),
        note("quotes of Python", call("add_note", NOTE.replace('"', "'"))),
        note("marks behind it", call("add_note", format!("{NOTE}</tool_call>"))),
        note("a name of a template", call("functions.add_note:0", NOTE)),
        note("the form before", chunk(json!({"function_call": old}), None) + &chunk(json!({}), Some("function_call"))),
        note("no list", chunk(json!({"tool_calls": piece(json!(0), json!("x"), json!("add_note"), json!(NOTE))}), Some("tool_calls"))),
        list("no arguments", call("list_notes", "")),
        list("null", call("list_notes", none.clone())),
        list("the word null", call("list_notes", "null")),
        list("an empty list", call("list_notes", "[]")),
        calling("one index for two", "list_notes{} list_notes{}", 6, passes(&two(json!(0)))),
        list("as Hermes writes", text("<tool_call>\n{\"name\": \"list_notes\", \"arguments\": {}}\n</tool_call>")),
        list("as Qwen writes", text("<tool_call>\n<function=list_notes>\n</function>\n</tool_call>")),
        list(
                "as gpt-oss writes",
                text("<|channel|>commentary to=functions.list_notes <|constrain|>json<|message|>{}<|call|>"),
            ),
            list("as Mistral writes", text("[TOOL_CALLS][{\"name\": \"list_notes\", \"arguments\": {}}]")),
        note("as MiniMax writes", text("<minimax:tool_call><invoke name=\"add_note\"><parameter name=\"content\">b</parameter><parameter name=\"key\">a</parameter></invoke></minimax:tool_call>")),
    ])
    .await;
}

/// An answer of the Responses API with these events before its end.
fn responses(events: &str, output: Value) -> Sent {
    let response =
        json!({"status": "completed", "output": output, "usage": {"input_tokens": 23, "output_tokens": 5}});
    Sent::events(&(events.to_owned() + &event("response.completed", json!({"response": response}))))
}

#[tokio::test]
async fn answers_of_the_responses_api() {
    let said = |text: &str| event("response.output_text.delta", json!({"delta": text}));
    let message =
        |content: Value| json!([{"type": "message", "id": "m1", "role": "assistant", "content": content}]);
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "x", "name": "add_note"});
    let added = event("response.output_item.added", json!({"output_index": 0, "item": item}));
    let delta = event("response.function_call_arguments.delta", json!({"item_id": "fc_1", "delta": NOTE}));
    let done = event("response.function_call_arguments.done", json!({"item_id": "fc_1", "arguments": NOTE}));
    let mut whole = item.clone();
    whole["arguments"] = json!(NOTE);
    let old_usage = json!({"status": "completed", "output": [], "usage": {"prompt_tokens": "23", "completion_tokens": 5.0}});
    let failed = json!({"status": "failed", "error": {"code": "insufficient_quota", "message": "m"}});
    let end = || responses(&said(LOAVES), json!([]));
    let note = |name: &'static str, sent: Sent| calling(name, NOTED, 10, [sent, end()]);
    all(
        "openai",
        vec![
            counted("deltas", end()),
            counted(
                "its end alone",
                responses("", message(json!([{"type": "output_text", "text": LOAVES}]))),
            ),
            counted("a bare text", responses("", message(json!(LOAVES)))),
            counted(
                "the text of a part",
                responses(&event("response.output_text.done", json!({"text": LOAVES})), json!([])),
            ),
            counted("reasoning in it", responses(&said("<think>hm</think>Two loaves."), json!([]))),
            counted(
                "old names",
                Sent::events(&(said(LOAVES) + &event("response.done", json!({"response": old_usage})))),
            ),
            row("no end", Sent::events(&said(LOAVES))),
            note("arguments in deltas", responses(&(added.clone() + &delta), json!([]))),
            note("arguments in their end", responses(&(added + &done), json!([]))),
            note("a call at the end", responses("", json!([whole]))),
            failing("failed", QUOTA, Sent::events(&event("response.failed", json!({"response": failed})))),
        ],
    )
    .await;
}

#[tokio::test]
async fn answers_of_gemini() {
    let count = |mut piece: Value, usage: Value| {
        piece["usageMetadata"] = usage;
        format!("data: {piece}\n\n")
    };
    let end = |usage: Value| Sent::events(&count(gemini(LOAVES, json!("STOP")), usage));
    let parts = |parts: Value, finish: &str| {
        let piece =
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}]});
        Sent::events(&format!("data: {piece}\n\n"))
    };
    let plain = || end(json!({"promptTokenCount": 23, "candidatesTokenCount": 5}));
    let called =
        |name: &str, args: Value| parts(json!([{"functionCall": {"name": name, "args": args}}]), "STOP");
    let note = |name: &'static str, sent: Sent| calling(name, NOTED, 14, [sent, plain()]);
    let every = count(gemini("Two ", json!("STOP")), Value::Null)
        + &count(gemini("loaves.", json!("STOP")), Value::Null);
    let failed = json!([{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]);
    all(
        "gemini",
        vec![
            counted("counted", plain()),
            counted("counted in texts", end(json!({"promptTokenCount": "23", "candidatesTokenCount": "5"}))),
            counted(
                "thoughts count",
                end(json!({"promptTokenCount": 23, "candidatesTokenCount": 2, "thoughtsTokenCount": 3})),
            ),
            row("a reason with every piece", Sent::events(&every)),
            row("a thought", parts(json!([{"text": "hm", "thought": true}, {"text": LOAVES}]), "STOP"))
                .with_output(5),
            row("reasoning in the text", parts(json!([{"text": "<think>hm</think>Two loaves."}]), "STOP"))
                .with_output(5),
            row(
                "parts of other kinds",
                parts(json!([{"executableCode": {"code": "1"}}, {"text": LOAVES}]), "NEW_REASON"),
            ),
            note("an object", called("add_note", json!({"content": "b", "key": "a"}))),
            note("a text", called("add_note", json!(NOTE))),
            note("a name of a template", called("default_api:add_note", json!({"content": "b", "key": "a"}))),
            calling("no arguments", "list_notes{}", 6, [called("list_notes", Value::Null), plain()]),
            failing("withheld", REFUSED, parts(json!([]), "SAFETY")),
            failing("failed", KEY, Sent::document(400, &failed)),
        ],
    )
    .await;
}

#[tokio::test]
async fn answers_of_ollama() {
    let end = |more: Value| {
        let mut last = json!({"message": {"role": "assistant", "content": ""}, "done": true});
        last.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{last}\n")
    };
    let said = |more: Value| Sent::lines(&(line(LOAVES, false) + &end(more)));
    let called = |arguments: Value| {
        let call = json!({"function": {"name": "add_note", "arguments": arguments}});
        Sent::lines(
            &(format!("{}\n", json!({"message": {"content": "", "tool_calls": [call]}})) + &end(json!({}))),
        )
    };
    let note = |name: &'static str, sent: Sent| calling(name, NOTED, 13, [sent, said(json!({}))]);
    let thinking = json!({"message": {"thinking": "hm hm hm", "content": ""}});
    let tagged = "<tool_call>\n{\"name\": \"add_note\", \"arguments\": {\"content\":\"b\",\"key\":\"a\"}}\n</tool_call>";
    all(
        "ollama",
        vec![
            counted("counted", said(json!({"prompt_eval_count": 23, "eval_count": 5}))),
            counted("counted in floats", said(json!({"prompt_eval_count": 23.0, "eval_count": 5.0}))),
            row("not counted", said(json!({}))),
            row("a thought", Sent::lines(&(format!("{thinking}\n") + &line(LOAVES, true)))).with_output(6),
            row("reasoning in the text", Sent::lines(&line("<think>hm</think>Two loaves.", true)))
                .with_output(5),
            row("another reason to end", said(json!({"done_reason": "load"}))),
            note("an object", called(json!({"content": "b", "key": "a"}))),
            note("a text", called(json!(NOTE))),
            note("in the text", Sent::lines(&line(tagged, true))),
            failing("failed", REFUSED, Sent::lines("{\"error\": \"m does not want to\", \"code\": 400}\n")),
        ],
    )
    .await;
}

impl Row {
    fn with_output(self, output: u64) -> Self {
        Self { output, ..self }
    }
}
