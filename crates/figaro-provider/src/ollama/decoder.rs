//! Turns the lines of a chat answer into events, one at a time and without I/O. Servers before 0.13 give calls no
//! ids.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tracing::debug;
use ulid::Ulid;

use super::name::NAME;
use crate::beside::beside;
use crate::http::decode::Decode;
use crate::{Event, Finish, Item, ProviderError, loose};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// State of one answer.
#[derive(Debug, Default)]
pub(super) struct OllamaDecoder {
    /// Ids of earlier calls.
    taken: HashSet<String>,
    /// Calls of this answer, as the server sent them.
    calls: HashSet<Value>,
    /// Extra fields of calls, by call id.
    more: Map<String, Value>,
    thinking: String,
    has_text: bool,
    reasoned: usize,
}

impl Decode for OllamaDecoder {
    fn absorb(&mut self, line: &Value) -> Result<Vec<Event>, ProviderError> {
        let message = &line["message"];
        let thinking = message["thinking"].as_str().unwrap_or_default();
        self.reasoned += thinking.len();
        self.thinking.push_str(thinking);
        let mut events = Vec::new();
        if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
            self.has_text = true;
            events.push(Event::TextDelta(text.to_owned()));
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        events.extend(calls.iter().filter_map(|call| self.call(call)).map(Event::ToolCall));
        if line["done"] == true {
            let finish = self.finish(&line["done_reason"])?;
            events.extend(self.thoughts());
            events.push(Event::Completed { finish, usage: usage(line) });
        }
        Ok(events)
    }

    fn reasoned(&self) -> usize {
        self.reasoned
    }

    /// Ollama stops a model that repeats itself, and then ends the answer without a message.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        if !self.has_text {
            return Err(ProviderError::Cut("the stream ended early".into()));
        }
        let mut events: Vec<Event> = self.thoughts().into_iter().collect();
        events.push(Event::Completed { finish: Finish::Length, usage: None });
        Ok(events)
    }
}

