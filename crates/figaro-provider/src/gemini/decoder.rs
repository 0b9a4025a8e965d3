//! Turns the pieces of a streamed answer into events, one at a time and without I/O.

use std::collections::HashSet;

use serde_json::Value;
use tracing::debug;

use super::signed::PartLayout;
use crate::http::decode::Decode;
use crate::{Event, Finish, HostedSearch, ProviderError, loose};
use figaro_domain::source::Source;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// State of one answer.
#[derive(Debug)]
pub(super) struct GeminiDecoder {
    model: String,
    /// Prefix of generated ids, for calls that came without one.
    made_id: String,
    layout: PartLayout,
    /// Ids of the calls already sent.
    calls: HashSet<String>,
    /// Addresses of the pages already sent.
    pages: HashSet<String>,
    /// Number of searches already sent, as they are billed.
    searches: usize,
    /// Number of search queries already sent.
    queries: usize,
    /// Latest token count. Each piece has the tokens up to it.
    usage: Option<Usage>,
    has_text: bool,
    /// Size of thoughts, in bytes.
    reasoned: usize,
    /// Latest finish reason. Some servers send one with every piece, and some continue after it.
    finish: Option<Finish>,
}

impl GeminiDecoder {
    /// Creates a decoder. `made_id` must differ from that of every other answer.
    pub(super) fn new(model: &str, made_id: String) -> Self {
        Self {
            model: model.to_owned(),
            made_id,
            layout: PartLayout::default(),
            calls: HashSet::new(),
            pages: HashSet::new(),
            searches: 0,
            queries: 0,
            usage: None,
            has_text: false,
            reasoned: 0,
            finish: None,
        }
    }

    fn part(&mut self, part: &Value) -> Option<Event> {
        if part["thought"] == true {
            self.reasoned += part["text"].as_str().map_or(1, str::len);
            self.layout.other(part);
            return None;
        }
        if part["functionCall"].is_object() {
            return self.call(part);
        }
        if let Some(text) = part["text"].as_str() {
            self.has_text |= !text.trim().is_empty();
            self.layout.text(text, part);
            return (!text.is_empty()).then(|| Event::TextDelta(text.to_owned()));
        }
        self.layout.other(part);
        let tool = part["toolCall"]["toolType"].as_str().unwrap_or_default();
        tool.starts_with("GOOGLE_SEARCH").then(|| self.searched(1).pop()).flatten()
    }

    fn call(&mut self, part: &Value) -> Option<Event> {
        let call = &part["functionCall"];
        let Some(name) = call["name"].as_str() else {
            debug!("a call without a name was ignored");
            return None;
        };
        let made = || format!("{}-{}", self.made_id, self.calls.len());
        let id = call["id"].as_str().filter(|id| !id.is_empty()).map_or_else(made, str::to_owned);
        if !self.calls.insert(id.clone()) {
            return None;
        }
        self.layout.call(&id, part);
        let arguments = if call["args"].is_null() { "{}".to_owned() } else { call["args"].to_string() };
        Some(Event::ToolCall(Call { id, name: name.to_owned(), arguments }))
    }

