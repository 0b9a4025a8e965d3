//! Calls in progress. Their arguments come in separate events, and not every server repeats them with the complete
//! call. Used by the decoder.

use serde_json::{Value, json};

use crate::loose;

/// Maximum size of all arguments, in bytes; more than an answer may have.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum number of recorded calls; far more than are made.
const MAX_CALLS: usize = 256;

/// Calls of one answer so far, in the order they began.
#[derive(Debug, Default)]
pub(super) struct ResponsesCalls {
    begun: Vec<ResponsesPartialCall>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct ResponsesPartialCall {
    /// Item of the call at its start.
    item: Value,
    arguments: String,
    /// `true` once the call was sent, or its arguments are complete.
    is_whole: bool,
}

impl ResponsesCalls {
    /// Records a call that begins or continues with this event.
    pub(super) fn absorb(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.added"
                if event["item"]["type"] == "function_call" && self.begun.len() < MAX_CALLS =>
            {
                let mut item = event["item"].clone();
                item["output_index"] = event["output_index"].clone();
                let arguments = item["arguments"].as_str().unwrap_or_default().to_owned();
                self.begun.push(ResponsesPartialCall { item, arguments, is_whole: false });
            }
            "response.function_call_arguments.delta" => {
                let delta = event["delta"].as_str().unwrap_or_default();
                self.bytes += delta.len();
                if self.bytes <= MAX_BYTES
                    && let Some(call) = self.of(event)
                {
                    call.arguments.push_str(delta);
                }
            }
            "response.function_call_arguments.done" => {
                if self.of(event).is_none() && event["name"].is_string() && self.begun.len() < MAX_CALLS {
                    // The event for its start is missing.
                    let item = json!({
                        "type": "function_call", "id": event["item_id"], "call_id": event["call_id"],
                        "name": event["name"], "output_index": event["output_index"],
                    });
                    self.begun.push(ResponsesPartialCall { item, ..ResponsesPartialCall::default() });
                }
                let Some(call) = self.of(event) else { return };
                call.is_whole = true;
                if is_missing(&call.item["name"]) {
                    call.item["name"] = event["name"].clone();
                }
                match &event["arguments"] {
                    Value::String(text) if text.is_empty() => {}
                    Value::String(text) => call.arguments.clone_from(text),
                    Value::Null => {}
                    other => call.arguments = other.to_string(),
                }
            }
            _ => {}
        }
    }

    /// Completes a call with fields that only earlier events had.
    pub(super) fn completed(&mut self, item: &Value) -> Value {
        let mut item = item.clone();
        let Some(call) = self.of(&item) else { return item };
        call.is_whole = true;
        let begun = call.item.as_object().into_iter().flatten();
        for (field, value) in begun.filter(|(field, _)| *field != "status" && *field != "arguments") {
            if is_missing(&item[field.as_str()]) {
                item[field] = value.clone();
            }
        }
        if is_missing(&item["arguments"]) {
            item["arguments"] = call.arguments.as_str().into();
        }
        item
    }

    /// Returns the calls with complete arguments, as items. Used when the answer is complete.
    pub(super) fn whole(&self) -> Vec<Value> {
        let whole = self.begun.iter().filter(|call| call.is_whole);
        whole
            .map(|call| {
                let mut item = call.item.clone();
                item["arguments"] = call.arguments.as_str().into();
                item
            })
            .collect()
    }

    /// Returns the calls of an answer reported as complete, including those whose arguments came in deltas only.
    pub(super) fn told_whole(&mut self) -> Vec<Value> {
        for call in &mut self.begun {
            call.is_whole |= loose::value(&call.arguments).is_some();
        }
        self.whole()
    }

    /// Returns the size of the arguments so far, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns `true` if the arguments of some call are incomplete.
    pub(super) fn is_open(&self) -> bool {
        self.begun.iter().any(|call| !call.is_whole)
    }

