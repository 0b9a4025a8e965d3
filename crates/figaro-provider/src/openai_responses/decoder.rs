//! Turns the events of the Responses API into ours, one at a time and without I/O. Servers that only resemble OpenAI
//! omit deltas, ids or whole events. Missing parts are added later, and nothing is sent twice.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tracing::debug;

use super::calls::ResponsesCalls;
use super::name::NAME;
use crate::beside::beside;
use crate::http::decode::Decode;
use crate::http::error;
use crate::loose::text;
use crate::openai_client::cited;
use crate::usage::usage;
use crate::{Event, Finish, HostedSearch, ProviderError};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::source::Source;
use figaro_domain::tool::Call;

/// Type of the private part with the extra fields of calls. It is no item of the API.
pub(super) const CALLS: &str = "figaro.calls";
/// Type of the item of a hosted search.
const SEARCH: &str = "web_search_call";

/// State of one answer.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    /// All text, in the order it was sent.
    text: String,
    /// Number of its bytes that belong to complete messages.
    settled: usize,
    /// Ids of items already sent.
    told: HashSet<String>,
    begun: ResponsesCalls,
    /// Extra fields of calls, by call id.
    more: Map<String, Value>,
    /// Size of reasoning that came as text or in events about it, in bytes.
    reasoned: usize,
    /// Names and arguments of calls already sent.
    calls: HashSet<(String, String)>,
    /// Addresses of pages already sent.
    cited: HashSet<String>,
}

impl Decode for ResponsesDecoder {
    /// Events of unknown kinds are ignored.
    fn absorb(&mut self, event: &Value) -> Result<Vec<Event>, ProviderError> {
        // A server that was asked for events may send the complete answer as one object.
        if event["object"] == "response" && event["type"].is_null() {
            return self.whole("response.completed", event);
        }
        self.begun.absorb(event);
        let kind = event["type"].as_str().unwrap_or_default();
        if kind.starts_with("response.reasoning") || event["item"]["type"] == "reasoning" {
            self.reasoned += event["delta"].as_str().map_or(1, str::len);
        }
        let events = match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.more(event["delta"].as_str().unwrap_or_default())
            }
            "response.output_text.done" | "response.refusal.done" => self.missed(event),
            "response.output_item.added" => self.begun(&event["item"]),
            "response.output_text.annotation.added" => self.page(&event["annotation"]),
            "response.output_item.done" if event["item"]["type"] == "message" => {
                let mut events = Vec::from_iter(self.message(&event["item"]));
                events.extend(self.pages(&event["item"]));
                return Ok(events);
            }
            "response.output_item.done" if event["item"]["type"] == SEARCH => {
                let begun = self.begun(&event["item"]);
                return Ok(begun.into_iter().chain([found(&event["item"])]).collect());
            }
            "response.output_item.done" => self.item(&event["item"]),
            "response.completed" | "response.done" | "response.incomplete" | "response.failed" => {
                return self.whole(kind, &event["response"]);
            }
            _ => None,
        };
        Ok(events.into_iter().collect())
    }

    /// If the connection closes in order without an end event, the answer is complete unless a call is not.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        let is_answer =
            !self.text.trim().is_empty() || !self.calls.is_empty() || !self.begun.whole().is_empty();
        match is_answer && !self.begun.is_open() {
            true => self.whole("response.completed", &Value::Null),
            false => Err(ProviderError::Cut("the stream ended early".into())),
        }
    }

    fn reasoned(&self) -> usize {
        self.reasoned
    }

    fn begun(&self) -> usize {
        self.begun.bytes()
    }
}

impl ResponsesDecoder {
    fn more(&mut self, text: &str) -> Option<Event> {
        self.text.push_str(text);
        (!text.is_empty()).then(|| Event::TextDelta(text.to_owned()))
    }

    /// Reports a hosted search at its start. Other items are reported when they are complete.
    fn begun(&mut self, item: &Value) -> Option<Event> {
        (item["type"] == SEARCH && self.is_new(item)).then_some(Event::Searched)
    }

