//! A request to the offline model in a form that is the same for all dialects, with the questions brains and tests ask
//! of it.

use serde_json::Value;

/// One request for an answer, good or bad.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The JSON body as it came, in the words of its dialect.
    pub body: Value,
    asked: RequestContent,
}

/// What a request says, whatever its dialect.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RequestContent {
    pub(super) model: String,
    pub(super) instructions: String,
    /// The conversation as items of the Responses API.
    pub(super) input: Vec<Value>,
    /// The names of the function tools.
    pub(super) tools: Vec<String>,
    /// The service may search the web.
    pub(super) searches: bool,
    /// The answer is to be JSON.
    pub(super) json: bool,
    /// The answer is not streamed.
    pub(super) whole: bool,
}

/// A request for vectors, in the common form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorRequest {
    /// The name of the model.
    pub model: String,
    /// The texts, in order.
    pub texts: Vec<String>,
    /// What they are for, in the words of the dialect; empty where it does not tell.
    pub purpose: String,
}

impl VectorRequest {
    /// The tokens that are counted.
    pub(super) fn tokens(&self) -> u64 {
        let words = self.texts.iter().map(|text| text.split_whitespace().count() + 1).sum::<usize>();
        u64::try_from(words).unwrap_or(u64::MAX)
    }
}

/// A picture that a request holds as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture<'a> {
    /// Such as `image/png`; for dialects that do not say it, what its first bytes tell.
    pub mime_type: &'a str,
    /// Its bytes in base64.
    pub base64: &'a str,
}

/// The message of a chat inside a user item: the text between its tags, and the attributes of the opening tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaggedMessage<'a> {
    /// What stands before it: the time, the notes, what it replies to.
    pub(super) before: &'a str,
    attributes: &'a str,
    /// What was said, trimmed, without the tags.
    pub(super) text: &'a str,
}

impl TaggedMessage<'_> {
    /// The value of an attribute of the opening tag, as it stands there.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.attributes.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
}

impl ModelRequest {
    /// A request and what it says in the common form.
    pub(super) fn new(body: Value, asked: RequestContent) -> Self {
        Self { body, asked }
    }

    /// The name of the model that is asked; empty if the request names none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.asked.model
    }

    /// The instructions: the system messages, in dialects where these are messages.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.asked.instructions
    }

    /// The conversation without the instructions, as items of the Responses API.
    #[must_use]
    pub fn input(&self) -> &[Value] {
        &self.asked.input
    }

    /// The text of the last item of the user.
    #[must_use]
    pub fn user_text(&self) -> String {
        self.last_user().map(|(_, item)| text_of(&item["content"])).unwrap_or_default()
    }

    /// The pictures that go with the last item of the user.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture<'_>> {
        let parts = self.last_user().and_then(|(_, item)| item["content"].as_array());
        parts.into_iter().flatten().filter_map(picture).collect()
    }

    /// The names of the function tools that the request offers; hosted search is none of them.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.asked.tools.iter().map(String::as_str).collect()
    }

    /// Whether the service may search the web itself.
    #[must_use]
    pub fn offers_search(&self) -> bool {
        self.asked.searches
    }

    /// Whether the request asks for an answer in JSON, of a schema or free.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.asked.json
    }

    /// The JSON Schema that the answer is to match, wherever the dialect has it, or the instructions on a line of their own.
    #[must_use]
    pub(crate) fn schema(&self) -> Option<Value> {
        let places = [
            "/text/format/schema",
            "/response_format/json_schema/schema",
            "/generationConfig/responseJsonSchema",
            "/format",
        ];
        let held = places.into_iter().filter_map(|place| self.body.pointer(place));
        let told = self.instructions().lines().rev().filter(|line| line.starts_with('{'));
        let told = told.filter_map(|line| serde_json::from_str(line).ok());
        held.filter(|schema| schema.is_object())
            .cloned()
            .chain(told.filter(|schema: &Value| schema["type"] == "object"))
            .next()
    }

    /// Whether the answer is to come in one piece.
    pub(super) fn is_whole(&self) -> bool {
        self.asked.whole
    }

    /// The request as it would be if the conversation ended before the item at this place.
    pub(super) fn until(&self, end: usize) -> Self {
        let input = self.input().get(..end).unwrap_or_default().to_vec();
        Self { body: Value::Null, asked: RequestContent { input, ..self.asked.clone() } }
    }

    /// The tool calls since the last item of the user, each with its result.
    #[must_use]
    pub fn tool_results(&self) -> Vec<(&str, String)> {
        let since = self.last_user().map_or(0, |(at, _)| at + 1);
        let fresh = self.input().get(since..).unwrap_or_default();
        let outputs = fresh.iter().filter(|i| i["type"] == "function_call_output");
        let named = |output: &Value| {
            let call =
                fresh.iter().find(|i| i["type"] == "function_call" && i["call_id"] == output["call_id"])?;
            Some((call["name"].as_str()?, text_of(&output["output"])))
        };
        outputs.filter_map(named).collect()
    }

    /// The last item of the user, and its place.
    pub(super) fn last_user(&self) -> Option<(usize, &Value)> {
        self.input().iter().enumerate().rev().find(|(_, item)| item["role"] == "user")
    }
}