    /// Returns the call of an event or item: by its own id, the id of the call, or its index.
    fn of(&mut self, value: &Value) -> Option<&mut ResponsesPartialCall> {
        let same = |mine: &Value, others: &[&Value]| !mine.is_null() && mine != "" && others.contains(&mine);
        let ids = [&value["item_id"], &value["id"], &value["call_id"]];
        let is_it =
            |call: &ResponsesPartialCall| same(&call.item["id"], &ids) || same(&call.item["call_id"], &ids);
        let by_place =
            |call: &ResponsesPartialCall| same(&call.item["output_index"], &[&value["output_index"]]);
        let at = self.begun.iter().rposition(is_it).or_else(|| self.begun.iter().rposition(by_place));
        let is_nameless = ids.iter().all(|id| id.is_null()) && value["output_index"].is_null();
        let at = at.or_else(|| self.begun.len().checked_sub(1).filter(|_| is_nameless));
        self.begun.get_mut(at?)
    }
}

fn is_missing(value: &Value) -> bool {
    value.is_null() || value == ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(item: Value, place: u64) -> Value {
        json!({"type": "response.output_item.added", "output_index": place, "item": item})
    }

    fn begins(id: &str, place: u64) -> Value {
        let call_id = format!("call_{id}");
        added(
            json!({"type": "function_call", "id": id, "call_id": call_id, "name": "f", "arguments": ""}),
            place,
        )
    }

    fn delta(id: &str, place: u64, text: &str) -> Value {
        json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": place, "delta": text})
    }

    fn done(id: &str, place: u64, text: Value) -> Value {
        json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": place, "arguments": text})
    }

    fn unbegun() -> Value {
        let kind = "response.function_call_arguments.done";
        json!({"type": kind, "item_id": "a", "call_id": "call_a", "name": "f", "arguments": "{}"})
    }

    #[test]
    fn arguments_are_put_together_from_events_of_their_own() {
        let nameless = json!({"type": "response.function_call_arguments.delta", "delta": "{}"});
        let cases = [
            (
                "as OpenAI does",
                vec![
                    begins("a", 0),
                    delta("a", 0, "{\"x\""),
                    delta("a", 0, ":1}"),
                    done("a", 0, json!("{\"x\":1}")),
                ],
                "call_a{\"x\":1}",
            ),
            ("no deltas", vec![begins("a", 0), done("a", 0, json!("{}"))], "call_a{}"),
            (
                "nothing at the end",
                vec![begins("a", 0), delta("a", 0, "{}"), done("a", 0, Value::Null)],
                "call_a{}",
            ),
            ("an object", vec![begins("a", 0), done("a", 0, json!({"x": 1}))], "call_a{\"x\":1}"),
            (
                "two by turns",
                vec![
                    begins("a", 0),
                    begins("b", 1),
                    delta("b", 1, "{}"),
                    delta("a", 0, "[]"),
                    done("a", 0, json!("")),
                    done("b", 1, json!("")),
                ],
                "call_a[] call_b{}",
            ),
            (
                "other ids, one place",
                vec![begins("a", 0), delta("z", 0, "{}"), done("z", 0, json!(""))],
                "call_a{}",
            ),
            (
                "neither",
                vec![begins("a", 0), nameless, json!({"type": "response.function_call_arguments.done"})],
                "call_a{}",
            ),
            ("no beginning", vec![unbegun()], "call_a{}"),
            ("cut", vec![begins("a", 0), delta("a", 0, "{\"x")], ""),
            ("no call", vec![added(json!({"type": "message"}), 0), delta("a", 0, "{}")], ""),
        ];
        for (name, events, expected) in cases {
            let mut calls = ResponsesCalls::default();
            events.iter().for_each(|event| calls.absorb(event));
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let whole = calls.whole();
            let told: Vec<String> =
                whole.iter().map(|item| text(&item["call_id"]) + &text(&item["arguments"])).collect();
            assert_eq!(told.join(" "), expected, "{name}");
            assert_eq!(calls.is_open(), name == "cut", "{name}");
        }
    }

    #[test]
    fn a_whole_call_gets_what_came_before() {
        let mut calls = ResponsesCalls::default();
        [begins("a", 0), delta("a", 0, "{}")].iter().for_each(|event| calls.absorb(event));
        let told = calls
            .completed(&json!({"type": "function_call", "id": "a", "status": "completed", "arguments": ""}));
        assert_eq!(
            (&told["call_id"], &told["name"], &told["arguments"]),
            (&json!("call_a"), &json!("f"), &json!("{}"))
        );
        let own = json!({"type": "function_call", "id": "z", "call_id": "z", "name": "g", "arguments": "[]"});
        assert_eq!(calls.completed(&own), own);
    }
}