    /// Returns the searches and pages in the grounding metadata.
    fn grounding(&mut self, metadata: &Value) -> Vec<Event> {
        let queries = metadata["webSearchQueries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut events = self.searched(queries.len());
        let mut sources = Vec::new();
        for page in metadata["groundingChunks"].as_array().into_iter().flatten() {
            let Some(url) = page["web"]["uri"].as_str().filter(|url| !url.is_empty()) else { continue };
            if self.pages.insert(url.to_owned()) {
                let title = page["web"]["title"].as_str().filter(|title| !title.is_empty()).unwrap_or(url);
                sources.push(Source { title: title.to_owned(), url: url.to_owned() });
            }
        }
        let new = queries.get(self.queries..).unwrap_or_default();
        self.queries += new.len();
        // The metadata does not say which search found which page.
        let found = |queries: &[Value]| {
            let queries = queries.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Event::Found(HostedSearch { queries, sources: sources.clone() })
        };
        let at_once = if self.is_billed_once() { new.len().max(1) } else { 1 };
        events.extend(new.chunks(at_once).map(found));
        events.extend(sources.into_iter().map(Event::Source));
        events
    }

    /// Returns `true` for models before Gemini 3, which bill one search per answer, however many it made.
    fn is_billed_once(&self) -> bool {
        self.model.starts_with("gemini-2")
    }

    /// Returns an event for each newly billed search. `so_far` counts the searches of the answer until now.
    fn searched(&mut self, so_far: usize) -> Vec<Event> {
        let billed = if self.is_billed_once() { so_far.min(1) } else { so_far };
        let news = billed.saturating_sub(self.searches);
        self.searches += news;
        vec![Event::Searched; news]
    }

    fn is_answer(&self) -> bool {
        self.has_text || !self.calls.is_empty()
    }

    /// Returns the events that end an answer.
    fn whole(&mut self, finish: Finish) -> impl Iterator<Item = Event> {
        let private = self.layout.private(&self.model).map(Event::Private);
        private.into_iter().chain([Event::Completed { finish, usage: self.usage }])
    }
}

impl Decode for GeminiDecoder {
    /// Unknown parts and fields are ignored.
    fn absorb(&mut self, piece: &Value) -> Result<Vec<Event>, ProviderError> {
        self.usage = usage(&piece["usageMetadata"]).or(self.usage);
        if let Some(reason) = piece["promptFeedback"]["blockReason"].as_str() {
            return Ok(self.whole(Finish::Filtered(blocked(reason))).collect());
        }
        let answer = &piece["candidates"][0];
        let parts = answer["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut events: Vec<Event> = parts.iter().filter_map(|part| self.part(part)).collect();
        events.extend(self.grounding(&answer["groundingMetadata"]));
        self.finish = finish(answer, self.is_answer())?.or(self.finish.take());
        Ok(events)
    }

    /// If the connection closes in order without an end mark, the answer is complete. A model that stops before its
    /// first word has failed, and the next attempt may succeed.
    fn end(&mut self) -> Result<Vec<Event>, ProviderError> {
        match self.finish.take() {
            Some(Finish::Stop) if !self.is_answer() && self.reasoned == 0 => {
                Err(ProviderError::Garbled("the model stopped before its first word".into()))
            }
            Some(finish) => Ok(self.whole(finish).collect()),
            None if self.is_answer() => Ok(self.whole(Finish::Stop).collect()),
            None => Err(ProviderError::Cut("the stream ended early".into())),
        }
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some() && self.is_answer()
    }

    fn reasoned(&self) -> usize {
        self.reasoned
    }
}

/// Explains why a question was not answered.
fn blocked(reason: &str) -> String {
    let why = match reason {
        "SAFETY" => "Google's safety filter blocked the question",
        "PROHIBITED_CONTENT" => "the question holds content that Google prohibits",
        "BLOCKLIST" => "the question holds a word on a blocklist of Google's",
        "IMAGE_SAFETY" => "Google's safety filter blocked a picture",
        "OTHER" | "BLOCK_REASON_UNSPECIFIED" | "BLOCKED_REASON_UNSPECIFIED" => {
            "Google blocked the question and does not say why"
        }
        other => return format!("Google blocked the question: {other}"),
    };
    why.to_owned()
}

/// Returns the reason of the end, if the answer has ended, or an error if another attempt may help. `is_answer` is
/// `true` if there is content; an unknown reason does not withhold it.
fn finish(answer: &Value, is_answer: bool) -> Result<Option<Finish>, ProviderError> {
    let why = match answer["finishReason"].as_str().unwrap_or_default() {
        "" | "FINISH_REASON_UNSPECIFIED" => return Ok(None),
        "STOP" => return Ok(Some(Finish::Stop)),
        "MAX_TOKENS" => return Ok(Some(Finish::Length)),
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            return Err(ProviderError::Garbled("the model wrote a call of a tool that is none".into()));
        }
        "MISSING_THOUGHT_SIGNATURE" => {
            return Err(ProviderError::Garbled("a call lacks its thought signature".into()));
        }
        "SAFETY" => "Google's safety filter stopped the answer",
        "PROHIBITED_CONTENT" => "the answer would hold content that Google prohibits",
        "RECITATION" => "the answer would repeat a text of others too closely",
        "LANGUAGE" => "the model does not speak the language of the answer",
        "BLOCKLIST" => "the answer holds a word on a blocklist of Google's",
        "SPII" => "the answer may hold personal data",
        "TOO_MANY_TOOL_CALLS" => "the model called Google's own tools too often",
        "OTHER" => "the model stopped and Google does not say why",
        _ if is_answer => return Ok(Some(Finish::Stop)),
        other => return Ok(Some(Finish::Filtered(format!("Google stopped the answer: {other}")))),
    };
    Ok(Some(Finish::Filtered(why.to_owned())))
}

/// Reads the token usage. Thoughts count as output, and tokens read by Google's tools as input.
fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| loose::count(&usage[name]).unwrap_or_default();
    Some(Usage {
        input: loose::count(&usage["promptTokenCount"])?.saturating_add(count("toolUsePromptTokenCount")),
        cached: count("cachedContentTokenCount"),
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use figaro_domain::conversation::PrivatePart;

    type Events = Vec<Result<Event, ProviderError>>;

    fn run(pieces: &[Value]) -> Events {
        let mut decoder = GeminiDecoder::new("gemini-3.5-flash", "made".into());
        let mut all = Vec::new();
        let mut take = |told: Result<Vec<Event>, ProviderError>| {
            match told {
                Ok(events) => all.extend(events.into_iter().map(Ok)),
                Err(error) => all.push(Err(error)),
            }
            !matches!(all.last(), Some(Err(_) | Ok(Event::Completed { .. })))
        };
        let goes_on = pieces.iter().all(|piece| take(decoder.absorb(piece)));
        if goes_on && decoder.finish.is_some() {
            take(decoder.end());
        }
        all
    }

    fn parts(parts: Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
    }

    fn end(reason: &str) -> Value {
        json!({"candidates": [{"finishReason": reason, "index": 0}]})
    }

    fn text(text: &str) -> Result<Event, ProviderError> {
        Ok(Event::TextDelta(text.into()))
    }

    fn call(id: &str, arguments: &str) -> Result<Event, ProviderError> {
        Ok(Event::ToolCall(Call { id: id.into(), name: "f".into(), arguments: arguments.into() }))
    }

    fn finished(finish: Finish) -> Result<Event, ProviderError> {
        Ok(Event::Completed { finish, usage: None })
    }

    fn hosted() -> Result<Event, ProviderError> {
        Ok(Event::Searched)
    }

    fn source(title: &str, url: &str) -> Result<Event, ProviderError> {
        Ok(Event::Source(Source { title: title.into(), url: url.into() }))
    }

    #[test]
    fn words_and_calls_are_told_once() {
        let f = |more: Value| {
            let mut call = json!({"name": "f"});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"functionCall": call})
        };
        let cases = [
            (
                "words",
                vec![parts(json!([{"text": "a"}, {"text": ""}, {"text": "b"}]))],
                vec![text("a"), text("b")],
            ),
            (
                "thoughts",
                vec![parts(json!([{"text": "Hm.", "thought": true}, {"text": "a"}]))],
                vec![text("a")],
            ),
            (
                "calls at once",
                vec![parts(json!([
                    f(json!({"id": "1", "args": {"a": "é"}})),
                    f(json!({"id": "2", "args": {}}))
                ]))],
                vec![call("1", "{\"a\":\"é\"}"), call("2", "{}")],
            ),
            (
                "calls without ids",
                vec![
                    parts(json!([f(json!({})), f(json!({"id": ""}))])),
                    parts(json!([f(json!({"args": null}))])),
                ],
                vec![call("made-0", "{}"), call("made-1", "{}"), call("made-2", "{}")],
            ),
            (
                "a call twice",
                vec![parts(json!([f(json!({"id": "1"}))])), parts(json!([f(json!({"id": "1"}))]))],
                vec![call("1", "{}")],
            ),
            (
                "nothing that is known",
                vec![
                    json!({}),
                    json!([]),
                    json!("a"),
                    json!({"candidates": []}),
                    json!({"candidates": [{"content": {}}]}),
                    json!({"modelVersion": "m", "responseId": "r", "promptFeedback": {}}),
                    parts(
                        json!([{"functionCall": {"args": {}}}, {"inlineData": {"data": "AAAA"}}, {"new": 1}, 7]),
                    ),
                    end("FINISH_REASON_UNSPECIFIED"),
                ],
                vec![],
            ),
        ];
        for (name, pieces, expected) in cases {
            assert_eq!(run(&pieces), expected, "{name}");
        }
    }

