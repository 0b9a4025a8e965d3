//! Turns the chunks of a chat completion into events, one at a time and without I/O. Servers differ in nearly
//! everything besides the text: missing data is tolerated, and additions stay out of the answer.

use std::collections::HashSet;

use serde_json::Value;

use super::calls::ChatCalls;
use super::reasoning::Reasoning;
use crate::fold::MAX_CALLS;
use crate::http::body::DONE;
use crate::http::decode::Decode;
use crate::http::error;
use crate::offered::Offered;
use crate::openai_client::cited;
use crate::usage::usage;
use crate::{Event, Finish, Item, ProviderError, Request};
use figaro_domain::usage::Usage;

/// State of one answer.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    model: String,
    /// Ids of all calls of the conversation.
    taken: HashSet<String>,
    /// `true` if the answer belongs to a turn with calls.
    after_calls: bool,
    reasoning: Reasoning,
    calls: ChatCalls,
    /// Addresses already sent.
    cited: HashSet<String>,
    /// `true` once text of the answer has come.
    has_spoken: bool,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Decode for ChatDecoder {
    /// Unknown chunks are ignored. Neither a finish reason nor a token count marks the end: some servers send them
    /// with every chunk, and some continue after them.
    fn absorb(&mut self, chunk: &Value) -> Result<Vec<Event>, ProviderError> {
        if chunk == DONE {
            return self.done();
        }
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let choice = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or_default() == 0);
        let choice = choice.unwrap_or(&Value::Null);
        let counts = [&chunk["usage"], &choice["usage"], &chunk["x_groq"]["usage"]];
        self.usage = counts.into_iter().find_map(usage).or(self.usage);
        if let Some(error) = failure(choice) {
            return Err(error::from_stream(error));
        }
        let mut events = self.piece(choice);
        if self.calls.is_too_long() {
            events.extend(self.whole(Finish::Length));
            return Ok(events);
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish(reason)?);
        }
        Ok(events)
    }

    /// The answer is complete if the model reported its end. Many servers never do, and close the connection in
    /// order. Then the answer is complete if there is one and no call in it is incomplete.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        let is_answer = self.has_spoken || !self.calls.is_empty();
        match self.finish.take() {
            Some(finish) => Ok(self.whole(finish)),
            None if is_answer && self.calls.are_whole() => Ok(self.whole(Finish::Stop)),
            None => Err(ProviderError::Cut("the stream ended early".into())),
        }
    }

    fn reasoned(&self) -> usize {
        self.reasoning.bytes()
    }

    fn begun(&self) -> usize {
        self.calls.bytes()
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }
}

impl ChatDecoder {
    /// Creates a decoder for the answer to this request.
    pub(super) fn new(request: &Request) -> Self {
        let ids = request.items.iter().flat_map(|item| match item {
            Item::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
            Item::User { .. } | Item::ToolResult { .. } => Vec::new(),
        });
        let turn = request.items.iter().rev().take_while(|item| !matches!(item, Item::User { .. }));
        Self {
            model: request.model.clone(),
            taken: ids.collect(),
            after_calls: turn.into_iter().any(|item| matches!(item, Item::ToolResult { .. })),
            reasoning: Reasoning::default(),
            calls: ChatCalls::of(Offered::of(&request.tools)),
            cited: HashSet::new(),
            has_spoken: false,
            finish: None,
            usage: None,
        }
    }

    /// Returns the events for a piece of the answer, or for the whole answer of a server that sends it at once.
    fn piece(&mut self, choice: &Value) -> Vec<Event> {
        let has_begun = self.has_spoken || !self.calls.is_empty();
        let delta = match &choice["delta"] {
            Value::Null if !has_begun => &choice["message"],
            delta => delta,
        };
        self.reasoning.absorb(delta);
        self.calls.absorb(delta);
        // Servers of the older completions have the text next to the delta.
        let bare = if delta.is_null() { content(&choice["text"]) } else { String::new() };
        let written = [content(&delta["content"]), content(&delta["refusal"]), bare].concat();
        self.has_spoken |= !written.trim().is_empty();
        let mut events = Vec::from_iter(said(written));
        let pages = delta["annotations"].as_array().into_iter().flatten().filter_map(cited);
        let new = pages.filter(|page| self.cited.insert(page.url.clone()));
        events.extend(new.map(Event::Source));
        events
    }

