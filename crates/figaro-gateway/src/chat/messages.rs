//! The messages of a request: what the model is told to be, what was said before, the question, and what its turn has done already.
//! Clients keep them in ways of their own, so their order is mended where it can be meant in one way only.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::content::{Content, shown};
use figaro_domain::tool::Call;
use figaro_prompts::fence;
use figaro_provider::{Image, Item};

/// The most characters of what the model is told to be: it goes with every pass. Those of editors have 60,000 and more.
const MAX_PROMPT_CHARS: usize = 256_000;
/// The most messages of a request.
const MAX_MESSAGES: usize = 2_000;

/// A message of a request.
#[derive(Debug, Clone, Default, Deserialize)]
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
    /// What the model said in place of an answer.
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    /// The one call of a message of older clients.
    #[serde(default)]
    pub(crate) function_call: Option<Function>,
    /// The name of the speaker, or of the function whose result this is.
    #[serde(default)]
    pub(crate) name: Option<String>,
}

/// A call that the model has asked for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ToolCall {
    /// Its id.
    pub(crate) id: String,
    /// What is called.
    #[serde(alias = "custom")]
    pub(crate) function: Function,
}

/// What is called.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Function {
    /// The name of the tool.
    pub(crate) name: String,
    /// Its arguments: JSON as text or as it is, or words.
    #[serde(default, alias = "input")]
    pub(crate) arguments: Value,
}

/// A message, and its place in the body, such as `messages[2]`.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) place: String,
    pub(crate) message: ChatMessage,
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
    /// The pictures that go with it.
    pub(crate) images: Vec<Image>,
    /// What was done since: calls of the caller's tools, and their results.
    pub(crate) done: Vec<Item>,
}

/// Tells the messages apart that the body has in this list.
///
/// # Errors
/// What is wrong with the first that is.
pub(crate) fn talk(list: &str, messages: &[Placed]) -> Result<Talk, ApiError> {
    let in_list = |words: &str| ApiError::invalid(words).about(list);
    if messages.len() > MAX_MESSAGES {
        return Err(in_list(&format!("there are more than {MAX_MESSAGES} messages")));
    }
    let last = messages.iter().rposition(|Placed { message, .. }| message.role == "user");
    let last = last.ok_or_else(|| in_list("there is no message of the role user"))?;
    let (mut prompts, mut talk) = (Vec::new(), Talk::default());
    let (mut results, mut pass) = (Results::of(messages)?, None);
    for (at, Placed { place, message }) in messages.iter().enumerate() {
        let wrong = |words: String| ApiError::invalid(words).about(place);
        let items = if at < last { &mut talk.history } else { &mut talk.done };
        match message.role.as_str() {
            "system" | "developer" => {
                prompts.push(Content::of_model(message.content.as_ref()).map_err(wrong)?.text);
            }
            "user" => {
                pass = None;
                let Content { text, images } = Content::of_person(message.content.as_ref()).map_err(wrong)?;
                if at == last {
                    (talk.question, talk.images) = (text, images);
                } else if !text.is_empty() || !images.is_empty() {
                    items.push(Item::User { text: fence::text(&text), images });
                }
            }
            "assistant" => {
                let open = pass.take().filter(|open: &Pass| open.goes_on(at));
                pass = Some(said(items, open, at, message, &mut results).map_err(wrong)?);
            }
            // It stands behind its call.
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
    if talk.question.trim().is_empty() && talk.images.is_empty() {
        let place = messages.get(last).map_or(list, |message| &message.place);
        return Err(ApiError::invalid("the question is empty").about(place));
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

/// What the model said in one pass, which may be there in several messages: its words, and each of its calls.
struct Pass {
    /// Its place among the items.
    item: usize,
    /// Its newest message.
    last: usize,
    /// The last result of its calls.
    answered: usize,
}

impl Pass {
    /// Whether the message of the assistant at this place is part of it: it stands right behind it, or before a result of it.
    const fn goes_on(&self, at: usize) -> bool {
        at == self.last + 1 || at < self.answered
    }
}

/// Adds a message of the assistant, and the results of its calls, to what was said; in the open pass, if there is one.
fn said(
    items: &mut Vec<Item>,
    open: Option<Pass>,
    at: usize,
    message: &ChatMessage,
    results: &mut Results<'_>,
) -> Result<Pass, String> {
    let mut words = Content::of_model(message.content.as_ref())?.text;
    if words.is_empty() {
        words = message.refusal.clone().unwrap_or_default();
    }
    let mut pass = open.unwrap_or_else(|| {
        items.push(Item::Assistant { text: String::new(), calls: Vec::new(), private: Vec::new() });
        Pass { item: items.len() - 1, last: at, answered: at }
    });
    let mut given = Vec::new();
    if let Some(Item::Assistant { text, calls, .. }) = items.get_mut(pass.item) {
        let gap = if text.is_empty() || words.is_empty() { "" } else { "\n\n" };
        text.push_str(&format!("{gap}{words}"));
        for ToolCall { id, function: Function { name, arguments } } in message.tool_calls.iter().flatten() {
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
                images: content.images,
            });
        }
    }
    items.extend(given);
    Ok(Pass { last: at, ..pass })
}

/// Arguments as the text that providers take.
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

/// What is no JSON is a text of it: so it cannot end the mark that it stands in.
fn output(words: &str) -> String {
    let json = if is_json(words) { words.to_owned() } else { Value::from(words).to_string() };
    fence::result(&json)
}

/// The results that no call has taken yet: each call has one, wherever it stands.
struct Results<'a>(Vec<Given<'a>>);

struct Given<'a> {
    at: usize,
    call: &'a str,
    placed: &'a Placed,
}

impl<'a> Results<'a> {
    fn of(messages: &'a [Placed]) -> Result<Self, ApiError> {
        let tools = messages.iter().enumerate().filter(|(_, placed)| placed.message.role == "tool");
        let given = tools.map(|(at, placed)| {
            let without = || ApiError::invalid("a message of the role tool has to have a tool_call_id");
            let call =
                placed.message.tool_call_id.as_deref().ok_or_else(|| without().about(&placed.place))?;
            Ok(Given { at, call, placed })
        });
        given.collect::<Result<_, _>>().map(Self)
    }

    /// The result of the call with this id, and its place: the next one, as ids may come again, or else one before it.
    fn take(&mut self, id: &str, at: usize) -> Option<(usize, Content)> {
        let is_of = |given: &Given<'_>| given.call == id;
        let next = self.0.iter().position(|given| is_of(given) && given.at > at);
        let found = self.0.remove(next.or_else(|| self.0.iter().position(is_of))?);
        Some((found.at, Content::of_tool(found.placed.message.content.as_ref())))
    }

    /// # Errors
    /// If there is one of no call.
    fn all_taken(&self) -> Result<(), ApiError> {
        match self.0.first() {
            None => Ok(()),
            Some(Given { call, placed, .. }) => {
                let words = format!("no call has the id {} and waits for a result", shown(call));
                Err(ApiError::invalid(words).about(&placed.place))
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
        let placed = placed.map(|(at, message)| Placed { place: format!("messages[{at}]"), message });
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