impl OllamaDecoder {
    /// Creates a decoder for the answer to these items.
    pub(super) fn after(items: &[Item]) -> Self {
        let calls = items.iter().filter_map(|item| match item {
            Item::Assistant { calls, .. } => Some(calls),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        let taken = calls.flatten().map(|call| call.id.clone()).collect();
        Self { taken, ..Self::default() }
    }

    /// Returns a call with a unique id. The same call with the same id is returned once. Without ids, two equal calls
    /// count as two.
    fn call(&mut self, sent: &Value) -> Option<Call> {
        let function = &sent["function"];
        let Some(name) = function["name"].as_str().filter(|name| !name.is_empty()) else {
            debug!("a call without a name was ignored");
            return None;
        };
        let given = sent["id"].as_str().filter(|id| !id.is_empty());
        let is_new = self.calls.insert(sent.clone());
        if given.is_some() && !is_new {
            return None;
        }
        let free = given.filter(|id| !self.taken.contains(*id));
        let id = free.map_or_else(|| format!("call_{}", Ulid::new()), str::to_owned);
        self.taken.insert(id.clone());
        let mut more = beside(sent, &["id", "type", "function"]);
        let inner = beside(function, &["index", "name", "arguments"]);
        if !inner.is_empty() {
            more.insert("function".to_owned(), inner.into());
        }
        if !more.is_empty() {
            self.more.insert(id.clone(), more.into());
        }
        Some(Call { id, name: name.to_owned(), arguments: loose::text(&function["arguments"]) })
    }

    /// Returns the thoughts before the calls and the extra fields of the calls. The model wants them back with the
    /// results.
    fn thoughts(&mut self) -> Option<Event> {
        let (thinking, more) = (std::mem::take(&mut self.thinking), std::mem::take(&mut self.more));
        let mut data = Map::new();
        if !thinking.is_empty() {
            data.insert("thinking".to_owned(), thinking.into());
        }
        if !more.is_empty() {
            data.insert("calls".to_owned(), more.into());
        }
        let is_kept = !data.is_empty() && !self.calls.is_empty();
        is_kept.then(|| Event::Private(PrivatePart { provider: NAME.into(), data: data.into() }))
    }

    fn finish(&self, reason: &Value) -> Result<Finish, ProviderError> {
        let is_silent = !self.has_text && self.calls.is_empty();
        match reason.as_str().unwrap_or_default() {
            "length" => Ok(Finish::Length),
            "load" | "unload" if is_silent => {
                Err(ProviderError::Cut("the model was loaded and said nothing".into()))
            }
            _ => Ok(Finish::Stop),
        }
    }
}

/// A count of zero is left out.
fn usage(line: &Value) -> Option<Usage> {
    let (input, output) = (loose::count(&line["prompt_eval_count"]), loose::count(&line["eval_count"]));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage { input: input.unwrap_or_default(), cached: 0, output: output.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(decoder: &mut OllamaDecoder, lines: &[Value]) -> Vec<Result<Event, ProviderError>> {
        let mut all = Vec::new();
        for line in lines {
            match decoder.absorb(line) {
                Ok(more) => all.extend(more.into_iter().map(Ok)),
                Err(error) => all.push(Err(error)),
            }
        }
        all
    }

    fn told(lines: &[Value]) -> Vec<Result<Event, ProviderError>> {
        run(&mut OllamaDecoder::default(), lines)
    }

    fn says(text: &str) -> Value {
        json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false})
    }

    fn calls(calls: Value) -> Value {
        json!({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": false})
    }

    fn done(reason: &str) -> Value {
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason})
    }

    fn text(text: &str) -> Result<Event, ProviderError> {
        Ok(Event::TextDelta(text.into()))
    }

    fn ended(finish: Finish) -> Result<Event, ProviderError> {
        Ok(Event::Completed { finish, usage: None })
    }

    fn called(id: &str, arguments: &str) -> Result<Event, ProviderError> {
        Ok(Event::ToolCall(Call { id: id.into(), name: "f".into(), arguments: arguments.into() }))
    }

    #[test]
    fn every_end_is_known() {
        let silent = || Err(ProviderError::Cut("the model was loaded and said nothing".into()));
        let cases = [
            (vec![done("stop")], vec![ended(Finish::Stop)]),
            (vec![done("length")], vec![ended(Finish::Length)]),
            (vec![done("not_invented_yet")], vec![ended(Finish::Stop)]),
            (vec![json!({"done": true})], vec![ended(Finish::Stop)]),
            (vec![done("load")], vec![silent()]),
            (vec![done("unload")], vec![silent()]),
            (vec![says("a"), done("load")], vec![text("a"), ended(Finish::Stop)]),
        ];
        for (lines, expected) in cases {
            assert_eq!(told(&lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn thoughts_are_not_text_and_go_with_calls() {
        let thinks = |text: &str| json!({"message": {"content": "", "thinking": text}, "done": false});
        assert_eq!(
            told(&[thinks("h"), thinks("m"), says("a"), done("stop")]),
            [text("a"), ended(Finish::Stop)]
        );
        let call = calls(json!([{"id": "a", "function": {"name": "f", "arguments": {}}}]));
        let thoughts =
            Event::Private(PrivatePart { provider: "ollama".into(), data: json!({"thinking": "hm"}) });
        assert_eq!(
            told(&[thinks("h"), thinks("m"), call, done("stop")]),
            [called("a", "{}"), Ok(thoughts), ended(Finish::Stop)]
        );
    }

    #[test]
    fn what_a_call_has_of_its_service_alone_is_kept() {
        let call = calls(
            json!([{"id": "a", "signature": "S", "function": {"index": 0, "name": "f", "arguments": {}, "x": 1}}]),
        );
        let data = json!({"calls": {"a": {"signature": "S", "function": {"x": 1}}}});
        let kept = Event::Private(PrivatePart { provider: "ollama".into(), data });
        assert_eq!(told(&[call, done("stop")]), [called("a", "{}"), Ok(kept), ended(Finish::Stop)]);
    }

    #[test]
    fn calls_come_in_odd_shapes() {
        let call = |arguments: Value| json!([{"id": "a", "function": {"name": "f", "arguments": arguments}}]);
        let cases = [
            (call(json!({"z": 1, "a": "é"})), vec![called("a", "{\"z\":1,\"a\":\"é\"}")]),
            (call(json!("{\"a\":1}")), vec![called("a", "{\"a\":1}")]),
            (call(json!(null)), vec![called("a", "")]),
            (call(json!([1])), vec![called("a", "[1]")]),
            (json!([{"id": "a", "function": {"name": "f"}}]), vec![called("a", "")]),
            (json!([{"id": "a", "function": {"name": ""}}, {}, 3]), vec![]),
            (json!("f"), vec![]),
        ];
        for (sent, expected) in cases {
            assert_eq!(told(&[calls(sent.clone())]), expected, "{sent}");
        }
        // With text, on the last line.
        let mut last = done("stop");
        last["message"] = json!({"content": "a", "tool_calls": call(json!({}))});
        assert_eq!(told(&[last]), [text("a"), called("a", "{}"), ended(Finish::Stop)]);
    }

    #[test]
    fn very_many_calls_are_told_once() {
        let call = |at: i32| {
            calls(json!([{"id": format!("c{at}"), "function": {"name": "f", "arguments": {"at": at}}}]))
        };
        let all = (0..10_000).chain(0..10_000).map(call);
        let told = told(&all.collect::<Vec<_>>());
        assert_eq!(told.len(), 10_000);
        assert_eq!(told[9_999], called("c9999", "{\"at\":9999}"));
    }

    #[test]
    fn ids_are_made_where_they_lack_or_are_not_new() {
        let before = Call { id: "old".into(), name: "g".into(), arguments: "{}".into() };
        let items = [
            Item::Assistant { text: String::new(), calls: vec![before], private: Vec::new() },
            Item::user("a"),
        ];
        let call = |id: Value, arguments: Value| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
        let lines = [
            calls(json!([call(json!("new"), json!({})), call(json!("old"), json!({}))])),
            calls(json!([call(json!("new"), json!({})), call(json!("new"), json!({"a": 1}))])),
            calls(json!([
                call(Value::Null, json!({})),
                call(Value::Null, json!({})),
                call(json!(""), json!({}))
            ])),
        ];
        let told: Vec<Call> = run(&mut OllamaDecoder::after(&items), &lines)
            .into_iter()
            .map(|event| match event {
                Ok(Event::ToolCall(call)) => call,
                other => panic!("{other:?}"),
            })
            .collect();
        let arguments: Vec<&str> = told.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, ["{}", "{}", "{\"a\":1}", "{}", "{}", "{}"]);
        assert_eq!(told[0].id, "new");
        let made: HashSet<&str> = told[1..].iter().map(|call| call.id.as_str()).collect();
        assert_eq!(made.len(), 5, "{made:?}");
        assert!(made.iter().all(|id| id.starts_with("call_") && id.len() == 31), "{made:?}");
    }

    #[test]
    fn an_end_without_a_word_is_one_only_after_text() {
        let mut decoder = OllamaDecoder::default();
        let thinks = json!({"message": {"thinking": "hm"}});
        assert_eq!(run(&mut decoder, &[thinks]), []);
        assert_eq!(decoder.end(), Err(ProviderError::Cut("the stream ended early".into())));
        assert_eq!(run(&mut decoder, &[says("ha"), says("ha")]), [text("ha"), text("ha")]);
        assert_eq!(decoder.end().unwrap(), [Event::Completed { finish: Finish::Length, usage: None }]);
    }

    #[test]
    fn usage_is_told_if_it_is_known() {
        let used = |input, output| Some(Usage { input, cached: 0, output });
        assert_eq!(usage(&json!({"prompt_eval_count": 7, "eval_count": 2})), used(7, 2));
        assert_eq!(usage(&json!({"eval_count": 2})), used(0, 2));
        assert_eq!(usage(&json!({"prompt_eval_count": 7})), used(7, 0));
        assert_eq!(usage(&json!({"eval_duration": 7})), None);
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        let strange = [
            json!({"status": "loading"}),
            json!({"message": {"content": null, "images": null, "tool_calls": null}, "done": false}),
            json!({"message": {"content": ""}}),
            json!({"message": "x", "done": "true"}),
            json!(3),
            json!("x"),
            json!([1]),
        ];
        assert_eq!(told(&strange), []);
    }
}
