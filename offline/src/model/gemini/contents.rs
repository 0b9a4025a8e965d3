//! Gemini's rules for conversations: order of roles, calls with their results, and signed thoughts.

use serde_json::Value;

use super::super::checks::{OpenCalls, non_empty_str};
use super::super::dialect::Validation;
use super::known::GeminiModelName;
use super::{signature, tools};

/// Fields of a part; each part has exactly one.
const DATA: [&str; 6] =
    ["text", "inlineData", "functionCall", "functionResponse", "toolCall", "toolResponse"];

const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
/// Some of the sounds and films that Gemini's models take: <https://ai.google.dev/gemini-api/docs/audio>.
const SOUNDS: [&str; 8] = [
    "audio/ogg",
    "audio/mpeg",
    "audio/wav",
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "video/mp4",
    "video/webm",
];

/// Checks the conversation of a request.
pub(super) fn check(body: &Value, model: &GeminiModelName) -> Validation {
    let Some(contents) = body["contents"].as_array().filter(|contents| !contents.is_empty()) else {
        return Err("* GenerateContentRequest.contents: contents is not specified".to_owned());
    };
    for (at, content) in contents.iter().enumerate() {
        self::content(content, &format!("contents[{at}]"))?;
    }
    if !body["systemInstruction"].is_null() {
        let is_text = |part: &Value| non_empty_str(part, "text").is_some();
        if !parts(&body["systemInstruction"]).iter().all(is_text)
            || parts(&body["systemInstruction"]).is_empty()
        {
            return Err("* GenerateContentRequest.system_instruction: must be text".to_owned());
        }
    }
    turns(contents)?;
    signatures(contents, model)
}

