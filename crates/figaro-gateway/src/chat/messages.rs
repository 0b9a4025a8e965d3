//! Messages of a request: the prompt, the history, the question, and the items that its turn has done already.
//! Clients order them in different ways, so the order is mended where only one meaning is possible.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::GatewayError;
use super::content::{MessageContent, shown};
use crate::file_part::FilePart;
use figaro_domain::tool::Call;
use figaro_prompts::fence;
use figaro_provider::{Item, MediaPart};

/// Maximum length of a caller's prompt, in characters. It goes with every pass. Prompts of editors have 60,000 and
/// more.
const MAX_PROMPT_CHARS: usize = 256_000;
/// Maximum number of messages in a request.
const MAX_MESSAGES: usize = 2_000;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ChatMessage {
    pub(crate) role: String,
    /// Content: a text, or a list of parts.
    #[serde(default)]
    pub(crate) content: Option<Value>,
    /// Calls that the model made.
    #[serde(default)]
    pub(crate) tool_calls: Option<Vec<ChatToolCall>>,
    /// Call that this message is the result of.
    #[serde(default)]
    pub(crate) tool_call_id: Option<String>,
    /// Refusal of the model in place of an answer.
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    /// Single call in a message of older clients.
    #[serde(default)]
    pub(crate) function_call: Option<FunctionCall>,
    /// Name of the speaker, or of the function whose result this is.
    #[serde(default)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChatToolCall {
    pub(crate) id: String,
    #[serde(alias = "custom")]
    pub(crate) function: FunctionCall,
}

/// Function of a call, with its arguments.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    /// Arguments: JSON as text, JSON as it is, or plain text.
    #[serde(default, alias = "input")]
    pub(crate) arguments: Value,
}

/// Message with its place in the body, such as `messages[2]`.
#[derive(Debug, Clone)]
pub(crate) struct PlacedMessage {
    pub(crate) place: String,
    pub(crate) message: ChatMessage,
}

/// Messages of a request by their part in the conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Talk {
    /// Prompt of the caller; `None` if empty.
    pub(crate) prompt: Option<String>,
    /// Items before the question.
    pub(crate) history: Vec<Item>,
    pub(crate) question: String,
    pub(crate) images: Vec<MediaPart>,
    /// Files of all messages of the person.
    pub(crate) files: Vec<FilePart>,
    /// Items after the question: calls of the caller's tools and their results.
    pub(crate) done: Vec<Item>,
}

/// Splits the messages of this list in the body.
///
/// # Errors
/// The fault of the first invalid message.
pub(crate) fn talk(list: &str, messages: &[PlacedMessage]) -> Result<Talk, GatewayError> {
    let in_list = |words: &str| GatewayError::invalid(words).about(list);
    if messages.len() > MAX_MESSAGES {
        return Err(in_list(&format!("there are more than {MAX_MESSAGES} messages")));
    }
    let last = messages.iter().rposition(|PlacedMessage { message, .. }| message.role == "user");
    let last = last.ok_or_else(|| in_list("there is no message of the role user"))?;
    let (mut prompts, mut talk) = (Vec::new(), Talk::default());
    let (mut results, mut pass) = (PendingResults::of(messages)?, None);
    for (at, PlacedMessage { place, message }) in messages.iter().enumerate() {
        let wrong = |words: String| GatewayError::invalid(words).about(place);
        let items = if at < last { &mut talk.history } else { &mut talk.done };
        match message.role.as_str() {
            "system" | "developer" => {
                prompts.push(MessageContent::of_model(message.content.as_ref()).map_err(wrong)?.text);
            }
            "user" => {
                pass = None;
                let MessageContent { text, images, files } =
                    MessageContent::of_person(message.content.as_ref()).map_err(wrong)?;
                talk.files.extend(files);
                if at == last {
                    (talk.question, talk.images) = (text, images);
                } else if !text.is_empty() || !images.is_empty() {
                    items.push(Item::User { text: fence::text(&text), media: images });
                }
            }
            "assistant" => {
                let open = pass.take().filter(|open: &ModelPass| open.goes_on(at));
                pass = Some(said(items, open, at, message, &mut results).map_err(wrong)?);
            }
            // A result is read together with its call.
            "tool" => {}
            role => {
                return Err(wrong(format!(
                    "the role {} is not known: there are system, developer, user, assistant and tool",
                    shown(role)
                )));
            }
        }
    }
    results.all_taken()?;
    if matches!(talk.done.last(), Some(Item::Assistant { .. })) {
        return Err(in_list("the last message is the assistant's: there is nothing to answer"));
    }
    if talk.question.trim().is_empty() && talk.images.is_empty() && talk.files.is_empty() {
        let place = messages.get(last).map_or(list, |message| &message.place);
        return Err(GatewayError::invalid("the question is empty").about(place));
    }
    talk.prompt = prompt(&prompts).map_err(|words| in_list(&words))?;
    Ok(talk)
}