fn picture(part: &Value) -> Option<Picture<'_>> {
    let (mime_type, base64) = part["image_url"].as_str()?.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Picture { mime_type, base64 })
}

/// The last tagged message of a text; the whole text if there is none.
pub(super) fn tagged(text: &str) -> TaggedMessage<'_> {
    let whole = TaggedMessage { before: "", attributes: "", text: text.trim() };
    last_element(text, "message").unwrap_or(whole)
}

/// The last element of this name that begins a line of a text.
pub(super) fn last_element<'a>(text: &'a str, name: &str) -> Option<TaggedMessage<'a>> {
    let opening = format!("<{name}");
    let begins = |at: &usize| {
        let is_whole = text[*at + opening.len()..].starts_with([' ', '>']);
        is_whole && (*at == 0 || text[..*at].ends_with('\n'))
    };
    let at = text.match_indices(&opening).map(|(at, _)| at).filter(begins).last()?;
    let (attributes, rest) = text[at + opening.len()..].split_once('>')?;
    let inside = rest.split(&format!("</{name}>")).next()?;
    Some(TaggedMessage { before: &text[..at], attributes, text: inside.trim() })
}

/// A text, or the texts of a list of parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_tagged_message_counts() {
        let text = "<message chat_id=\"5\" message_id=\"6\">\nold\n</message>\n\n<message chat_id=\"5\" message_id=\"7\" \
                    from=\"Ann\">\nnew <message x=\"1\">\n</message>\nrest";
        let message = tagged(text);
        assert_eq!(message.text, "new <message x=\"1\">");
        assert_eq!(message.attribute("message_id"), Some("7"));
        assert_eq!(message.attribute("id"), None);
        assert!(message.before.contains("old"), "{}", message.before);
        assert_eq!(tagged(" plain ").text, "plain");
    }

    #[test]
    fn results_and_pictures_belong_to_the_current_turn() {
        let call = |id: &str, name: &str| json!({"type": "function_call", "call_id": id, "name": name});
        let output =
            |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
        let image =
            |data: &str| json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")});
        let input = vec![
            json!({"role": "user", "content": [image("OLD=")]}),
            call("a", "old"),
            output("a", "x"),
            json!({"role": "user", "content": [{"type": "input_text", "text": "two"}, image("NEW=")]}),
            call("b", "new"),
            output("b", "y"),
        ];
        let request = ModelRequest::new(Value::Null, RequestContent { input, ..RequestContent::default() });
        assert_eq!(request.user_text(), "two");
        assert_eq!(request.tool_results(), [("new", "y".to_owned())]);
        assert_eq!(request.pictures(), [Picture { mime_type: "image/png", base64: "NEW=" }]);
    }
}
