//! Request to the offline model, in a form common to all dialects, with accessors for brains and tests.

use serde_json::Value;

/// Request for an answer, valid or not.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// JSON body as received, in its dialect.
    pub body: Value,
    asked: RequestContent,
}

/// Content of a request, independent of its dialect.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RequestContent {
    pub(super) model: String,
    pub(super) instructions: String,
    /// Conversation as items of the Responses API.
    pub(super) input: Vec<Value>,
    /// Names of the function tools.
    pub(super) tools: Vec<String>,
    /// `true` if the service may search the web.
    pub(super) searches: bool,
    /// `true` if the answer must be JSON.
    pub(super) json: bool,
    /// `true` if the answer is not streamed.
    pub(super) whole: bool,
}

/// Request for vectors, independent of its dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorRequest {
    /// Name of the model, as in the request.
    pub model: String,
    /// Texts to convert into vectors, in order.
    pub texts: Vec<String>,
    /// Purpose of the vectors, in the terms of the dialect; empty if not given.
    pub purpose: String,
}

impl VectorRequest {
    /// Returns the number of tokens to report: one per word, and one per text.
    pub(super) fn tokens(&self) -> u64 {
        let words = self.texts.iter().map(|text| text.split_whitespace().count() + 1).sum::<usize>();
        u64::try_from(words).unwrap_or(u64::MAX)
    }
}

/// Picture embedded in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture<'a> {
    /// MIME type, such as `image/png`. Read from the first bytes if the dialect does not give it.
    pub mime_type: &'a str,
    /// Content of the picture, in base64.
    pub base64: &'a str,
}

/// Chat message inside a user item: the text between its tags, and the attributes of the opening tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaggedMessage<'a> {
    /// Text before the message: time, notes, replied message.
    pub(super) before: &'a str,
    attributes: &'a str,
    /// Text of the message, trimmed, without the tags.
    pub(super) text: &'a str,
}

impl TaggedMessage<'_> {
    /// Returns the raw value of an attribute of the opening tag.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.attributes.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
}

impl ModelRequest {
    /// Creates a request from its body and its content.
    pub(super) fn new(body: Value, asked: RequestContent) -> Self {
        Self { body, asked }
    }

    /// Returns the name of the model; empty if the request names none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.asked.model
    }

    /// Returns the instructions; the system messages in dialects that send them as messages.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.asked.instructions
    }

    /// Returns the conversation without the instructions, as items of the Responses API.
    #[must_use]
    pub fn input(&self) -> &[Value] {
        &self.asked.input
    }

    /// Returns the text of the last user item.
    #[must_use]
    pub fn user_text(&self) -> String {
        self.last_user().map(|(_, item)| text_of(&item["content"])).unwrap_or_default()
    }

    /// Returns the pictures in the last user item.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture<'_>> {
        let parts = self.last_user().and_then(|(_, item)| item["content"].as_array());
        parts.into_iter().flatten().filter_map(picture).collect()
    }

    /// Returns the names of the offered function tools, without hosted search.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.asked.tools.iter().map(String::as_str).collect()
    }

    /// Returns `true` if the service itself may search the web.
    #[must_use]
    pub fn offers_search(&self) -> bool {
        self.asked.searches
    }

    /// Returns `true` if the request asks for JSON, with or without a schema.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.asked.json
    }

    /// Returns the JSON Schema of the answer, from the dialect's field or from a line of the instructions.
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

    /// Returns `true` if the answer is not streamed.
    pub(super) fn is_whole(&self) -> bool {
        self.asked.whole
    }

    /// Returns the request with the conversation cut before the item at `end`.
    pub(super) fn until(&self, end: usize) -> Self {
        let input = self.input().get(..end).unwrap_or_default().to_vec();
        Self { body: Value::Null, asked: RequestContent { input, ..self.asked.clone() } }
    }

    /// Returns the results since the last user item, each with the name of its tool.
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

    /// Returns the last user item and its position.
    pub(super) fn last_user(&self) -> Option<(usize, &Value)> {
        self.input().iter().enumerate().rev().find(|(_, item)| item["role"] == "user")
    }
}

fn picture(part: &Value) -> Option<Picture<'_>> {
    let (mime_type, base64) = part["image_url"].as_str()?.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Picture { mime_type, base64 })
}

/// Returns the last tagged message of a text; the whole text if there is none.
pub(super) fn tagged(text: &str) -> TaggedMessage<'_> {
    let whole = TaggedMessage { before: "", attributes: "", text: text.trim() };
    last_element(text, "message").unwrap_or(whole)
}

/// Returns the last element of this name that starts at the beginning of a line.
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

/// Returns a text, or the texts of a list of parts, one per line.
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
