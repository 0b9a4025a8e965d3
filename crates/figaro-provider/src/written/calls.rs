//! Calls that a model's template writes as text. Called by [`super`] only.

use serde_json::{Map, Value};
use ulid::Ulid;

use crate::loose;
use crate::offered::{Offered, takes_text};
use figaro_domain::tool::Call;

type CallObject = Map<String, Value>;

/// Meaning of a text with marks of calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WrittenCalls {
    /// Calls, each of an offered tool.
    Calls(Vec<Call>),
    /// Calls, at least one of which is unreadable.
    Garbled,
    /// Text that mentions the marks.
    Text,
}

/// End marks of templates.
pub(super) const ENDS: [&str; 13] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<|return|>",
    "<|end|>",
    "<|im_start|>",
    "<｜end▁of▁sentence｜>",
    "[EOS]",
    "<|call|>",
];
/// Marks around calls and between them.
const MARKS: [&str; 24] = [
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>",
    "</tool_calls>",
    "<function_call>",
    "</function_call>",
    "<function_calls>",
    "</function_calls>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<｜DSML｜function_calls>",
    "</｜DSML｜function_calls>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<|channel|>commentary to=",
    "<|channel|>analysis to=",
];
/// Marks that the name of a call may follow.
const BEFORE_NAMES: [&str; 5] = [
    "<|tool_call_begin|>",
    "<｜tool▁call▁begin｜>",
    "[TOOL_CALLS]",
    "<|channel|>commentary to=",
    "<|channel|>analysis to=",
];
/// Separators between a name and its arguments, or before the name.
const BETWEEN: [&str; 8] = [
    "<|tool_call_argument_begin|>",
    "<｜tool▁sep｜>",
    "[ARGS]",
    "```json",
    "```",
    "function<",
    "<|constrain|>json",
    "<|message|>",
];
/// Calls with a tagged name: opening, end of the name, and end of the call.
const TAGS: [(&str, char, &str); 4] = [
    ("<function=", '>', "</function>"),
    ("<invoke name=\"", '"', "</invoke>"),
    ("<｜DSML｜invoke name=\"", '"', "</｜DSML｜invoke>"),
    ("<function name=\"", '"', "</function>"),
];
/// Tagged arguments: opening, end of the name, and end of the argument.
const ARGUMENTS: [(&str, char, &str); 3] = [
    ("<parameter=", '>', "</parameter>"),
    ("<parameter name=\"", '"', "</parameter>"),
    ("<｜DSML｜parameter name=\"", '"', "</｜DSML｜parameter>"),
];

/// Returns the marks that calls in text begin with.
fn openers() -> impl Iterator<Item = &'static str> {
    let is_end = |mark: &&str| mark.starts_with("</") || mark.contains("end");
    MARKS.into_iter().filter(move |mark| !is_end(mark)).chain(TAGS.iter().take(3).map(|(open, ..)| *open))
}

/// Returns `true` if a text begins with a mark of a call.
pub(super) fn begins_call(text: &str) -> bool {
    openers().any(|mark| text.starts_with(mark))
}

/// Returns `true` if a text is the beginning of such a mark.
pub(super) fn may_begin_call(text: &str) -> bool {
    openers().any(|mark| mark.starts_with(text))
}

/// Reads the calls of a text that begins with one of their marks.
pub(super) fn read(text: &str, offered: &Offered) -> WrittenCalls {
    let mut reader = CallParser { left: text, offered, calls: Vec::new(), is_named: false };
    match reader.all() {
        Some(()) if !reader.calls.is_empty() => WrittenCalls::Calls(reader.calls),
        _ if is_about(text) => WrittenCalls::Text,
        _ => WrittenCalls::Garbled,
    }
}

/// Returns `true` for text about the marks: words follow the first marks, or the last.
fn is_about(text: &str) -> bool {
    let (mut inner, mut is_named) = (text, false);
    while let Some(mark) = MARKS.iter().find(|mark| inner.starts_with(**mark)) {
        inner = inner.split_at(mark.len()).1.trim_start();
        is_named = BEFORE_NAMES.contains(mark);
    }
    if TAGS.iter().any(|(open, ..)| inner.starts_with(open)) {
        inner = inner.split_once('>').map_or("", |(_, behind)| behind);
    }
    let is_words = |text: &str| {
        let text = text.trim();
        text.starts_with(char::is_alphabetic) && text.contains(char::is_whitespace)
    };
    let first_line = inner.lines().next().unwrap_or_default();
    let begins = is_words(first_line) && !(is_named && first_line.contains('{'));
    let behind = inner.rfind(['>', '}', ']']).and_then(|at| inner.get(at + 1..)).unwrap_or_default();
    begins || is_words(behind)
}