fn prompt(parts: &[String]) -> Result<Option<String>, String> {
    let prompt = parts.join("\n\n");
    match prompt.chars().count() > MAX_PROMPT_CHARS {
        true => Err(format!("the system messages have more than {MAX_PROMPT_CHARS} characters")),
        false => Ok(Some(prompt).filter(|prompt| !prompt.trim().is_empty())),
    }
}

/// Text and calls of the model in one pass. They may be spread over several messages.
struct ModelPass {
    /// Index among the items.
    item: usize,
    /// Index of its newest message.
    last: usize,
    /// Index of the last result of its calls.
    answered: usize,
}

impl ModelPass {
    /// Returns `true` if the assistant's message at this index belongs to the pass: it comes right after it, or
    /// before one of its results.
    const fn goes_on(&self, at: usize) -> bool {
        at == self.last + 1 || at < self.answered
    }
}

/// Adds a message of the assistant and the results of its calls to the items, or to the open pass if it belongs
/// there.
fn said(
    items: &mut Vec<Item>,
    open: Option<ModelPass>,
    at: usize,
    message: &ChatMessage,
    results: &mut PendingResults<'_>,
) -> Result<ModelPass, String> {
    let mut words = MessageContent::of_model(message.content.as_ref())?.text;
    if words.is_empty() {
        words = message.refusal.clone().unwrap_or_default();
    }
    let mut pass = open.unwrap_or_else(|| {
        items.push(Item::Assistant { text: String::new(), calls: Vec::new(), private: Vec::new() });
        ModelPass { item: items.len() - 1, last: at, answered: at }
    });
    let mut given = Vec::new();
    if let Some(Item::Assistant { text, calls, .. }) = items.get_mut(pass.item) {
        let gap = if text.is_empty() || words.is_empty() { "" } else { "\n\n" };
        text.push_str(&format!("{gap}{words}"));
        for ChatToolCall { id, function: FunctionCall { name, arguments } } in
            message.tool_calls.iter().flatten()
        {
            if calls.iter().any(|call| call.id == *id) {
                return Err(format!("two calls have the id {}", shown(id)));
            }
            let (result, content) = results.take(id, at).ok_or_else(|| {
                format!("the call {} has no result: messages of the role tool follow the calls", shown(id))
            })?;
            pass.answered = pass.answered.max(result);
            calls.push(Call { id: id.clone(), name: name.clone(), arguments: written(arguments) });
            given.push(Item::ToolResult {
                call_id: id.clone(),
                name: name.clone(),
                output: output(&content.text),
                media: content.images,
            });
        }
    }
    items.extend(given);
    Ok(ModelPass { last: at, ..pass })
}

/// Returns arguments as the text that providers take.
fn written(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) if !is_json(text) => json!({"input": text}).to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Wraps the output of a tool. Text that is not JSON is encoded as a JSON string, so that it cannot close the fence
/// around it.
fn output(words: &str) -> String {
    let json = if is_json(words) { words.to_owned() } else { Value::from(words).to_string() };
    fence::result(&json)
}

/// Results that no call has taken yet. Each call has one, wherever it stands.
struct PendingResults<'a>(Vec<GivenResult<'a>>);

struct GivenResult<'a> {
    at: usize,
    call: &'a str,
    placed: &'a PlacedMessage,
}

impl<'a> PendingResults<'a> {
    fn of(messages: &'a [PlacedMessage]) -> Result<Self, GatewayError> {
        let tools = messages.iter().enumerate().filter(|(_, placed)| placed.message.role == "tool");
        let given = tools.map(|(at, placed)| {
            let without = || GatewayError::invalid("a message of the role tool has to have a tool_call_id");
            let call =
                placed.message.tool_call_id.as_deref().ok_or_else(|| without().about(&placed.place))?;
            Ok(GivenResult { at, call, placed })
        });
        given.collect::<Result<_, _>>().map(Self)
    }

    /// Takes the result of the call with this id, and its index. Ids may repeat, so the next result is preferred to
    /// an earlier one.
    fn take(&mut self, id: &str, at: usize) -> Option<(usize, MessageContent)> {
        let is_of = |given: &GivenResult<'_>| given.call == id;
        let next = self.0.iter().position(|given| is_of(given) && given.at > at);
        let found = self.0.remove(next.or_else(|| self.0.iter().position(is_of))?);
        Some((found.at, MessageContent::of_tool(found.placed.message.content.as_ref())))
    }

