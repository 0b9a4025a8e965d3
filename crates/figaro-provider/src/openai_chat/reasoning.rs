//! Reasoning of a model, kept only to be sent back: OpenRouter's `reasoning_details`, with the signatures that some
//! models require, and `reasoning_content`, without which DeepSeek refuses its own calls. The extra fields of calls
//! that only one service knows are kept with it, such as `extra_content` with Gemini's signature. Used by the
//! decoder.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::name::NAME;
use figaro_domain::conversation::PrivatePart;

/// Fields of a message that go back unchanged.
pub(super) const FIELDS: [&str; 2] = [CONTENT, DETAILS];
/// Field of the reasoning of DeepSeek and similar services.
pub(super) const CONTENT: &str = "reasoning_content";
const DETAILS: &str = "reasoning_details";
/// Field of the private part with the extra fields of calls, by call id.
pub(super) const CALLS: &str = "calls";

#[derive(Debug, Default)]
pub(super) struct Reasoning {
    content: String,
    bytes: usize,
    details: Vec<Map<String, Value>>,
    /// Index of the detail that continues for each kind and index.
    places: HashMap<(String, String), usize>,
}

impl Reasoning {
    /// Adds the reasoning in a piece of the answer.
    pub(super) fn absorb(&mut self, delta: &Value) {
        self.content.push_str(delta[CONTENT].as_str().unwrap_or_default());
        // Some services send the same text in several fields.
        let words = [CONTENT, "reasoning", "thinking"].map(|field| delta[field].as_str().map_or(0, str::len));
        let sealed = if delta[DETAILS][0].is_null() { 0 } else { delta[DETAILS].to_string().len() };
        self.bytes += words.into_iter().max().filter(|bytes| *bytes > 0).unwrap_or(sealed);
        for detail in delta[DETAILS].as_array().into_iter().flatten().filter_map(Value::as_object) {
            let place = place(detail);
            let known = place.as_ref().and_then(|place| self.details.get_mut(*self.places.get(place)?));
            match known {
                Some(known) => join(known, detail),
                None => {
                    self.places.extend(place.map(|place| (place, self.details.len())));
                    self.details.push(detail.clone());
                }
            }
        }
    }

    /// Returns the size of the reasoning, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the part to send back to this model, if there was any reasoning. Encrypted content of a call has the
    /// call's id and goes back only with that call, not if the call is dropped. `more` holds the extra fields of
    /// calls, by id.
    pub(super) fn part<'a>(
        &self,
        model: &str,
        left_out: &HashSet<&str>,
        more: impl Iterator<Item = (&'a str, &'a Map<String, Value>)>,
    ) -> Option<PrivatePart> {
        let mut data = json!({"model": model});
        let more = more.filter(|(_, more)| !more.is_empty());
        let more: Map<String, Value> = more.map(|(id, more)| (id.to_owned(), more.clone().into())).collect();
        let has_more = !more.is_empty();
        if has_more {
            data[CALLS] = more.into();
        }
        if !self.content.is_empty() {
            data[CONTENT] = self.content.as_str().into();
        }
        let is_left_out = |detail: &&Map<String, Value>| {
            detail.get("id").and_then(Value::as_str).is_some_and(|id| left_out.contains(id))
        };
        let details: Vec<_> = self.details.iter().filter(|detail| !is_left_out(detail)).collect();
        if !details.is_empty() {
            data[DETAILS] = json!(details);
        }
        let is_some = has_more || FIELDS.iter().any(|field| data.get(*field).is_some());
        is_some.then(|| PrivatePart { provider: NAME.into(), data })
    }
}

/// Returns the kind and index under which text comes in pieces; its signature covers the whole. Encrypted content
/// comes whole.
fn place(detail: &Map<String, Value>) -> Option<(String, String)> {
    let kind = detail.get("type").and_then(Value::as_str)?;
    let index = detail.get("index").filter(|index| index.is_number())?;
    matches!(kind, "reasoning.text" | "reasoning.summary").then(|| (kind.to_owned(), index.to_string()))
}

fn join(known: &mut Map<String, Value>, detail: &Map<String, Value>) {
    for (key, value) in detail.iter().filter(|(_, value)| !value.is_null()) {
        match (known.get_mut(key), value) {
            (Some(Value::String(so_far)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary") =>
            {
                so_far.push_str(more);
            }
            (Some(so_far), value) => *so_far = value.clone(),
            (None, value) => {
                known.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(deltas: &[Value]) -> Option<Value> {
        let mut reasoning = Reasoning::default();
        deltas.iter().for_each(|delta| reasoning.absorb(delta));
        reasoning.part("m", &HashSet::new(), std::iter::empty()).map(|part| part.data)
    }

    #[test]
    fn pieces_of_one_thought_are_one_part() {
        let detail = |detail: Value| json!({"reasoning": "shown", "reasoning_details": [detail]});
        let deltas = [
            detail(json!({"type": "reasoning.text", "text": "Let", "signature": null, "index": 0})),
            detail(
                json!({"type": "reasoning.text", "text": " me", "format": "anthropic-claude-v1", "index": 0}),
            ),
            detail(json!({"type": "reasoning.text", "signature": "Et8B", "index": 0})),
            detail(json!({"type": "reasoning.encrypted", "data": "AA", "id": "a", "index": 0})),
            detail(json!({"type": "reasoning.encrypted", "data": "BB", "id": "b", "index": 0})),
            detail(json!({"type": "reasoning.summary", "summary": "x", "index": 2})),
            detail(json!({"type": "reasoning.summary", "summary": "y", "index": 2})),
            detail(json!({"type": "reasoning.text", "text": "no index"})),
            detail(json!({"type": "reasoning.text", "text": "none either"})),
            detail(json!("odd")),
        ];
        let expected = json!({"model": "m", "reasoning_details": [
            {"type": "reasoning.text", "text": "Let me", "signature": "Et8B", "format": "anthropic-claude-v1", "index": 0},
            {"type": "reasoning.encrypted", "data": "AA", "id": "a", "index": 0},
            {"type": "reasoning.encrypted", "data": "BB", "id": "b", "index": 0},
            {"type": "reasoning.summary", "summary": "xy", "index": 2},
            {"type": "reasoning.text", "text": "no index"},
            {"type": "reasoning.text", "text": "none either"},
        ]});
        assert_eq!(kept(&deltas), Some(expected));
    }

    #[test]
    fn reasoning_in_plain_words_is_kept_where_it_is_wanted_back() {
        let deltas = [
            json!({"reasoning_content": "Let"}),
            json!({"reasoning_content": null}),
            json!({"reasoning_content": " me"}),
        ];
        assert_eq!(kept(&deltas), Some(json!({"model": "m", "reasoning_content": "Let me"})));
        assert_eq!(kept(&[json!({"reasoning": "only shown"}), json!({"content": "a"})]), None);
    }
}