    /// Handles `[DONE]`, by which the server reports that it sent everything. It counts even without a finish reason,
    /// if there is an answer, or reasoning without one.
    fn done(&mut self) -> Result<Vec<Event>, ProviderError> {
        let is_answer = self.has_spoken || !self.calls.is_empty() || self.reasoning.bytes() > 0;
        match self.finish.take() {
            Some(finish) => Ok(self.whole(finish)),
            None if is_answer => Ok(self.whole(Finish::Stop)),
            None => Err(ProviderError::Cut("there was no answer in the stream".into())),
        }
    }

    /// Returns the final events. Calls of an answer that was cut count as incomplete, whatever they look like.
    fn whole(&mut self, finish: Finish) -> Vec<Event> {
        let mut events = Vec::new();
        let calls = if finish == Finish::Stop { self.calls.end(&mut self.taken) } else { Vec::new() };
        if self.after_calls || !calls.is_empty() {
            let left_out = calls.iter().skip(MAX_CALLS + 1).map(|(call, _)| call.id.as_str()).collect();
            let sealed = calls.iter().take(MAX_CALLS + 1).map(|(call, more)| (call.id.as_str(), more));
            events.extend(self.reasoning.part(&self.model, &left_out, sealed).map(Event::Private));
        }
        events.extend(calls.into_iter().map(|(call, _)| Event::ToolCall(call)));
        events.push(Event::Completed { finish, usage: self.usage });
        events
    }
}

fn said(text: String) -> Option<Event> {
    (!text.is_empty()).then_some(Event::TextDelta(text))
}

/// Returns the error in a choice, if any.
fn failure(value: &Value) -> Option<&Value> {
    let error = &value["error"];
    let is_some = (error.is_object() || error.is_string()) && !error::says_nothing(error);
    is_some.then_some(error)
}

/// Returns the text of a string or of parts, without parts that hold reasoning.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        Value::Object(_) => part(value).unwrap_or_default().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

fn part(part: &Value) -> Option<&str> {
    match part["type"].as_str() {
        None => part.as_str().or_else(|| part["text"].as_str()),
        Some("text" | "output_text") => part["text"].as_str(),
        Some("refusal") => part["refusal"].as_str(),
        Some(_) => None,
    }
}