/// Returns the parts of a content; empty if it has none.
pub(super) fn parts(content: &Value) -> &[Value] {
    content["parts"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn content(content: &Value, path: &str) -> Validation {
    let role = content["role"].as_str().unwrap_or("user");
    if !matches!(role, "user" | "model" | "function") {
        return Err("Please use a valid role: user, model.".to_owned());
    }
    if parts(content).is_empty() {
        return Err(format!("* GenerateContentRequest.{path}.parts: contents.parts must not be empty."));
    }
    for (at, part) in parts(content).iter().enumerate() {
        self::part(part, role, &format!("{path}.parts[{at}]"))?;
    }
    Ok(())
}

fn part(part: &Value, role: &str, path: &str) -> Validation {
    let data: Vec<&str> = DATA.into_iter().filter(|name| !part[name].is_null()).collect();
    let kind = match data.as_slice() {
        [kind] => *kind,
        [] => {
            return Err(format!(
                "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized field"
            ));
        }
        _ => return Err(format!("Invalid value at '{path}' (oneof), oneof field 'data' is already set.")),
    };
    let is_models = matches!(kind, "functionCall" | "toolCall" | "toolResponse");
    let is_users = matches!(kind, "functionResponse" | "inlineData");
    if (is_models && role != "model") || (is_users && role == "model") {
        return Err(format!("Please ensure that {kind} stands in a turn of the right role ({path})."));
    }
    let is_empty = part["text"] == "" && part["thoughtSignature"].is_null();
    match kind {
        "text" if is_empty => Err(format!("* GenerateContentRequest.{path}.text: empty text parameter")),
        "inlineData" => media(&part["inlineData"]),
        "functionCall" | "functionResponse"
            if !non_empty_str(&part[kind], "name").is_some_and(tools::is_name) =>
        {
            Err(format!("* GenerateContentRequest.{path}.{kind}.name: Name cannot be empty."))
        }
        "functionResponse" if part[kind]["response"].is_null() => {
            Err(format!("* GenerateContentRequest.{path}.function_response.response: must be an object"))
        }
        _ => Ok(()),
    }
}

fn media(blob: &Value) -> Validation {
    let kind = blob["mimeType"].as_str().unwrap_or_default();
    match (PICTURES.contains(&kind) || SOUNDS.contains(&kind), non_empty_str(blob, "data")) {
        (false, _) => Err(format!("Unsupported MIME type: {kind}")),
        (true, None) => Err("Unable to process input image. Please retry or report.".to_owned()),
        (true, Some(_)) => Ok(()),
    }
}

fn holds(content: &Value, kind: &str) -> bool {
    parts(content).iter().any(|part| !part[kind].is_null())
}

/// Checks that calls follow a user message or results, and that the next turn holds exactly their results.
fn turns(contents: &[Value]) -> Validation {
    let mut before: Option<&Value> = None;
    for content in contents {
        let is_answer = holds(content, "functionResponse");
        match before.filter(|before| holds(before, "functionCall")) {
            Some(calls) => answers(calls, content)?,
            None if is_answer => {
                return Err(
                    "Please ensure that function response turn comes immediately after a function call turn."
                        .to_owned(),
                );
            }
            None => {}
        }
        let after_user = before.is_some_and(|before| before["role"] != "model");
        if holds(content, "functionCall") && !after_user {
            return Err("Please ensure that function call turn comes immediately after a user turn or after a function \
                        response turn."
                .to_owned());
        }
        before = Some(content);
    }
    match before {
        Some(last) if last["role"] == "model" => {
            Err("Please ensure that multiturn requests end with a user turn or a function response turn."
                .to_owned())
        }
        _ => Ok(()),
    }
}

fn answers(calls: &Value, results: &Value) -> Validation {
    let responses: Vec<&Value> = parts(results).iter().map(|part| &part["functionResponse"]).collect();
    let made: Vec<&Value> =
        parts(calls).iter().map(|part| &part["functionCall"]).filter(|c| !c.is_null()).collect();
    if responses.iter().any(|response| response.is_null()) || responses.len() != made.len() {
        return Err("Please ensure that the number of function response parts is equal to the number of function call \
                    parts of the function call turn."
            .to_owned());
    }
    let mut open = OpenCalls::default();
    for call in made {
        open.call(call["id"].as_str(), call["name"].as_str().unwrap_or_default());
    }
    for response in responses {
        let (id, name) = (response["id"].as_str(), response["name"].as_str().unwrap_or_default());
        match open.answer(id, name) {
            None => return Err(format!("functionResponse.id does not match functionCall.id (of {name})")),
            Some(call) if call.id.is_some() && id.is_none() => {
                return Err(format!("functionResponse.id is missing: the call of {name} has one"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Checks signatures. In the current turn of a third-generation model, the first call of each step must carry its signature.
/// Any signature present must be genuine.
fn signatures(contents: &[Value], model: &GeminiModelName) -> Validation {
    let is_question = |content: &Value| content["role"] != "model" && !holds(content, "functionResponse");
    let since = contents.iter().rposition(is_question).unwrap_or_default();
    for (at, content) in contents.iter().enumerate() {
        let mut is_first = true;
        for part in parts(content) {
            let call = Some(&part["functionCall"]).filter(|call| !call.is_null());
            let signature = part["thoughtSignature"].as_str();
            let name = call.and_then(|call| call["name"].as_str()).unwrap_or_default();
            match (signature, call) {
                (Some(signature), _) => genuine(signature, name, call)?,
                (None, Some(_)) if is_first && at > since && model.is_third() => {
                    return Err(missing(name, at));
                }
                _ => {}
            }
            is_first &= call.is_none();
        }
    }
    Ok(())
}

fn missing(name: &str, at: usize) -> String {
    format!(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
         correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
         call `default_api:{name}`, position {}. Please refer to \
         https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
        at + 1
    )
}

/// Checks that a signature belongs to this call, or is a placeholder for a call of another model.
fn genuine(signature: &str, name: &str, call: Option<&Value>) -> Validation {
    if !signature::is_placeholder(signature) {
        return if signature::is_of(signature, name) {
            Ok(())
        } else {
            Err("Corrupted thought signature.".to_owned())
        };
    }
    let is_ours = call.and_then(|call| call["id"].as_str()).is_some_and(signature::is_our_call);
    if is_ours {
        return Err(format!(
            "the call of {name} was signed, and comes back with a placeholder: its signature was lost"
        ));
    }
    Ok(())
}
