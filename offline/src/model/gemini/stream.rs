//! Writes a turn as chunks of a Gemini stream, or as one answer.

use serde_json::{Value, json};

use super::super::dialect::{ModelTurn, WireEvent};
use super::super::reply::{ReplyFinish, ReplyPart};
use super::known::GeminiModelName;
use super::signature;

const SEARCH: &str = "GOOGLE_SEARCH_WEB";

/// Parts of a chunk; `is_delta` marks new text.
struct Chunk {
    parts: Vec<Value>,
    is_delta: bool,
}

/// Returns an answer as chunks of a stream, or in one piece if the request asks for that.
pub(super) fn events(turn: &ModelTurn<'_>) -> Vec<WireEvent> {
    let (mut chunks, is_garbled) = chunks(turn);
    let last = last(turn, &mut chunks, is_garbled);
    if turn.request.is_whole() {
        return vec![WireEvent { bytes: whole(chunks, last).to_string().into_bytes(), is_delta: true }];
    }
    let written = chunks.into_iter().map(|Chunk { parts, is_delta }| {
        let candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        let mut chunk = json!({"candidates": [candidate]});
        frame(turn, &mut chunk);
        WireEvent { bytes: line(&chunk), is_delta }
    });
    written.chain([WireEvent { bytes: line(&last), is_delta: false }]).collect()
}

/// Formats a chunk for the wire.
pub(super) fn line(chunk: &Value) -> Vec<u8> {
    format!("data: {chunk}\r\n\r\n").into_bytes()
}

fn signs(turn: &ModelTurn<'_>) -> bool {
    GeminiModelName::of(turn.request.model()).is_some_and(GeminiModelName::is_third)
}

/// Returns the chunks of a turn. The flag is `true` if the arguments of a call are not an object. Consecutive calls share a
/// chunk, and only the first is signed.
fn chunks(turn: &ModelTurn<'_>) -> (Vec<Chunk>, bool) {
    let mut chunks: Vec<Chunk> = searched(turn).into_iter().collect();
    let shows_thoughts = thinking(turn)["includeThoughts"] == true;
    let mut made = 0;
    for part in turn.parts {
        match part {
            ReplyPart::Text(text) | ReplyPart::Refusal(text) => chunks.extend(text_chunks(turn, text, false)),
            ReplyPart::Thought(text) if shows_thoughts => chunks.extend(text_chunks(turn, text, true)),
            ReplyPart::Thought(_) => {}
            ReplyPart::Call { name, arguments } if arguments.is_object() => {
                let call = call(turn, name, arguments, made);
                match chunks.last_mut().filter(|_| made > 0).filter(|chunk| !chunk.is_delta) {
                    Some(chunk) => chunk.parts.push(call),
                    None => chunks.push(Chunk { parts: vec![call], is_delta: false }),
                }
                made += 1;
            }
            ReplyPart::Call { .. } => return (chunks, true),
        }
    }
    (chunks, false)
}

/// Returns the thinking settings. Field names may be in camel case or snake case.
fn thinking<'a>(turn: &'a ModelTurn<'_>) -> &'a Value {
    let body = &turn.request.body;
    let config = body.get("generationConfig").unwrap_or(&body["generation_config"]);
    config.get("thinkingConfig").unwrap_or(&config["thinking_config"])
}

fn text_chunks(turn: &ModelTurn<'_>, text: &str, is_thought: bool) -> Vec<Chunk> {
    let chunk = |piece: String| {
        let part = if is_thought { json!({"text": piece, "thought": true}) } else { json!({"text": piece}) };
        Chunk { parts: vec![part], is_delta: true }
    };
    turn.pieces(text).into_iter().map(chunk).collect()
}

fn call(turn: &ModelTurn<'_>, name: &str, arguments: &Value, at: usize) -> Value {
    let mut part = json!({"functionCall": {"name": name, "args": arguments}});
    if signs(turn) {
        part["functionCall"]["id"] = json!(signature::call_id(turn.number, at));
        if at == 0 {
            part["thoughtSignature"] = json!(signature::of(name, turn.number));
        }
    }
    part
}

