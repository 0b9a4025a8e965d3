//! A request to the Responses API, with the questions brains and tests ask of it.

use serde_json::Value;

/// One request as it was received.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The JSON body.
    pub body: Value,
}

/// The message of a chat inside a user item: the text between its tags, and the attributes of the opening tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaggedMessage<'a> {
    attributes: &'a str,
    /// What was said.
    pub(super) text: &'a str,
}

impl TaggedMessage<'_> {
    /// An attribute of the opening tag.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.attributes.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
}

impl ModelRequest {
    /// The instructions.
    #[must_use]
    pub fn instructions(&self) -> &str {
        self.body["instructions"].as_str().unwrap_or_default()
    }

    /// The items of the input.
    #[must_use]
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The text of the last item of the user.
    #[must_use]
    pub fn user_text(&self) -> String {
        self.last_user().map(|(_, item)| text_of(&item["content"])).unwrap_or_default()
    }

    /// The names of the tools offered.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.body["tools"].as_array().into_iter().flatten().filter_map(|t| t["name"].as_str()).collect()
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

    fn last_user(&self) -> Option<(usize, &Value)> {
        self.input().iter().enumerate().rev().find(|(_, item)| item["role"] == "user")
    }
}

/// The last tagged message of a text; the whole text if there is none.
pub(super) fn tagged(text: &str) -> TaggedMessage<'_> {
    let opening = text.match_indices("<message ").filter(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
    let found = opening.last().and_then(|(at, tag)| {
        let (attributes, rest) = text[at + tag.len() - 1..].split_once('>')?;
        Some(TaggedMessage { attributes, text: rest.split("</message>").next()?.trim() })
    });
    found.unwrap_or(TaggedMessage { attributes: "", text: text.trim() })
}

fn text_of(content: &Value) -> String {
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
        assert_eq!(tagged(" plain ").text, "plain");
    }

    #[test]
    fn results_belong_to_the_current_turn() {
        let call = |id: &str, name: &str| json!({"type": "function_call", "call_id": id, "name": name});
        let output =
            |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
        let body = json!({"input": [
            {"role": "user", "content": "one"}, call("a", "old"), output("a", "x"),
            {"role": "user", "content": [{"type": "input_text", "text": "two"}]}, call("b", "new"), output("b", "y"),
        ]});
        let request = ModelRequest { body };
        assert_eq!(request.user_text(), "two");
        assert_eq!(request.tool_results(), [("new", "y".to_owned())]);
    }
}
