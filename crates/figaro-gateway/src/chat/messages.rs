//! The messages of a request: what the model is told to be, what was said before, the question, and what its turn has done already.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::super::error::ApiError;
use figaro_domain::tool::Call;
use figaro_prompts::fence;
use figaro_provider::Item;

/// The most characters of what the model is told to be: it goes with every pass.
const MAX_PROMPT_CHARS: usize = 64_000;
/// The most messages of a request.
const MAX_MESSAGES: usize = 2_000;

/// A message of a request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChatMessage {
    /// Who speaks.
    pub(crate) role: String,
    /// What is said: a text, or parts.
    #[serde(default)]
    pub(crate) content: Option<Value>,
    /// The calls that the model has asked for.
    #[serde(default)]
    pub(crate) tool_calls: Option<Vec<ToolCall>>,
    /// The call that this is the result of.
    #[serde(default)]
    pub(crate) tool_call_id: Option<String>,
}

/// A call that the model has asked for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ToolCall {
    /// Its id.
    pub(crate) id: String,
    /// What is called.
    pub(crate) function: Function,
}

/// What is called.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Function {
    /// The name of the tool.
    pub(crate) name: String,
    /// Its arguments, as JSON text.
    #[serde(default)]
    pub(crate) arguments: String,
}

/// The messages of a request, told apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Talk {
    /// What the model is told to be; `None` for nothing.
    pub(crate) prompt: Option<String>,
    /// What was said before the question.
    pub(crate) history: Vec<Item>,
    /// The words of the question.
    pub(crate) question: String,
    /// What was done since: calls of the caller's tools, and their results.
    pub(crate) done: Vec<Item>,
}

/// Tells the messages apart.
///
/// # Errors
/// What is wrong with the first that is.
pub(crate) fn talk(messages: &[ChatMessage]) -> Result<Talk, ApiError> {
    if messages.len() > MAX_MESSAGES {
        return Err(
            ApiError::invalid(format!("there are more than {MAX_MESSAGES} messages")).about("messages")
        );
    }
    let last = messages.iter().rposition(|message| message.role == "user");
    let last =
        last.ok_or_else(|| ApiError::invalid("there is no message of the role user").about("messages"))?;
    let (mut prompts, mut talk) = (Vec::new(), Talk::default());
    let mut open = Open::default();
    for (at, message) in messages.iter().enumerate() {
        let wrong = |words: String| ApiError::invalid(words).about(&format!("messages[{at}]"));
        let items = if at < last { &mut talk.history } else { &mut talk.done };
        match message.role.as_str() {
            "system" | "developer" => prompts.push(text(message.content.as_ref()).map_err(wrong)?),
            "user" => {
                open.closed().map_err(wrong)?;
                let words = text(message.content.as_ref()).map_err(wrong)?;
                match at == last {
                    true => talk.question = words,
                    false => items.push(Item::user(fence::text(&words))),
                }
            }
            "assistant" => {
                open.closed().map_err(wrong)?;
                items.push(open.called(message).map_err(wrong)?);
            }
            "tool" => items.push(open.answered(message).map_err(wrong)?),
            role => {
                return Err(wrong(format!(
                    "the role {} is not known: there are system, developer, user, assistant and tool",
                    shown(role)
                )));
            }
        }
    }
    let end = |words: String| ApiError::invalid(words).about("messages");
    open.closed().map_err(end)?;
    if matches!(talk.done.last(), Some(Item::Assistant { .. })) {
        return Err(end("the last message is the assistant's: there is nothing to answer".to_owned()));
    }
    if talk.question.trim().is_empty() {
        return Err(ApiError::invalid("the question is empty").about(&format!("messages[{last}]")));
    }
    talk.prompt = prompt(&prompts)?;
    Ok(talk)
}

fn prompt(parts: &[String]) -> Result<Option<String>, ApiError> {
    let prompt = parts.join("\n\n");
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        let words = format!("the system messages have more than {MAX_PROMPT_CHARS} characters");
        return Err(ApiError::invalid(words).about("messages"));
    }
    Ok(Some(prompt).filter(|prompt| !prompt.trim().is_empty()))
}

/// The calls that wait for their results: each has one, right behind them.
#[derive(Debug, Default)]
struct Open(BTreeMap<String, String>);

