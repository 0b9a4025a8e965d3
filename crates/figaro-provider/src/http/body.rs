//! JSON values of a streamed answer, from a connection that may cut it anywhere. One reader serves every dialect:
//! servers send events or lines whatever their dialect requires, and gateways in front of them send one JSON document
//! or a web page.
//!
//! Text that is no JSON is skipped. Faulty JSON is read as far as its meaning is clear; otherwise the answer counts
//! as incomplete.

use futures::{Stream, StreamExt, future, stream};
use serde_json::Value;
use tracing::warn;

use super::decode::ValueStream;
use super::error;
use crate::{ProviderError, loose};

/// Maximum size of one piece of an answer, in bytes. None is longer, and a provider must not fill our memory.
const MAX_PIECE_BYTES: usize = 4 * 1024 * 1024;
/// End mark of a stream in the OpenAI dialects; read as a value of its own.
pub(crate) const DONE: &str = "[DONE]";
/// Byte order mark. It belongs at the start of a text, but some servers put one before each event.
const MARK: &[u8] = b"\xEF\xBB\xBF";
const FIELDS: [&str; 5] = ["data", "event", "id", "retry", "error"];
/// Fields that identify an answer, one or more per dialect.
const OF_ANSWERS: [&str; 8] =
    ["choices", "candidates", "usageMetadata", "message", "output", "type", "done", "delta"];

type BodyEvents = Vec<Result<Value, ProviderError>>;

/// Reads the values of an answer in order; the first error ends them. An incomplete last value or a failing
/// connection means that the answer broke off. A body without any answer comes from something that is no model.
pub(crate) fn values<S, B, E>(bytes: S) -> ValueStream
where
    S: Stream<Item = Result<B, E>> + Send + 'static,
    B: AsRef<[u8]> + Send + 'static,
    E: Send + 'static,
{
    let pieces = bytes.map(Some).chain(stream::once(future::ready(None)));
    let values = pieces.scan(BodyReader::default(), |body, piece| {
        future::ready(Some(match piece {
            Some(Ok(piece)) => body.more(piece.as_ref()),
            Some(Err(_)) => vec![Err(ProviderError::Cut("the connection broke".into()))],
            None => body.end(),
        }))
    });
    values.flat_map(stream::iter).boxed()
}

/// State of the reader of a body.
#[derive(Debug, Default)]
struct BodyReader {
    /// Bytes of the current line.
    line: Vec<u8>,
    /// `true` after a carriage return. A line feed right after it ends no further line.
    after_return: bool,
    event: PendingEvent,
    /// Body so far, if it is one JSON document on several lines.
    document: Option<Vec<u8>>,
    seen: BodyKinds,
}

#[derive(Debug, Default)]
struct PendingEvent {
    data: Vec<u8>,
    lines: usize,
    is_error: bool,
}

/// Kinds of content in a body so far.
#[derive(Debug, Default)]
struct BodyKinds {
    /// `true` after a comment or a field of an event.
    events: bool,
    /// `true` after a value that looks like part of an answer.
    answer: bool,
    /// `true` after anything else.
    other: bool,
    /// `true` after unreadable JSON. If this is an answer, it is incomplete.
    broken: bool,
}