    #[test]
    fn signatures_are_kept_with_the_end() {
        let pieces = [
            parts(json!([{"text": "Hm.", "thought": true}, {"text": "a"}])),
            parts(json!([{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S1"}])),
            parts(
                json!([{"functionCall": {"name": "f", "id": "2"}}, {"text": "", "thought_signature": "S2"}]),
            ),
            end("STOP"),
        ];
        let kept = json!([
            {"text": 1},
            {"functionCall": "made-0", "thoughtSignature": "S1"},
            {"functionCall": "2"},
            {"text": 0, "thoughtSignature": "S2"},
        ]);
        let data = json!({"model": "gemini-3.5-flash", "parts": kept});
        let private = Ok(Event::Private(PrivatePart { provider: "gemini".into(), data }));
        assert_eq!(
            run(&pieces),
            [text("a"), call("made-0", "{}"), call("2", "{}"), private, finished(Finish::Stop)]
        );
    }

    #[test]
    fn a_search_and_its_pages_are_told_once() {
        let page = |uri: &str, title: &str| json!({"web": {"uri": uri, "title": title}});
        let grounding = |queries: Value, pages: Value| {
            let metadata =
                json!({"webSearchQueries": queries, "groundingChunks": pages, "groundingSupports": []});
            json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "groundingMetadata": metadata}]})
        };
        let pieces = [
            parts(json!([{"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s"}}])),
            grounding(json!(["q"]), json!([page("https://a", "A"), page("https://b", "")])),
            grounding(
                json!(["q"]),
                json!([page("https://a", "A"), {"maps": {}}, page("", "C"), page("https://c", "C")]),
            ),
        ];
        let page = |title: &str, url: &str| Source { title: title.into(), url: url.into() };
        let found = |sources: &[Source]| {
            Ok(Event::Found(HostedSearch { queries: vec!["q".into()], sources: sources.to_vec() }))
        };
        let expected = [
            hosted(),
            text("a"),
            found(&[page("A", "https://a"), page("https://b", "https://b")]),
            source("A", "https://a"),
            source("https://b", "https://b"),
            text("a"),
            source("C", "https://c"),
        ];
        assert_eq!(run(&pieces), expected);
        assert_eq!(run(&[grounding(json!(["q"]), json!([]))]), [text("a"), hosted(), found(&[])]);
        assert_eq!(run(&[parts(json!([{"toolCall": {"toolType": "URL_CONTEXT"}}]))]), []);
    }

    #[test]
    fn every_end_is_known() {
        let filtered = |words: &str| finished(Finish::Filtered(words.into()));
        let cases = [
            ("STOP", Err(ProviderError::Garbled("the model stopped before its first word".into()))),
            ("MAX_TOKENS", finished(Finish::Length)),
            ("SAFETY", filtered("Google's safety filter stopped the answer")),
            ("RECITATION", filtered("the answer would repeat a text of others too closely")),
            ("PROHIBITED_CONTENT", filtered("the answer would hold content that Google prohibits")),
            ("OTHER", filtered("the model stopped and Google does not say why")),
            ("NOT_INVENTED_YET", filtered("Google stopped the answer: NOT_INVENTED_YET")),
            (
                "MALFORMED_FUNCTION_CALL",
                Err(ProviderError::Garbled("the model wrote a call of a tool that is none".into())),
            ),
            (
                "MISSING_THOUGHT_SIGNATURE",
                Err(ProviderError::Garbled("a call lacks its thought signature".into())),
            ),
        ];
        for (reason, expected) in cases {
            assert_eq!(run(&[end(reason)]), [expected], "{reason}");
        }
    }

    #[test]
    fn what_comes_behind_a_reason_to_end_counts() {
        let piece = |part: Value, reason: &str| json!({"candidates": [{"content": {"parts": [part]}, "finishReason": reason}]});
        let counted = || {
            Ok(Event::Completed {
                finish: Finish::Stop,
                usage: Some(Usage { input: 9, cached: 0, output: 2 }),
            })
        };
        let count = json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2}});
        let f = json!({"functionCall": {"name": "f", "id": "1"}});
        let page = json!({"candidates": [{"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a"}}]}}]});
        let cases = [
            (
                "a reason in each",
                vec![piece(json!({"text": "a"}), "STOP"), piece(json!({"text": "b"}), "STOP")],
                vec![text("a"), text("b"), finished(Finish::Stop)],
            ),
            (
                "a reason before all",
                vec![end("STOP"), piece(json!({"text": "a"}), "")],
                vec![text("a"), finished(Finish::Stop)],
            ),
            (
                "a call",
                vec![piece(json!({"text": "a"}), "STOP"), piece(f, "STOP")],
                vec![text("a"), call("1", "{}"), finished(Finish::Stop)],
            ),
            (
                "a thought before",
                vec![
                    piece(json!({"text": "hm", "thought": true}), "STOP"),
                    piece(json!({"text": "a"}), "STOP"),
                ],
                vec![text("a"), finished(Finish::Stop)],
            ),
            ("the count", vec![piece(json!({"text": "a"}), "STOP"), count], vec![text("a"), counted()]),
            (
                "a page",
                vec![piece(json!({"text": "a"}), "STOP"), page],
                vec![text("a"), source("https://a", "https://a"), finished(Finish::Stop)],
            ),
            (
                "the last reason wins",
                vec![piece(json!({"text": "a"}), "STOP"), end("MAX_TOKENS")],
                vec![text("a"), finished(Finish::Length)],
            ),
            (
                "a reason that is not known",
                vec![piece(json!({"text": "a"}), "NOT_INVENTED_YET")],
                vec![text("a"), finished(Finish::Stop)],
            ),
        ];
        for (name, pieces, expected) in cases {
            assert_eq!(run(&pieces), expected, "{name}");
        }
    }

    #[test]
    fn a_blocked_question_is_explained() {
        let cases = [
            ("SAFETY", "Google's safety filter blocked the question"),
            ("PROHIBITED_CONTENT", "the question holds content that Google prohibits"),
            ("OTHER", "Google blocked the question and does not say why"),
            ("NEW", "Google blocked the question: NEW"),
        ];
        for (reason, words) in cases {
            let piece =
                json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 4}});
            let usage = Some(Usage { input: 4, cached: 0, output: 0 });
            let finish = Finish::Filtered(words.into());
            assert_eq!(run(&[piece]), [Ok(Event::Completed { finish, usage })], "{reason}");
        }
    }

    #[test]
    fn tokens_of_thoughts_and_of_googles_tools_count() {
        let early = json!({"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}});
        let last = json!({
            "candidates": [{"finishReason": "MAX_TOKENS"}],
            "usageMetadata": {
                "promptTokenCount": 9, "cachedContentTokenCount": 4, "toolUsePromptTokenCount": 100,
                "candidatesTokenCount": 3, "thoughtsTokenCount": 20, "totalTokenCount": 132,
            },
        });
        let told = |usage| [Ok(Event::Completed { finish: Finish::Length, usage: Some(usage) })];
        assert_eq!(run(&[early.clone(), last]), told(Usage { input: 109, cached: 4, output: 23 }));
        assert_eq!(run(&[early, end("MAX_TOKENS")]), told(Usage { input: 9, cached: 0, output: 0 }));
    }
}