/// Classifies a finish reason. Many reasons mean a normal end; the others are listed here.
fn finish(reason: &str) -> Result<Finish, ProviderError> {
    let words = || format!("it ended the answer with `{reason}`");
    match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Ok(Finish::Length),
        "content_filter" | "safety" | "sensitive" | "refusal" | "recitation" | "prohibited_content" => {
            Ok(Finish::Filtered(reason.to_owned()))
        }
        "error" | "network_error" | "insufficient_system_resource" => {
            Err(ProviderError::Unavailable(words()))
        }
        "malformed_function_call" | "unexpected_tool_call" | "malformed_response" => {
            Err(ProviderError::Garbled(words()))
        }
        reason if reason.contains("malformed_function_call") => Err(ProviderError::Garbled(words())),
        "abort" | "cancelled" => Err(ProviderError::Cut(words())),
        _ => Ok(Finish::Stop),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fold::Pass;
    use figaro_domain::conversation::PrivatePart;
    use figaro_domain::source::Source;
    use figaro_domain::tool::Call;

    type Events = Vec<Result<Event, ProviderError>>;

    /// What is told of these chunks and of the end behind them.
    fn run_after(items: Vec<Item>, chunks: &[Value]) -> Events {
        let mut decoder = ChatDecoder::new(&Request::new("m", "", items));
        let mut all = Vec::new();
        let mut take = |told: Result<Vec<Event>, ProviderError>| {
            match told {
                Ok(events) => all.extend(events.into_iter().map(Ok)),
                Err(error) => all.push(Err(error)),
            }
            !matches!(all.last(), Some(Err(_) | Ok(Event::Completed { .. })))
        };
        let goes_on = chunks.iter().all(|chunk| take(decoder.absorb(chunk)));
        if goes_on {
            take(decoder.end());
        }
        all
    }

    fn run(chunks: &[Value]) -> Events {
        run_after(vec![Item::user("Hi")], chunks)
    }

    fn delta(delta: Value) -> Value {
        json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    fn words(text: &str) -> Value {
        delta(json!({"content": text}))
    }

    fn end(reason: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    }

    fn count(input: u64, output: u64) -> Value {
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
    }

    fn text(text: &str) -> Result<Event, ProviderError> {
        Ok(Event::TextDelta(text.into()))
    }

    fn completed(finish: Finish, usage: Option<(u64, u64)>) -> Result<Event, ProviderError> {
        let usage = usage.map(|(input, output)| Usage { input, cached: 0, output });
        Ok(Event::Completed { finish, usage })
    }

    fn called(id: &str, name: &str, arguments: &str) -> Result<Event, ProviderError> {
        Ok(Event::ToolCall(Call { id: id.into(), name: name.into(), arguments: arguments.into() }))
    }

    fn cut(words: &str) -> Result<Event, ProviderError> {
        Err(ProviderError::Cut(words.into()))
    }

    #[test]
    fn an_answer_is_counted_in_many_ways() {
        let with = |mut chunk: Value, usage: Value| {
            chunk["usage"] = usage;
            chunk
        };
        let no_choices = |usage: Value| json!({"choices": [], "usage": usage});
        let in_choice = json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": count(3, 2)}]});
        let cases = [
            (
                "as OpenAI does",
                vec![with(words("a"), json!(null)), end("stop"), no_choices(count(3, 2))],
                Some((3, 2)),
            ),
            ("never", vec![words("a"), end("stop")], None),
            ("with the reason", vec![words("a"), with(end("stop"), count(3, 2))], Some((3, 2))),
            ("always", vec![with(words("a"), count(3, 1)), with(end("stop"), count(3, 2))], Some((3, 2))),
            ("before the reason", vec![words("a"), no_choices(count(3, 2)), end("stop")], Some((3, 2))),
            ("in the choice", vec![words("a"), in_choice], Some((3, 2))),
            ("as nothing", vec![words("a"), with(end("stop"), count(0, 0))], None),
        ];
        for (name, mut chunks, usage) in cases {
            let expected = [text("a"), completed(Finish::Stop, usage)];
            assert_eq!(run(&chunks), expected, "{name}, cut off");
            chunks.push(json!("[DONE]"));
            assert_eq!(run(&chunks), expected, "{name}");
        }
    }

    #[test]
    fn what_is_sealed_for_calls_that_are_left_out_is_left_out() {
        let pieces: Vec<Value> = (0..40)
            .map(|at| {
                delta(json!({
                    "reasoning_details": [{"type": "reasoning.encrypted", "data": "AA", "id": format!("c{at}"), "index": at}],
                    "tool_calls": [{"index": at, "id": format!("c{at}"), "function": {"name": "f", "arguments": "{}"}}],
                }))
            })
            .chain([delta(json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "BB", "id": "rs_1"}]}))])
            .chain([end("tool_calls")])
            .collect();
        let mut pass = Pass::default();
        run(&pieces).into_iter().for_each(|event| pass.absorb(event.unwrap()));
        let details = pass.private[0].data["reasoning_details"].as_array().unwrap();
        let ids: Vec<&str> = details.iter().filter_map(|detail| detail["id"].as_str()).collect();
        let calls: Vec<&str> = pass.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!((pass.private.len(), calls.len(), pass.calls_left_out), (1, MAX_CALLS + 1, 7));
        assert_eq!(ids, [calls, vec!["rs_1"]].concat());
    }

    #[test]
    fn an_answer_whose_calls_have_no_end_is_ended() {
        let endless = (0..).map(|at| match at {
            0 => words("Well."),
            1 => delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]})),
            _ => delta(json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "f", "arguments": "x".repeat(4096)}}]})),
        });
        let mut read = 0;
        let mut decoder = ChatDecoder::new(&Request::new("m", "", vec![Item::user("Hi")]));
        let mut told: Events = Vec::new();
        for chunk in endless {
            read += 1;
            told.extend(decoder.absorb(&chunk).unwrap().into_iter().map(Ok));
            if matches!(told.last(), Some(Ok(Event::Completed { .. }))) {
                break;
            }
        }
        assert_eq!(told, [text("Well."), completed(Finish::Length, None)]);
        assert_eq!(read, 2 + 256, "a mebibyte of it");
    }

    #[test]
    fn an_answer_ends_in_many_ways() {
        let done = || json!("[DONE]");
        let piece = |text: &str, reason: &str| json!({"choices": [{"delta": {"content": text}, "finish_reason": reason}]});
        let stop = || vec![text("a"), completed(Finish::Stop, None)];
        let early = || cut("the stream ended early");
        let twice = vec![text("a"), text("b"), completed(Finish::Length, None)];
        let cases: Vec<(&str, Vec<Value>, Events)> = vec![
            ("no [DONE]", vec![words("a"), end("stop")], stop()),
            ("no reason", vec![words("a"), done()], stop()),
            ("an empty reason", vec![words("a"), end(""), done()], stop()),
            ("the reason with the text", vec![piece("a", "stop")], stop()),
            ("a reason with every text", vec![piece("a", "stop"), piece("b", "length")], twice),
            ("neither reason nor [DONE]", vec![words("a")], stop()),
            ("nothing but a count", vec![json!({"choices": [], "usage": count(3, 2)})], vec![early()]),
            ("nothing", vec![], vec![early()]),
            (
                "nothing but [DONE]",
                vec![delta(json!({"role": "assistant"})), done()],
                vec![cut("there was no answer in the stream")],
            ),
            (
                "nothing but reasoning and [DONE]",
                vec![delta(json!({"reasoning": "hm"})), done()],
                vec![completed(Finish::Stop, None)],
            ),
            ("a reason and no text", vec![end("stop")], vec![completed(Finish::Stop, None)]),
        ];
        for (name, chunks, expected) in cases {
            assert_eq!(run(&chunks), expected, "{name}");
        }
    }

    #[test]
    fn every_reason_is_known() {
        let down =
            |reason: &str| Err(ProviderError::Unavailable(format!("it ended the answer with `{reason}`")));
        let cases = [
            ("stop", completed(Finish::Stop, None)),
            ("eos", completed(Finish::Stop, None)),
            ("end_turn", completed(Finish::Stop, None)),
            ("tool_calls", completed(Finish::Stop, None)),
            ("function_call", completed(Finish::Stop, None)),
            ("made_up", completed(Finish::Stop, None)),
            ("length", completed(Finish::Length, None)),
            ("MAX_TOKENS", completed(Finish::Length, None)),
            ("content_filter", completed(Finish::Filtered("content_filter".into()), None)),
            ("SAFETY", completed(Finish::Filtered("SAFETY".into()), None)),
            ("error", down("error")),
            ("insufficient_system_resource", down("insufficient_system_resource")),
            (
                "MALFORMED_FUNCTION_CALL",
                Err(ProviderError::Garbled("it ended the answer with `MALFORMED_FUNCTION_CALL`".into())),
            ),
            ("abort", cut("it ended the answer with `abort`")),
        ];
        for (reason, expected) in cases {
            assert_eq!(run(&[end(reason)]), [expected], "{reason}");
        }
    }

    #[test]
    fn text_comes_in_many_shapes_and_reasoning_is_none_of_it() {
        let parts = json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "b"},
            "c",
            {"text": "d"},
            {"type": "refusal", "refusal": "e"},
            {"type": "image_url", "text": "no"},
        ]);
        let chunks = [
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"content": null, "reasoning": "hm"})),
            delta(json!({"content": "a", "reasoning_content": "hm"})),
            delta(json!({"content": parts})),
            delta(json!({"refusal": "f"})),
            json!({"choices": [{"index": 1, "delta": {"content": "another choice"}}]}),
            json!({"choices": [{"index": 0, "delta": null, "message": {"content": "abcdef"}}]}),
            end("stop"),
        ];
        let expected = [text("a"), text("bcde"), text("f"), completed(Finish::Stop, None)];
        assert_eq!(run(&chunks), expected);
        let whole = json!({"choices": [{"message": {"content": "all"}, "finish_reason": "stop"}]});
        assert_eq!(run(&[whole]), [text("all"), completed(Finish::Stop, None)]);
    }

    #[test]
    fn calls_are_told_when_the_answer_is_whole() {
        let begin = |id: &str, arguments: &str| {
            delta(
                json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": "f", "arguments": arguments}}]}),
            )
        };
        let more = |arguments: &str| {
            delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}))
        };
        let stop = || completed(Finish::Stop, None);
        let cases = [
            (vec![begin("a", "{"), more("}"), end("stop")], vec![called("a", "f", "{}"), stop()]),
            (
                vec![words("x"), begin("", "{}"), json!("[DONE]")],
                vec![text("x"), called("call_2", "f", "{}"), stop()],
            ),
            (vec![begin("old", "{}"), end("tool_calls")], vec![called("call_2", "f", "{}"), stop()]),
            (vec![begin("a", "{\"x\""), end("length")], vec![completed(Finish::Length, None)]),
            (vec![begin("a", "{}"), end("length")], vec![completed(Finish::Length, None)]),
            (vec![begin("a", "{}")], vec![called("a", "f", "{}"), stop()]),
            (vec![begin("a", "{\"x\"")], vec![cut("the stream ended early")]),
        ];
        let earlier = Item::Assistant {
            text: String::new(),
            calls: vec![Call { id: "old".into(), name: "f".into(), arguments: "{}".into() }],
            private: Vec::new(),
        };
        for (chunks, expected) in cases {
            let items = vec![earlier.clone(), Item::user("Hi")];
            assert_eq!(run_after(items, &chunks), expected, "{chunks:?}");
        }
    }

    #[test]
    fn reasoning_is_kept_only_with_the_calls_it_belongs_to() {
        let thought = || delta(json!({"reasoning_content": "hm"}));
        let call =
            || delta(json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}));
        let part = || {
            let data = json!({"model": "m", "reasoning_content": "hm"});
            Ok(Event::Private(PrivatePart { provider: "compatible".into(), data }))
        };
        let result = Item::ToolResult {
            call_id: "b".into(),
            name: "f".into(),
            output: "{}".into(),
            media: Vec::new(),
        };
        let stop = || completed(Finish::Stop, None);
        let asked = || vec![Item::user("Hi")];
        assert_eq!(
            run_after(asked(), &[thought(), call(), end("stop")]),
            [part(), called("a", "f", "{}"), stop()]
        );
        assert_eq!(run_after(asked(), &[thought(), words("a"), end("stop")]), [text("a"), stop()]);
        let looked = vec![Item::user("Hi"), result.clone()];
        assert_eq!(run_after(looked, &[thought(), words("a"), end("stop")]), [text("a"), part(), stop()]);
        let later = vec![result, Item::user("Hi")];
        assert_eq!(run_after(later, &[thought(), words("a"), end("stop")]), [text("a"), stop()]);
    }

    #[test]
    fn errors_of_a_choice_end_the_answer() {
        let limited = || ProviderError::RateLimited { retry_after: None, message: "m".into() };
        let down = || ProviderError::Unavailable("m".into());
        let cases = [
            (json!({"choices": [{"delta": {}, "error": {"message": "m", "code": 429}}]}), limited()),
            (json!({"choices": [{"delta": {}, "error": "m", "finish_reason": "error"}]}), down()),
        ];
        for (chunk, expected) in cases {
            assert_eq!(
                run(&[words("a"), chunk.clone(), words("never")]),
                [text("a"), Err(expected)],
                "{chunk}"
            );
        }
    }

    #[test]
    fn pages_are_told_once() {
        let page = |url: &str| json!({"type": "url_citation", "url_citation": {"url": url, "title": "T", "content": "x"}});
        let chunks = [
            delta(json!({"content": "a", "annotations": [page("http://a"), {"type": "file"}]})),
            delta(json!({"annotations": [page("http://a"), page("http://b")]})),
            end("stop"),
        ];
        let source = |url: &str| Ok(Event::Source(Source { title: "T".into(), url: url.into() }));
        let expected = [text("a"), source("http://a"), source("http://b"), completed(Finish::Stop, None)];
        assert_eq!(run(&chunks), expected);
    }

    #[test]
    fn tokens_are_counted_in_many_shapes() {
        let cases = [
            (json!({"prompt_tokens": 7, "completion_tokens": 2}), Some((7, 0, 2))),
            (
                json!({"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}),
                Some((7, 5, 2)),
            ),
            (
                json!({"prompt_tokens": 7, "completion_tokens": 2, "prompt_cache_hit_tokens": 4, "total_tokens": 9}),
                Some((7, 4, 2)),
            ),
            (json!({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 20}), Some((7, 0, 13))),
            (json!({"prompt_tokens": 7}), None),
            (json!({"prompt_tokens": 0, "completion_tokens": 0}), None),
            (json!(null), None),
        ];
        for (value, expected) in cases {
            let expected = expected.map(|(input, cached, output)| Usage { input, cached, output });
            assert_eq!(usage(&value), expected, "{value}");
        }
    }

    #[test]
    fn text_comes_in_odd_shapes() {
        let cases = [
            json!({"delta": {"content": "a"}}),
            json!({"delta": {"content": {"type": "text", "text": "a"}}}),
            json!({"delta": {"content": ["a"]}}),
            json!({"text": "a"}),
            json!({"message": {"content": "a"}}),
        ];
        for choice in cases {
            let told = run(&[json!({"choices": [choice]}), json!(DONE)]);
            assert_eq!(told, [text("a"), completed(Finish::Stop, None)], "{choice}");
        }
        let number = run(&[delta(json!({"content": 2})), words(" loaves"), json!(DONE)]);
        assert_eq!(number, [text("2"), text(" loaves"), completed(Finish::Stop, None)]);
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        let strange = [
            json!({"object": "new.thing", "choices": [{"delta": {"content": true, "tool_calls": "x", "odd": true}}]}),
            json!({"choices": null, "error": null}),
            json!({"choices": [3], "error": ""}),
            json!({}),
            json!(3),
            json!("x"),
            json!([1]),
        ];
        assert_eq!(run(&strange), [cut("the stream ended early")]);
    }
}