impl BodyReader {
    /// Returns the values completed by these bytes.
    fn more(&mut self, bytes: &[u8]) -> BodyEvents {
        let mut told = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let held = self.document.as_ref().map_or(self.event.data.len(), Vec::len);
            if held + self.line.len() + piece.len() > MAX_PIECE_BYTES {
                let words = format!("a piece of the answer is longer than {MAX_PIECE_BYTES} bytes");
                told.push(Err(ProviderError::Refused(words)));
                return told;
            }
            let is_rest_of_end = self.after_return && piece == b"\n";
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            self.after_return = end == Some(b'\r');
            self.line.extend_from_slice(text);
            if end.is_some() && !is_rest_of_end {
                let line = std::mem::take(&mut self.line);
                told.extend(self.line(&line, true));
            }
        }
        told
    }

    /// Returns the values completed by the end of the body. The last line may lack its terminator, and the last event
    /// the empty line after it.
    fn end(&mut self) -> BodyEvents {
        let line = std::mem::take(&mut self.line);
        let mut told = self.line(&line, false);
        if let Some(document) = self.document.take() {
            told.extend(self.json(&document, false));
        }
        let has_line = !line.trim_ascii().is_empty() && !line.starts_with(b":");
        let is_open = has_line || !self.event.data.is_empty();
        let last = self.dispatch();
        let is_half = is_open && last.iter().any(Result::is_err) && told.is_empty();
        told.extend(if is_half && self.seen.broken { vec![Err(cut())] } else { last });
        if told.is_empty() && is_open && (self.seen.events || self.seen.answer) {
            return vec![Err(cut())];
        }
        let is_foreign = self.seen.other && !self.seen.events && !self.seen.answer;
        if is_foreign && !told.iter().any(Result::is_err) {
            let advice = "the answer is no stream of events; is the base URL right?";
            return vec![Err(ProviderError::Foreign(advice.into()))];
        }
        told
    }

    fn line(&mut self, line: &[u8], is_whole: bool) -> BodyEvents {
        let line = line.strip_prefix(MARK).unwrap_or(line);
        if let Some(document) = &mut self.document {
            document.extend_from_slice(line);
            document.push(b'\n');
            return Vec::new();
        }
        let text = line.trim_ascii();
        match text.first() {
            None if is_whole => self.dispatch().into_iter().collect(),
            None => Vec::new(),
            Some(b'{' | b'[') => self.json(text, is_whole),
            Some(_) => self.field(text, is_whole),
        }
    }

    /// Reads a line of JSON. The first line of a body may begin a document.
    fn json(&mut self, line: &[u8], is_whole: bool) -> BodyEvents {
        let is_first = !self.seen.events && !self.seen.answer && !self.seen.other;
        match serde_json::from_slice::<Value>(line) {
            Err(error) if is_first && is_whole && error.is_eof() => {
                self.document = Some(line.to_vec());
                Vec::new()
            }
            Err(error) if !is_whole && error.is_eof() => vec![Err(cut())],
            _ => self.value(line),
        }
    }

    /// Reads a field of an event, or a comment.
    fn field(&mut self, line: &[u8], is_whole: bool) -> BodyEvents {
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(at);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let Ok(name) = str::from_utf8(name) else {
            self.seen.other = true;
            return Vec::new();
        };
        let is_begun = !is_whole && FIELDS.iter().any(|field| field.starts_with(name));
        let is_field = name.is_empty() || is_begun || FIELDS.contains(&name.trim_end());
        self.seen.events |= is_field;
        self.seen.other |= !is_field;
        // Some servers omit the empty lines. Data that is complete in one line is then an event of its own.
        let is_next = name.trim_end() == "data" && self.event.lines == 1 && is_json(&self.event.data);
        let told = if is_next { self.dispatch() } else { Vec::new() };
        let event = &mut self.event;
        match name.trim_end() {
            "data" | "error" => {
                if !event.data.is_empty() {
                    event.data.push(b'\n');
                }
                event.data.extend_from_slice(value);
                event.lines += 1;
                event.is_error |= name == "error";
            }
            "event" => event.is_error |= value.trim_ascii() == b"error",
            _ => {}
        }
        told
    }

    /// Ends an event at an empty line. An event without data is ignored, unless it is an error.
    fn dispatch(&mut self) -> BodyEvents {
        let PendingEvent { data, is_error, .. } = std::mem::take(&mut self.event);
        if !is_error {
            return if data.trim_ascii().is_empty() { Vec::new() } else { self.value(&data) };
        }
        let text = String::from_utf8_lossy(&data);
        let error = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.trim()));
        vec![Err(error::told(&error).unwrap_or_else(|| error::from_stream(&error)))]
    }

    /// Returns a value, or the values of a list. Text that is no JSON is skipped. A broken character affects only
    /// itself.
    fn value(&mut self, text: &[u8]) -> BodyEvents {
        let text = String::from_utf8_lossy(text);
        let text = text.trim().trim_start_matches('\u{feff}');
        // A gateway may nest one event in another.
        let text = text.strip_prefix("data:").unwrap_or(text).trim();
        if text == DONE {
            return vec![Ok(DONE.into())];
        }
        let Some(value) = loose::value(text) else {
            self.seen.other = true;
            if text.starts_with(['{', '[']) {
                warn!(bytes = text.len(), "a piece of an answer cannot be read");
                self.seen.broken = true;
            }
            let is_answer = self.seen.events || self.seen.answer;
            return if is_answer && self.seen.broken { vec![Err(unreadable())] } else { Vec::new() };
        };
        let values = match value {
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => items,
            value => vec![value],
        };
        values
            .into_iter()
            .map(|value| match error::told(&value) {
                Some(error) => Err(error),
                None => {
                    let is_answer = OF_ANSWERS.iter().any(|field| value.get(field).is_some());
                    self.seen.answer |= is_answer;
                    self.seen.other |= !is_answer;
                    if is_answer && self.seen.broken { Err(unreadable()) } else { Ok(value) }
                }
            })
            .collect()
    }
}