/// Returns a search as a tool call of the service. Only for requests with both functions and search.
fn searched(turn: &ModelTurn<'_>) -> Option<Chunk> {
    if turn.sources().is_empty() || turn.request.tool_names().is_empty() {
        return None;
    }
    let id = format!("search-{}", turn.number);
    let signature = signature::of("", turn.number);
    let call = json!({"toolType": SEARCH, "args": {"queries": [turn.query()]}, "id": id});
    let found = json!({"toolType": SEARCH, "response": {"search_suggestions": ""}, "id": id});
    let parts = vec![
        json!({"toolCall": call, "thoughtSignature": signature}),
        json!({"toolResponse": found, "thoughtSignature": signature}),
    ];
    Some(Chunk { parts, is_delta: false })
}

/// Returns the last chunk: finish reason, sources and usage.
fn last(turn: &ModelTurn<'_>, chunks: &mut [Chunk], is_garbled: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model"}, "finishReason": "STOP", "index": 0});
    if chunks.last().is_some_and(|chunk| chunk.is_delta) {
        let mut part = json!({"text": ""});
        if signs(turn) {
            part["thoughtSignature"] = json!(signature::of("", turn.number));
        }
        candidate["content"]["parts"] = json!([part]);
    }
    match &turn.reply.finish {
        _ if is_garbled => {
            candidate["finishReason"] = json!("MALFORMED_FUNCTION_CALL");
            candidate["finishMessage"] = json!("Malformed function call: the arguments are no object");
        }
        ReplyFinish::Stop => {}
        ReplyFinish::Length => candidate["finishReason"] = json!("MAX_TOKENS"),
        ReplyFinish::Blocked(reason) if chunks.is_empty() => {
            let mut blocked = json!({"promptFeedback": {"blockReason": reason}});
            frame(turn, &mut blocked);
            return blocked;
        }
        ReplyFinish::Blocked(reason) => candidate["finishReason"] = json!(reason),
    }
    if !turn.sources().is_empty() {
        candidate["groundingMetadata"] = grounding(turn);
    }
    let mut chunk = json!({"candidates": [candidate]});
    frame(turn, &mut chunk);
    chunk
}

/// Adds the fields next to the candidates: usage, model version and response id.
fn frame(turn: &ModelTurn<'_>, chunk: &mut Value) {
    if let Some((input, output)) = turn.usage() {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": input}],
        });
    }
    chunk["modelVersion"] = json!(turn.request.model());
    chunk["responseId"] = json!(format!("offline{}", turn.number));
}

/// Returns grounding metadata in which every page supports the whole text. Offsets are in bytes.
fn grounding(turn: &ModelTurn<'_>) -> Value {
    let texts = turn.parts.iter().filter_map(|part| match part {
        ReplyPart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    let pages =
        turn.sources().iter().map(|source| json!({"web": {"uri": source.url, "title": source.title}}));
    let indices: Vec<usize> = (0..turn.sources().len()).collect();
    let segment = json!({"startIndex": 0, "endIndex": text.len(), "text": text});
    json!({
        "webSearchQueries": [turn.query()],
        "searchEntryPoint": {"renderedContent": "<div></div>"},
        "groundingChunks": pages.collect::<Vec<_>>(),
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": indices}],
    })
}

/// Joins all chunks into one answer, with the pieces of text merged.
fn whole(chunks: Vec<Chunk>, mut last: Value) -> Value {
    let ending = last["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default();
    let mut parts: Vec<Value> = Vec::new();
    for part in chunks.into_iter().flat_map(|chunk| chunk.parts).chain(ending) {
        let text = part["text"].as_str().map(ToOwned::to_owned);
        match (parts.last_mut().filter(|before| before["text"].is_string()), text) {
            (Some(before), Some(text)) if before["thought"] == part["thought"] => {
                before["text"] = json!(before["text"].as_str().unwrap_or_default().to_owned() + &text);
                if !part["thoughtSignature"].is_null() {
                    before["thoughtSignature"] = part["thoughtSignature"].clone();
                }
            }
            _ => parts.push(part),
        }
    }
    if !parts.is_empty() && last["candidates"].is_array() {
        last["candidates"][0]["content"]["parts"] = json!(parts);
    }
    last
}