struct CallParser<'a> {
    left: &'a str,
    offered: &'a Offered,
    calls: Vec<Call>,
    /// `true` if a name comes next.
    is_named: bool,
}

impl CallParser<'_> {
    fn all(&mut self) -> Option<()> {
        loop {
            self.left = self.left.trim_start();
            if self.left.is_empty() {
                return Some(());
            }
            if let Some(mark) = MARKS.iter().chain(&ENDS).find(|mark| self.left.starts_with(**mark)) {
                self.left = self.left.split_at(mark.len()).1;
                self.is_named |= BEFORE_NAMES.contains(mark);
                continue;
            }
            match self.left.starts_with(['{', '[']) {
                true => self.json()?,
                false if self.is_named => self.named()?,
                false => self.tagged()?,
            }
            self.is_named = false;
        }
    }

    /// Reads the next JSON value.
    fn value(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.left).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.left = self.left.get(values.byte_offset()..)?;
        Some(value)
    }

    /// Reads one or several calls as JSON.
    fn json(&mut self) -> Option<()> {
        let value = self.value()?;
        let all = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        all.iter().try_for_each(|call| {
            let call = if call["function"].is_object() { &call["function"] } else { call };
            let arguments =
                ["arguments", "parameters", "args", "input"].iter().find_map(|name| call.get(name));
            self.call(call["name"].as_str()?, &loose::text(arguments.unwrap_or(&Value::Null)))
        })
    }

    /// Reads a name followed by its arguments.
    fn named(&mut self) -> Option<()> {
        let (head, _) = self.left.split_once('{')?;
        self.left = self.left.get(head.len()..)?;
        let head = BETWEEN.iter().fold(head.to_owned(), |head, mark| head.replace(mark, " "));
        let arguments = self.value()?;
        self.left = self.left.trim_start().trim_start_matches("```");
        self.call(head.split_whitespace().next_back()?, &arguments.to_string())
    }

    /// Reads a call with its name in a tag, and its arguments in tags or as JSON.
    fn tagged(&mut self) -> Option<()> {
        let (name, inner, left) = element(self.left, &TAGS)?;
        self.left = left;
        let mut inner = inner.trim();
        if inner.starts_with('{') {
            return self.call(name, inner);
        }
        let tool = self.offered.meant(name)?;
        let mut arguments = CallObject::new();
        while !inner.is_empty() {
            let (key, written, left) = element(inner, &ARGUMENTS)?;
            let written = written.strip_prefix('\n').unwrap_or(written);
            let written = written.strip_suffix('\n').unwrap_or(written);
            let read = loose::value(written.trim()).filter(|_| !takes_text(tool, key));
            arguments.insert(key.to_owned(), read.unwrap_or_else(|| written.into()));
            inner = left.trim_start();
        }
        self.call(name, &Value::from(arguments).to_string())
    }

    fn call(&mut self, name: &str, arguments: &str) -> Option<()> {
        let name = self.offered.meant(name)?.name.clone();
        let arguments = loose::arguments(arguments.to_owned());
        let is_object = serde_json::from_str::<CallObject>(&arguments).is_ok();
        let call = Call { id: format!("call_{}", Ulid::new()), name, arguments };
        is_object.then(|| self.calls.push(call))
    }
}

/// Returns the name and the inner text of an element of one of these kinds, and the text after it.
fn element<'a>(text: &'a str, kinds: &[(&str, char, &str)]) -> Option<(&'a str, &'a str, &'a str)> {
    let (open, end_of_name, close) = kinds.iter().find(|(open, ..)| text.starts_with(open))?;
    let (name, behind) = text.strip_prefix(open)?.split_once(*end_of_name)?;
    let behind = if *end_of_name == '>' { behind } else { behind.split_once('>')?.1 };
    let (inner, left) = behind.split_once(close)?;
    Some((name, inner, left))
}