    /// Checks that no result is left over.
    ///
    /// # Errors
    /// If a result belongs to no call.
    fn all_taken(&self) -> Result<(), GatewayError> {
        match self.0.first() {
            None => Ok(()),
            Some(GivenResult { call, placed, .. }) => {
                let words = format!("no call has the id {} and waits for a result", shown(call));
                Err(GatewayError::invalid(words).about(&placed.place))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(messages: Value) -> Result<Talk, String> {
        let messages: Vec<ChatMessage> = serde_json::from_value(messages).unwrap();
        let placed = messages.into_iter().enumerate();
        let placed = placed.map(|(at, message)| PlacedMessage { place: format!("messages[{at}]"), message });
        talk("messages", &placed.collect::<Vec<_>>())
            .map_err(|error| format!("{}: {}", error.param.unwrap_or_default(), error.message))
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
            (json!([user, call]), "messages[1]: the call `c1` has no result"),
            (json!([user, call, user]), "messages[1]: the call `c1` has no result"),
            (
                json!([user, {"role": "tool", "tool_call_id": "c2", "content": "x"}]),
                "messages[1]: no call has the id",
            ),
            (json!([user, {"role": "tool", "content": "x"}]), "messages[1]: a message of the role tool"),
            (
                json!([user, {"role": "assistant", "content": "x"}]),
                "messages: the last message is the assistant's",
            ),
            (json!([{"role": "user", "content": " "}]), "messages[0]: the question is empty"),
            (json!([{"role": "user"}]), "messages[0]: the question is empty"),
            (json!([{"role": "user", "content": 7}]), "messages[0]: its content is neither"),
            (
                json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}]}]),
                "messages[0]: a picture is",
            ),
        ] {
            let refused = read(messages).unwrap_err();
            assert!(refused.starts_with(wanted), "{wanted}: {refused}");
        }
    }

    /// The words of each item, with the ids of its calls; a result by the id of its call.
    fn outline(items: &[Item]) -> Vec<String> {
        let one = |item: &Item| match item {
            Item::User { text, .. } => format!("user {text}"),
            Item::Assistant { text, calls, .. } => {
                let calls = calls.iter().map(|call| format!("{}{}", call.id, call.arguments));
                format!("{text} {}", calls.collect::<Vec<_>>().join(" ")).trim().to_owned()
            }
            Item::ToolResult { call_id, output, .. } => format!("{call_id}={output}"),
        };
        items.iter().map(one).collect()
    }

    /// In each of these orders the same was said and done.
    #[test]
    fn results_stand_behind_the_pass_that_has_asked_for_them() {
        let user = |words: &str| json!({"role": "user", "content": words});
        let call = |id: &str| {
            let function = json!({"name": "count", "arguments": {"of": "loaves"}});
            json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]})
        };
        let says = |words: &str| json!({"role": "assistant", "content": words});
        let gives = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "two"});
        let (a, b, look) = (call("a"), call("b"), says("Let me look."));
        let (of_a, of_b) = (gives("a"), gives("b"));
        let pass = r#"Let me look. a{"of":"loaves"} b{"of":"loaves"}"#;
        let done = [pass, r#"a="two""#, r#"b="two""#];
        for order in [
            [&look, &a, &b, &of_a, &of_b],
            [&a, &look, &b, &of_b, &of_a],
            [&a, &b, &of_b, &look, &of_a],
            [&of_a, &of_b, &look, &a, &b],
        ] {
            let messages: Vec<Value> =
                std::iter::once(user("How many?")).chain(order.into_iter().cloned()).collect();
            let talk = read(json!(messages)).unwrap();
            assert_eq!(outline(&talk.done), done, "{messages:?}");
        }
        // A question came between: it is answered with what is there.
        let talk = read(json!([user("How many?"), a, user("And rolls?"), of_a])).unwrap();
        assert_eq!((outline(&talk.history).len(), talk.question.as_str()), (3, "And rolls?"));
        assert_eq!(talk.done, Vec::new());
        // Ids that come again are those of other calls.
        let talk = read(json!([user("1"), a, of_a, says("Two."), user("2"), a, of_a, user("3")])).unwrap();
        let asked = r#"a{"of":"loaves"}"#;
        let wanted = ["user 1", asked, r#"a="two""#, "Two.", "user 2", asked, r#"a="two""#];
        assert_eq!(outline(&talk.history), wanted);
    }

    #[test]
    fn arguments_and_contents_are_taken_in_every_form_that_clients_keep() {
        for (arguments, wanted) in [
            (json!("{\"of\": 1}"), "{\"of\": 1}"),
            (json!({"of": 1}), "{\"of\":1}"),
            (json!(null), "{}"),
            (json!(""), "{}"),
        ] {
            assert_eq!(written(&arguments), wanted);
        }
        let call = json!({"id": "a", "type": "function", "function": {"name": "x", "arguments": null}});
        let talk = read(json!([
            {"role": "system", "content": null},
            {"role": "user", "content": null, "name": "ann"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi."}]},
            {"role": "user", "content": ["One", {"type": "text", "text": "two"}, {"type": "input_audio", "input_audio": {}}]},
            {"role": "assistant", "content": null, "tool_calls": [call], "refusal": null, "audio": null},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "count", "of": 7}]},
        ]))
        .unwrap();
        assert_eq!(outline(&talk.history), ["Hi."]);
        assert!(
            talk.question.starts_with("One\ntwo\n[something of the kind `input_audio`"),
            "{}",
            talk.question
        );
        assert_eq!(outline(&talk.done), ["a{}", r#"a={"type":"count","of":7}"#]);
        assert_eq!(talk.prompt, None);
    }
}