    fn item(&mut self, item: &Value) -> Option<Event> {
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => self.call(item),
            "reasoning" => self.reasoning(item),
            _ => self.begun(item),
        }
    }

    /// Returns the complete text of a part that had no deltas.
    fn missed(&mut self, event: &Value) -> Option<Event> {
        let whole = event["text"].as_str().or_else(|| event["refusal"].as_str()).unwrap_or_default();
        let is_told = !self.text[self.settled..].is_empty();
        if is_told { None } else { self.more(whole) }
    }

    /// Returns the text of a complete message that its deltas lacked.
    fn message(&mut self, item: &Value) -> Option<Event> {
        if !self.is_new(item) {
            return None;
        }
        let whole = message_text(item);
        let told = &self.text[self.settled..];
        if told.len() > whole.len() && told.starts_with(&whole) {
            self.settled += whole.len();
            return None;
        }
        let rest = whole.strip_prefix(told).unwrap_or_default().to_owned();
        let event = self.more(&rest);
        self.settled = self.text.len();
        event
    }

    /// Returns a cited page. It comes with the citation, again with the message, and once more at the end.
    fn page(&mut self, annotation: &Value) -> Option<Event> {
        let page = cited(annotation).filter(|page| self.cited.insert(page.url.clone()))?;
        Some(Event::Source(page))
    }

    fn pages(&mut self, message: &Value) -> Vec<Event> {
        let parts = message["content"].as_array().into_iter().flatten();
        let annotations = parts.filter_map(|part| part["annotations"].as_array()).flatten();
        annotations.filter_map(|annotation| self.page(annotation)).collect()
    }

    /// Returns a complete call. A call cut off with the answer is dropped.
    fn call(&mut self, item: &Value) -> Option<Event> {
        if item["status"] == "incomplete" {
            return None;
        }
        let item = &self.begun.completed(item);
        let Some(id) = item["call_id"].as_str().or_else(|| item["id"].as_str()) else {
            debug!("a call without an id was ignored");
            return None;
        };
        if !self.is_new(item) {
            return None;
        }
        let call = Call { id: id.to_owned(), name: text(&item["name"]), arguments: text(&item["arguments"]) };
        self.calls.insert((call.name.clone(), call.arguments.clone()));
        let known = ["type", "id", "call_id", "name", "arguments", "status", "output_index"];
        let more = beside(item, &known);
        if !more.is_empty() {
            self.more.insert(call.id.clone(), more.into());
        }
        Some(Event::ToolCall(call))
    }

    /// Keeps reasoning as it came. Without its encrypted or plain content nothing could be sent back.
    fn reasoning(&mut self, item: &Value) -> Option<Event> {
        let sealed = item["encrypted_content"].as_str().is_some_and(|content| !content.is_empty());
        let open = item["content"].as_array().is_some_and(|parts| !parts.is_empty());
        let kept = (sealed || open) && self.is_new(item);
        kept.then(|| Event::Private(PrivatePart { provider: NAME.into(), data: item.clone() }))
    }

    /// Handles the last event. It repeats the whole answer, and only missing parts are sent.
    fn whole(&mut self, kind: &str, response: &Value) -> Result<Vec<Event>, ProviderError> {
        let finish = finish(kind, response)?;
        let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
        let whole: String =
            output.iter().filter(|item| item["type"] == "message").map(message_text).collect();
        let rest = whole.strip_prefix(&self.text).unwrap_or_default().to_owned();
        let mut events: Vec<Event> = self.more(&rest).into_iter().collect();
        // Some servers give a call another id here.
        let told = std::mem::take(&mut self.calls);
        let is_told = |item: &Value| told.contains(&(text(&item["name"]), text(&item["arguments"])));
        for item in output {
            match item["type"].as_str().unwrap_or_default() {
                "message" => events.extend(self.pages(item)),
                "function_call" if finish == Finish::Stop && !is_told(item) => events.extend(self.call(item)),
                "reasoning" => events.extend(self.reasoning(item)),
                _ => {}
            }
        }
        if finish == Finish::Stop {
            let listed: HashSet<_> = told.union(&self.calls).cloned().collect();
            let name = |item: &Value| (text(&item["name"]), text(&item["arguments"]));
            let missed = self.begun.told_whole().into_iter().filter(|item| !listed.contains(&name(item)));
            events.extend(missed.collect::<Vec<_>>().iter().filter_map(|item| self.call(item)));
        }
        let more = std::mem::take(&mut self.more);
        if !more.is_empty() {
            let data = json!({"type": CALLS, "calls": more});
            events.push(Event::Private(PrivatePart { provider: NAME.into(), data }));
        }
        events.push(Event::Completed { finish, usage: usage(&response["usage"]) });
        Ok(events)
    }

    /// Records an item by its id, or by its whole content if it has none. Returns `true` if it is new.
    fn is_new(&mut self, item: &Value) -> bool {
        let id = item["call_id"].as_str().or_else(|| item["id"].as_str());
        self.told.insert(id.map_or_else(|| item.to_string(), str::to_owned))
    }
}