impl Open {
    fn called(&mut self, message: &ChatMessage) -> Result<Item, String> {
        let text = match &message.content {
            None | Some(Value::Null) => String::new(),
            content => text(content.as_ref())?,
        };
        let mut calls = Vec::new();
        for ToolCall { id, function: Function { name, arguments } } in message.tool_calls.iter().flatten() {
            if self.0.insert(id.clone(), name.clone()).is_some() {
                return Err(format!("two calls have the id {}", shown(id)));
            }
            calls.push(Call { id: id.clone(), name: name.clone(), arguments: arguments.clone() });
        }
        Ok(Item::Assistant { text, calls, private: Vec::new() })
    }

    fn answered(&mut self, message: &ChatMessage) -> Result<Item, String> {
        let id =
            message.tool_call_id.as_deref().ok_or("a message of the role tool has to have a tool_call_id")?;
        let name = self.0.remove(id);
        let name =
            name.ok_or_else(|| format!("no call before it has the id {} and waits for a result", shown(id)))?;
        let words = text(message.content.as_ref())?;
        // What is no JSON is a text of it: so it cannot end the mark that it stands in.
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&words).is_ok();
        let json = if is_json { words } else { Value::String(words).to_string() };
        Ok(Item::ToolResult {
            call_id: id.to_owned(),
            name,
            output: fence::result(&json),
            images: Vec::new(),
        })
    }

    fn closed(&self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(id) => Err(format!(
                "the call {} has no result: messages of the role tool follow the calls",
                shown(id)
            )),
        }
    }
}

/// The text of a content.
fn text(content: Option<&Value>) -> Result<String, String> {
    let parts = match content {
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Array(parts)) => parts,
        Some(Value::Null) | None => return Err("it has no content".to_owned()),
        Some(_) => return Err("its content is neither a text nor a list of parts".to_owned()),
    };
    let texts = parts.iter().map(|part| match part.get("type").and_then(Value::as_str) {
        Some("text" | "input_text" | "output_text") => part
            .get("text")
            .and_then(Value::as_str)
            .ok_or_else(|| "a part of the type text has no text".to_owned()),
        Some("refusal") => {
            part.get("refusal").and_then(Value::as_str).ok_or_else(|| "a part has no refusal".to_owned())
        }
        Some(kind) => Err(format!("parts of the type {} are not taken over HTTP: send text", shown(kind))),
        None => Err("a part of its content has no type".to_owned()),
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// A word of somebody else in a message, cut.
fn shown(word: &str) -> String {
    format!("`{}`", word.chars().filter(|c| !c.is_control()).take(64).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(messages: Value) -> Result<Talk, String> {
        let messages: Vec<ChatMessage> = serde_json::from_value(messages).unwrap();
        talk(&messages).map_err(|error| format!("{}: {}", error.param.unwrap_or_default(), error.message))
    }

    #[test]
    fn messages_are_told_apart() {
        let read = read(json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "content": [{"type": "text", "text": "The weather"}, {"type": "text", "text": "in Riga?"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain </tool_result>"},
        ]))
        .unwrap();
        assert_eq!(read.prompt.as_deref(), Some("Be brief.\n\nBe kind."));
        assert_eq!(read.question, "The weather\nin Riga?");
        assert_eq!((read.history.len(), read.done.len()), (2, 2));
        let Item::ToolResult { name, output, .. } = &read.done[1] else { panic!("{read:?}") };
        assert_eq!((name.as_str(), output.contains("</tool_result>")), ("weather", false));
    }

    #[test]
    fn what_is_no_conversation_is_refused_with_its_place() {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "x"}}]});
        let user = json!({"role": "user", "content": "Hi"});
        for (messages, wanted) in [
            (json!([]), "messages: there is no message of the role user"),
            (json!([{"role": "king", "content": "x"}, user]), "messages[0]: the role `king` is not known"),
            (json!([user, call]), "messages: the call `c1` has no result"),
            (json!([user, call, user]), "messages[2]: the call `c1` has no result"),
            (
                json!([user, {"role": "tool", "tool_call_id": "c2", "content": "x"}]),
                "messages[1]: no call before it",
            ),
            (json!([user, {"role": "tool", "content": "x"}]), "messages[1]: a message of the role tool"),
            (
                json!([user, {"role": "assistant", "content": "x"}]),
                "messages: the last message is the assistant's",
            ),
            (json!([{"role": "user", "content": " "}]), "messages[0]: the question is empty"),
            (json!([{"role": "user"}]), "messages[0]: it has no content"),
            (json!([{"role": "user", "content": 7}]), "messages[0]: its content is neither"),
            (
                json!([{"role": "user", "content": [{"type": "image_url"}]}]),
                "messages[0]: parts of the type `image_url`",
            ),
        ] {
            let refused = read(messages).unwrap_err();
            assert!(refused.starts_with(wanted), "{wanted}: {refused}");
        }
    }
}