fn is_json(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| loose::value(text).is_some())
}

fn unreadable() -> ProviderError {
    ProviderError::Cut("a piece of the answer cannot be read".into())
}

fn cut() -> ProviderError {
    ProviderError::Cut("the answer ended within a line".into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(pieces: Vec<Result<Vec<u8>, ()>>) -> BodyEvents {
        futures::executor::block_on(values(stream::iter(pieces)).collect())
    }

    fn whole(text: impl AsRef<[u8]>) -> BodyEvents {
        read(vec![Ok(text.as_ref().to_vec())])
    }

    fn broken() -> Result<Value, ProviderError> {
        Err(cut())
    }

    /// Reads it whole, byte by byte, and cut in two at each place.
    fn all_ways(text: &[u8]) -> BodyEvents {
        let told = whole(text);
        assert_eq!(read(text.iter().map(|byte| Ok(vec![*byte])).collect()), told, "byte by byte");
        for at in 0..=text.len() {
            let (start, end) = text.split_at(at);
            assert_eq!(read(vec![Ok(start.to_vec()), Ok(end.to_vec())]), told, "cut at {at}");
        }
        told
    }

    #[test]
    fn events_are_read_however_they_are_written() {
        let a = || Ok(json!({"delta": "é👩‍👧"}));
        let cases: [(&str, &str); 16] = [
            ("as all do", "data: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("a mark first", "\u{feff}data: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("a mark before a comment", "\u{feff}: hello\n\ndata: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("a mark on a line of its own", "\u{feff}\ndata: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("a mark within the data", "data: \u{feff}{\"delta\": \"é👩‍👧\"}\n\n"),
            ("one within another", "data: data: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("no space", "data:{\"delta\":\"é👩‍👧\"}\n\n"),
            ("line ends of two bytes", "event: x\r\ndata: {\"delta\": \"é👩‍👧\"}\r\n\r\n"),
            ("line ends of old", "event: x\rdata: {\"delta\": \"é👩‍👧\"}\r\r"),
            ("several lines", "data: {\"delta\":\ndata: \"é👩‍👧\"}\n\n"),
            ("comments", ": OPENROUTER PROCESSING\n\n:\n\ndata: {\"delta\": \"é👩‍👧\"}\n: x\n\n"),
            ("other fields", "id: 7\nretry: soon\nretry: 1\nid: 8\nwhat\ndata: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("space before fields", "  data: {\"delta\": \"é👩‍👧\"}\n\n"),
            ("no empty line at the end", "data: {\"delta\": \"é👩‍👧\"}\n"),
            ("no line end at the end", "data: {\"delta\": \"é👩‍👧\"}"),
            ("not JSON before", "data: hello\n\ndata: {\"delta\": \"é👩‍👧\"}\n\n"),
        ];
        for (name, text) in cases {
            assert_eq!(all_ways(text.as_bytes()), [a()], "{name}");
        }
        let marks = "\u{feff}data: {\"delta\": 1}\n\n\u{feff}data: {\"delta\": 2}\n\ndata: [DONE]\n\n";
        let told = [Ok(json!({"delta": 1})), Ok(json!({"delta": 2})), Ok(json!(DONE))];
        assert_eq!(all_ways(marks.as_bytes()), told);
        let no_empty_lines = "data: {\"delta\": 1}\ndata: {\"delta\": 2}\ndata: [DONE]\n";
        assert_eq!(all_ways(no_empty_lines.as_bytes()), told);
        let half = b"data: {\"delta\": \"\xd0\"}\n\n";
        assert_eq!(all_ways(half), [Ok(json!({"delta": "\u{fffd}"}))]);
    }

    #[test]
    fn lines_and_documents_are_read_as_well() {
        let cases: [(&str, BodyEvents); 10] = [
            (
                "{\"done\": 1}\n\n  \r\nnot JSON\n{\"done\": 2}",
                vec![Ok(json!({"done": 1})), Ok(json!({"done": 2}))],
            ),
            (
                "\u{feff}{\"done\": 1}\n\u{feff}{\"done\": 2}\n",
                vec![Ok(json!({"done": 1})), Ok(json!({"done": 2}))],
            ),
            ("{\"done\":\n{\"x\": 1}\n}", vec![Ok(json!({"done": {"x": 1}}))]),
            (
                "\u{feff}[{\"candidates\": 1},\r\n{\"candidates\": 2}\r\n]\r\n",
                vec![Ok(json!({"candidates": 1})), Ok(json!({"candidates": 2}))],
            ),
            (
                "{\n \"error\": {\"message\": \"m\", \"code\": 503}\n}\n",
                vec![Err(ProviderError::Unavailable("m".into()))],
            ),
            (
                "{\"done\": 1}\n{\"a\":\n{\"done\": 2}\n",
                vec![Ok(json!({"done": 1})), Err(unreadable()), Err(unreadable())],
            ),
            ("{\"done\": 1}\n{\"a\":", vec![Ok(json!({"done": 1})), broken()]),
            ("{\"done\": 1", vec![broken()]),
            (
                "data: {\"delta\": 1}\n\n{\"error\": \"m\"}\n",
                vec![Ok(json!({"delta": 1})), Err(ProviderError::Unavailable("m".into()))],
            ),
            ("", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(all_ways(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_piece_that_is_not_quite_json_is_read_or_the_answer_lacks_it() {
        let end = "data: {\"delta\": 2}\n\n";
        let cases = [
            ("{\"delta\": \"not\", \"logprobs\": NaN}", Ok(json!({"delta": "not", "logprobs": null}))),
            ("{\"delta\": \"not\\ud83d\"}", Ok(json!({"delta": "not\u{fffd}"}))),
            ("{\"delta\": \"a\tb\"}", Ok(json!({"delta": "a\tb"}))),
            ("{\"delta\": 1e999}", Ok(json!({"delta": null}))),
            ("{\"delta\": \"not", Err(unreadable())),
            ("{\"delta\": not}", Err(unreadable())),
            ("[{\"delta\": 1}", Err(unreadable())),
        ];
        for (piece, expected) in cases {
            let told = all_ways(format!("data: {piece}\n\n{end}").as_bytes());
            let rest = if expected.is_ok() { Ok(json!({"delta": 2})) } else { Err(unreadable()) };
            assert_eq!(told, [expected.clone(), rest], "{piece}");
            let lines = all_ways(format!("{{\"done\": 1}}\n{piece}\n").as_bytes());
            assert_eq!(lines, [Ok(json!({"done": 1})), expected], "{piece} as a line");
        }
        assert_eq!(all_ways(b"{oops}\n{\"done\": 2}\n"), [Err(unreadable())]);
    }

    #[test]
    fn what_is_no_answer_is_told_from_one_that_broke_off() {
        let foreign = || {
            Err(ProviderError::Foreign("the answer is no stream of events; is the base URL right?".into()))
        };
        let cases = [
            ("<html>\n<b>Hi</b>: x\n</html>", vec![foreign()]),
            ("Service Unavailable", vec![foreign()]),
            ("{}", vec![Ok(json!({})), foreign()]),
            ("{\"hello\": 1}\n", vec![Ok(json!({"hello": 1})), foreign()]),
            ("\n \n\r\n", vec![]),
            (": hello\n\n", vec![]),
            ("da", vec![broken()]),
            ("data: {\"delta\"", vec![broken()]),
            ("data: {\"delta\": 1}\n\nevent: x\n", vec![Ok(json!({"delta": 1}))]),
            ("data: {\"delta\": 1}\n\n: hel", vec![Ok(json!({"delta": 1}))]),
        ];
        for (text, expected) in cases {
            let told = all_ways(text.as_bytes());
            assert_eq!(told.last(), expected.last(), "{text:?}");
        }
    }

    #[test]
    fn errors_are_heard_in_every_shape() {
        let down = || ProviderError::Unavailable("m".into());
        let limited = || ProviderError::RateLimited { retry_after: None, message: "m".into() };
        let cases = [
            ("event: error\ndata: {\"message\":\"m\",\"code\":503}\n\n", down()),
            (
                "event: error\ndata: {\"error\":{\"message\":\"m\",\"type\":\"rate_limit_error\"}}\n\n",
                limited(),
            ),
            ("event:error\r\ndata:m\r\n\r\n", down()),
            ("data: {\"message\":\"m\",\"code\":429}\nevent: error\n\n", limited()),
            ("error: {\"code\":503,\"message\":\"m\"}\n\n", down()),
            ("event: error\ndata: \n\n", ProviderError::Unavailable("the answer failed".into())),
            ("data: [{\"error\": {\"message\": \"m\", \"code\": 503}}]\n\n", down()),
            ("[{\"error\": {\"message\": \"m\", \"code\": 429}}]", limited()),
            ("data: {\"detail\": \"m\"}\n\n", down()),
            ("event: error\ndata: m", down()),
        ];
        for (text, expected) in cases {
            assert_eq!(all_ways(text.as_bytes()), [Err(expected)], "{text:?}");
        }
    }

    const TEXT: &str = "\u{feff}: a\r\n\r\ndata: {\"delta\": \"На 👩‍👧\"}\r\rid: 1\ndata: {\"type\":\ndata: 3}\n\n{\"done\": 1}\n";

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in prop::collection::vec(0..=TEXT.len(), 0..20)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in cuts.into_iter().chain([TEXT.len()]) {
                pieces.push(Ok(TEXT.as_bytes()[from..to].to_vec()));
                from = to;
            }
            let told = [Ok(json!({"delta": "На 👩‍👧"})), Ok(json!({"type": 3})), Ok(json!({"done": 1}))];
            prop_assert_eq!(read(pieces), told);
        }

        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(prop::sample::select(b"data: eventror[]{}\"\r\n\xef\xbb\xbf\xd0<".to_vec()), 0..60)) {
            let told = whole(&bytes);
            prop_assert_eq!(read(bytes.iter().map(|byte| Ok(vec![*byte])).collect()), told);
        }
    }

    #[test]
    fn a_connection_that_breaks_cuts_the_answer() {
        let told = read(vec![Ok(b"data: {\"delta\": 1}\n\ndata: {\"delta\": 2}\n".to_vec()), Err(())]);
        let broke = Err(ProviderError::Cut("the connection broke".into()));
        assert_eq!(told[..2], [Ok(json!({"delta": 1})), broke]);
    }

    #[test]
    fn a_piece_without_an_end_does_not_fill_the_memory() {
        let starts: [&[u8]; 4] = [b"", b"data: ", b"{", b"{\n"];
        for start in starts {
            let mut body = BodyReader::default();
            assert_eq!(body.more(start), []);
            let chunk = [vec![b' '; 64 * 1024 - 1], b"\n".to_vec()].concat();
            let chunk = if start.ends_with(b"\n") { chunk } else { vec![b' '; 64 * 1024] };
            let told = (0..65).map(|_| body.more(&chunk)).find(|told| !told.is_empty()).unwrap();
            assert!(matches!(told.as_slice(), [Err(ProviderError::Refused(_))]), "{told:?}");
        }
        let mut body = BodyReader::default();
        let line = [b"data: ".to_vec(), vec![b'x'; 64 * 1024], b"\n".to_vec()].concat();
        assert!((0..65).any(|_| !body.more(&line).is_empty()), "an event of many lines");
    }
}