/// Returns the queries and results of a hosted search. Older answers have one query, and pages only on request.
fn found(item: &Value) -> Event {
    let action = &item["action"];
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut queries = all(&action["queries"]);
    if queries.is_empty() {
        queries.extend([&action["query"], &action["pattern"]].into_iter().cloned());
    }
    let queries = queries.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let pages = all(&action["sources"]);
    let pages = pages.iter().map(|page| &page["url"]).chain([&action["url"]]);
    let source = |url: &str| Source { title: url.to_owned(), url: url.to_owned() };
    Event::Found(HostedSearch { queries, sources: pages.filter_map(Value::as_str).map(source).collect() })
}

/// Returns the reason of the end by the status: some servers send every end as `response.completed`.
fn finish(kind: &str, response: &Value) -> Result<Finish, ProviderError> {
    let status = response["status"].as_str().unwrap_or_default();
    match (kind, status) {
        ("response.failed", _) | (_, "failed") => Err(error::from_stream(&response["error"])),
        (_, "cancelled") => Err(ProviderError::Cut("the provider cancelled it".into())),
        ("response.incomplete", _) | (_, "incomplete") => {
            match response["incomplete_details"]["reason"].as_str() {
                Some("content_filter") => Ok(Finish::Filtered("content_filter".into())),
                _ => Ok(Finish::Length),
            }
        }
        _ => Ok(Finish::Stop),
    }
}

fn message_text(item: &Value) -> String {
    let content = &item["content"];
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str()));
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_domain::source::Source;
    use figaro_domain::usage::Usage;

    fn run(events: &[Value]) -> Vec<Result<Event, ProviderError>> {
        let mut decoder = ResponsesDecoder::default();
        let mut all = Vec::new();
        for event in events {
            match decoder.absorb(event) {
                Ok(more) => all.extend(more.into_iter().map(Ok)),
                Err(error) => all.push(Err(error)),
            }
        }
        all
    }

    fn delta(text: &str) -> Value {
        json!({"type": "response.output_text.delta", "delta": text})
    }

    fn message(id: &str, text: &str) -> Value {
        json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]})
    }

    fn call(id: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": arguments})
    }

    fn done(item: &Value) -> Value {
        json!({"type": "response.output_item.done", "item": item})
    }

    fn completed(output: &[Value]) -> Value {
        json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
    }

    fn called(id: &str, arguments: &str) -> Result<Event, ProviderError> {
        Ok(Event::ToolCall(Call { id: id.into(), name: "f".into(), arguments: arguments.into() }))
    }

    fn stop() -> Result<Event, ProviderError> {
        Ok(Event::Completed { finish: Finish::Stop, usage: None })
    }

    /// What was told, in short: `Hel|lo|a{}|.` is two deltas, a call with the id `a`, and the end.
    fn told(events: &[Value]) -> String {
        let short = |event| match event {
            Ok(Event::TextDelta(text)) => text,
            Ok(Event::ToolCall(call)) => format!("{}{}", call.id, call.arguments),
            Ok(Event::Completed { .. }) => ".".to_owned(),
            other => format!("{other:?}"),
        };
        run(events).into_iter().map(short).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn text_is_neither_lost_nor_said_twice() {
        let (one, two) = (message("m1", "Hello"), message("m2", " you"));
        let nameless = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
        let end = || completed(&[one.clone(), two.clone()]);
        let cases = [
            (
                "as OpenAI does",
                vec![delta("Hel"), delta("lo"), done(&one), delta(" you"), done(&two), end()],
                "Hel|lo| you|.",
            ),
            ("no item is done", vec![delta("Hello"), delta(" you"), end()], "Hello| you|."),
            ("no deltas", vec![done(&one), done(&two), end()], "Hello| you|."),
            ("only the end", vec![end()], "Hello you|."),
            ("the last delta is missing", vec![delta("Hel"), done(&one), done(&two), end()], "Hel|lo| you|."),
            ("the second message is missing", vec![delta("Hello"), done(&one), end()], "Hello| you|."),
            (
                "messages are done late",
                vec![delta("Hello"), delta(" you"), done(&one), done(&two), end()],
                "Hello| you|.",
            ),
            ("the end tells another text", vec![delta("Hi"), end()], "Hi|."),
            ("an item is done twice", vec![done(&one), done(&one), completed(&[])], "Hello|."),
            ("no ids", vec![done(&nameless), done(&nameless), completed(&[])], "Hi|."),
            ("an empty answer", vec![delta(""), completed(&[])], "."),
        ];
        for (name, events, expected) in cases {
            assert_eq!(told(&events), expected, "{name}");
        }
    }

    #[test]
    fn calls_are_neither_lost_nor_told_twice() {
        let (a, b) = (call("a", "{}"), call("b", "{}"));
        let other = call("c", "[]");
        let end = || completed(&[a.clone(), b.clone()]);
        let cases = [
            ("as OpenAI does", vec![done(&a), done(&b), end()], "a{}|b{}|."),
            ("only the end", vec![end()], "a{}|b{}|."),
            ("twice", vec![done(&a), done(&a), completed(&[])], "a{}|."),
            ("the end gives it another id", vec![done(&a), completed(std::slice::from_ref(&b))], "a{}|."),
            ("the end adds one", vec![done(&a), completed(&[a.clone(), other])], "a{}|c[]|."),
        ];
        for (name, events, expected) in cases {
            assert_eq!(told(&events), expected, "{name}");
        }
    }

    #[test]
    fn calls_whose_arguments_came_in_events_of_their_own_are_told_at_the_end() {
        let added = |id: &str, place: u64| {
            let item = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": ""});
            json!({"type": "response.output_item.added", "output_index": place, "item": item})
        };
        let written = |id: &str, arguments: &str| {
            let item_id = format!("fc_{id}");
            json!({"type": "response.function_call_arguments.done", "item_id": item_id, "arguments": arguments})
        };
        let (a, b) = (call("a", "{\"x\":1}"), call("b", "{\"x\":1}"));
        let cut = json!({"type": "response.incomplete", "response": {"output": [call("a", "")]}});
        let cases = [
            ("alone", vec![added("a", 0), written("a", "{\"x\":1}"), completed(&[])], "a{\"x\":1}|."),
            (
                "and whole without them",
                vec![added("a", 0), written("a", "{}"), done(&call("a", "")), completed(&[])],
                "a{}|.",
            ),
            (
                "and whole with them",
                vec![added("a", 0), written("a", "{\"x\":1}"), done(&a), completed(std::slice::from_ref(&a))],
                "a{\"x\":1}|.",
            ),
            (
                "and at the end under another id",
                vec![added("a", 0), written("a", "{\"x\":1}"), completed(std::slice::from_ref(&b))],
                "b{\"x\":1}|.",
            ),
            (
                "two",
                vec![added("a", 0), added("b", 1), written("b", "[]"), written("a", "{}"), completed(&[])],
                "a{}|b[]|.",
            ),
            ("not to their end", vec![added("a", 0), completed(&[])], "."),
            ("in an answer that was cut", vec![added("a", 0), written("a", "{}"), cut], "."),
        ];
        for (name, events, expected) in cases {
            assert_eq!(told(&events), expected, "{name}");
        }
    }

    #[test]
    fn what_only_some_events_tell_is_told() {
        let item = json!({"type": "function_call", "id": "fc_a", "call_id": "a", "name": "f"});
        let added = json!({"type": "response.output_item.added", "item": item, "output_index": 0});
        let piece = |text: &str| json!({"type": "response.function_call_arguments.delta", "item_id": "fc_a", "delta": text});
        let text_done = |text: &str| json!({"type": "response.output_text.done", "text": text});
        let plain = json!({"type": "message", "content": "Hello"});
        let old_end = json!({"type": "response.done", "response": {"status": "completed", "output": []}});
        let cases = [
            (
                "arguments in deltas",
                vec![added.clone(), piece("{\"x\""), piece(":1}"), completed(&[])],
                "a{\"x\":1}|.",
            ),
            ("half of them", vec![added, piece("{\"x\""), completed(&[])], "."),
            ("text in its end", vec![text_done("Hello"), completed(&[])], "Hello|."),
            (
                "text in its end and its message",
                vec![text_done("Hello"), done(&message("m1", "Hello")), completed(&[])],
                "Hello|.",
            ),
            (
                "text in deltas and its end",
                vec![delta("Hel"), delta("lo"), text_done("Hello"), completed(&[])],
                "Hel|lo|.",
            ),
            ("a bare text", vec![completed(std::slice::from_ref(&plain))], "Hello|."),
            ("another word for the end", vec![delta("Hello"), old_end], "Hello|."),
        ];
        for (name, events, expected) in cases {
            assert_eq!(told(&events), expected, "{name}");
        }
        let counted = json!({"type": "response.done", "response": {"usage": {"prompt_tokens": "7", "completion_tokens": 2.0}}});
        let usage = Some(Usage { input: 7, cached: 0, output: 2 });
        assert_eq!(run(&[counted]), [Ok(Event::Completed { finish: Finish::Stop, usage })]);
    }

    #[test]
    fn an_answer_without_a_word_of_its_end_is_whole_unless_a_call_is_not() {
        let item = json!({"type": "function_call", "id": "fc_a", "call_id": "a", "name": "f"});
        let open = json!({"type": "response.output_item.added", "item": item});
        let cases = [
            (vec![delta("Hello")], true),
            (vec![done(&call("a", "{}"))], true),
            (vec![delta("Hello"), open.clone()], false),
            (vec![open], false),
            (vec![json!({"type": "response.created", "response": {}})], false),
        ];
        for (events, is_whole) in cases {
            let mut decoder = ResponsesDecoder::default();
            events.iter().for_each(|event| drop(decoder.absorb(event).unwrap()));
            assert_eq!(decoder.end().is_ok(), is_whole, "{events:?}");
        }
    }

    #[test]
    fn very_many_calls_are_told_once() {
        let item = |prefix: &str, at: i32| call(&format!("{prefix}{at}"), &format!("{{\"at\":{at}}}"));
        let mut events: Vec<Value> = (0..10_000).map(|at| done(&item("a", at))).collect();
        let again: Vec<Value> = (0..10_001).map(|at| item("b", at)).collect();
        events.push(completed(&again));
        let told = run(&events);
        assert_eq!(told.len(), 10_002);
        assert_eq!(told[10_000..], [called("b10000", "{\"at\":10000}"), stop()]);
    }

    #[test]
    fn what_a_call_has_of_its_service_alone_is_kept() {
        let mut item = call("a", "{}");
        item["signature"] = json!("S");
        let data = json!({"type": "figaro.calls", "calls": {"a": {"signature": "S"}}});
        let kept = Ok(Event::Private(PrivatePart { provider: "openai".into(), data }));
        assert_eq!(run(&[done(&item), completed(&[])]), [called("a", "{}"), kept, stop()]);
    }

    #[test]
    fn calls_come_in_odd_shapes() {
        let item = |more: Value| {
            let mut item = json!({"type": "function_call", "name": "f"});
            item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            done(&item)
        };
        let cases = [
            (item(json!({"id": "x", "arguments": {"a": 1}})), vec![called("x", "{\"a\":1}")]),
            (item(json!({"call_id": "c", "id": "x"})), vec![called("c", "")]),
            (item(json!({"call_id": "c", "arguments": "{\"a", "status": "incomplete"})), vec![]),
            (item(json!({"arguments": "{}"})), vec![]),
        ];
        for (event, expected) in cases {
            assert_eq!(run(std::slice::from_ref(&event)), expected, "{event}");
        }
    }

    #[test]
    fn reasoning_and_hosted_tools_are_told_once() {
        let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
        let open =
            json!({"type": "reasoning", "id": "rs_2", "content": [{"type": "reasoning_text", "text": "hm"}]});
        let empty = json!({"type": "reasoning", "id": "rs_3", "summary": [], "content": [], "encrypted_content": null});
        let search = json!({"type": "web_search_call", "id": "ws_1"});
        let events = [
            json!({"type": "response.output_item.added", "item": thought}),
            done(&thought),
            json!({"type": "response.output_item.added", "item": search}),
            done(&search),
            done(&json!({"type": "web_search_call", "id": "ws_2"})),
            done(&empty),
            completed(&[thought.clone(), search.clone(), open.clone()]),
        ];
        let private = |data: Value| Ok(Event::Private(PrivatePart { provider: "openai".into(), data }));
        let hosted = || Ok(Event::Searched);
        let found = || Ok(Event::Found(HostedSearch::default()));
        let told = [private(thought), hosted(), found(), hosted(), found(), private(open), stop()];
        assert_eq!(run(&events), told);
    }

    #[test]
    fn what_a_hosted_search_looked_for_and_found_is_told() {
        let page = |url: &str| Source { title: url.into(), url: url.into() };
        let search = |queries: &[&str], pages: &[&str]| HostedSearch {
            queries: queries.iter().map(|query| (*query).to_owned()).collect(),
            sources: pages.iter().map(|url| page(url)).collect(),
        };
        let two = json!({
            "type": "search", "query": "a", "queries": ["a", "b"],
            "sources": [{"type": "url", "url": "https://a.example"}, {"type": "api", "name": "oai-weather"}],
        });
        let cases = [
            (two, search(&["a", "b"], &["https://a.example"])),
            (json!({"type": "search", "query": "a"}), search(&["a"], &[])),
            (json!({"type": "open_page", "url": "https://b.example"}), search(&[], &["https://b.example"])),
            (json!({"type": "open_page", "url": null}), search(&[], &[])),
            (
                json!({"type": "find_in_page", "pattern": "rain", "url": "https://c.example"}),
                search(&["rain"], &["https://c.example"]),
            ),
        ];
        for (action, expected) in cases {
            let event = done(&json!({"type": "web_search_call", "id": "ws_1", "action": action}));
            assert_eq!(run(&[event]), [Ok(Event::Searched), Ok(Event::Found(expected))], "{action}");
        }
    }

    #[test]
    fn pages_that_are_cited_are_told_once() {
        let page = |url: &str, title: Value| json!({"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 5});
        let added =
            |page: Value| json!({"type": "response.output_text.annotation.added", "annotation": page});
        let (a, b, c) =
            (page("http://a", json!("A")), page("http://b", json!(" ")), page("http://c", json!(null)));
        let file = json!({"type": "file_citation", "file_id": "f", "filename": "x"});
        let message = |pages: &[&Value]| json!({"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "Hello", "annotations": pages}]});
        let source =
            |title: &str, url: &str| Ok(Event::Source(Source { title: title.into(), url: url.into() }));
        let (said, all) = (
            || Ok(Event::TextDelta("Hello".into())),
            [source("A", "http://a"), source("http://b", "http://b"), source("http://c", "http://c")],
        );
        let whole = message(&[&a, &b, &file, &b, &c]);
        let cases = [
            (
                "as OpenAI does",
                vec![
                    delta("Hello"),
                    added(a.clone()),
                    added(b.clone()),
                    added(c.clone()),
                    done(&whole),
                    completed(std::slice::from_ref(&whole)),
                ],
            ),
            ("only with the message", vec![delta("Hello"), done(&whole), completed(&[])]),
            ("only at the end", vec![completed(std::slice::from_ref(&whole))]),
            (
                "some here and some there",
                vec![
                    delta("Hello"),
                    added(file.clone()),
                    added(a.clone()),
                    done(&message(&[&a, &b])),
                    completed(std::slice::from_ref(&whole)),
                ],
            ),
            (
                "a message done twice",
                vec![
                    done(&message(&[&a])),
                    done(&message(&[&a, &b])),
                    completed(std::slice::from_ref(&whole)),
                ],
            ),
        ];
        for (name, events) in cases {
            let mut expected = vec![said()];
            expected.extend(all.clone());
            expected.push(stop());
            assert_eq!(run(&events), expected, "{name}");
        }
        let broken = [
            added(json!({"type": "url_citation", "title": "no address"})),
            added(json!(null)),
            json!({"type": "response.output_text.annotation.added"}),
        ];
        assert_eq!(run(&broken), []);
    }

    #[test]
    fn every_end_is_known() {
        let end = |kind: &str, response: Value| json!({"type": kind, "response": response});
        let finished = |finish: Finish| Ok(Event::Completed { finish, usage: None });
        let failed = |error: ProviderError| Err::<Event, _>(error);
        let cases = [
            (end("response.completed", json!({})), finished(Finish::Stop)),
            (end("response.completed", json!({"status": "incomplete"})), finished(Finish::Length)),
            (
                end("response.incomplete", json!({"incomplete_details": {"reason": "max_output_tokens"}})),
                finished(Finish::Length),
            ),
            (
                end("response.incomplete", json!({"incomplete_details": {"reason": "content_filter"}})),
                finished(Finish::Filtered("content_filter".into())),
            ),
            (
                end("response.failed", json!({"error": {"code": "server_error", "message": "m"}})),
                failed(ProviderError::Unavailable("m".into())),
            ),
            (
                end("response.completed", json!({"status": "failed", "error": {"code": "invalid_prompt"}})),
                failed(ProviderError::Refused("invalid_prompt".into())),
            ),
            (json!({"object": "response", "status": "completed", "output": []}), finished(Finish::Stop)),
        ];
        for (event, expected) in cases {
            assert_eq!(run(std::slice::from_ref(&event)), [expected], "{event}");
        }
    }

    #[test]
    fn usage_is_told_if_it_is_known() {
        let known =
            json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 2});
        assert_eq!(usage(&known), Some(Usage { input: 7, cached: 5, output: 2 }));
        assert_eq!(
            usage(&json!({"input_tokens": 7, "output_tokens": 2})),
            Some(Usage { input: 7, cached: 0, output: 2 })
        );
        assert_eq!(usage(&json!({"input_tokens": 7})), None);
        assert_eq!(usage(&Value::Null), None);
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        let strange = [
            json!({"type": "response.new_thing", "delta": "x"}),
            json!({}),
            json!(3),
            json!("x"),
            json!([1]),
        ];
        assert_eq!(run(&strange), []);
    }
}
