//! Calls as models' templates write them, read from text. Called by [`super`] only.

use serde_json::{Map, Value};
use ulid::Ulid;

use crate::loose;
use crate::offered::{Offered, takes_text};
use figaro_domain::tool::Call;

type Object = Map<String, Value>;

/// What a text with marks of calls is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Calls, each of a tool that was offered.
    Calls(Vec<Call>),
    /// Calls of which one cannot be made.
    Garbled,
    /// Text that speaks of the marks.
    Text,
}

/// Marks of an end.
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
/// Marks behind which the name of a call may stand.
const BEFORE_NAMES: [&str; 5] = [
    "<|tool_call_begin|>",
    "<｜tool▁call▁begin｜>",
    "[TOOL_CALLS]",
    "<|channel|>commentary to=",
    "<|channel|>analysis to=",
];
/// What stands between a name and its arguments, or before the name.
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
/// How a call with a name in a tag begins, what ends its name, and what ends the call.
const TAGS: [(&str, char, &str); 4] = [
    ("<function=", '>', "</function>"),
    ("<invoke name=\"", '"', "</invoke>"),
    ("<｜DSML｜invoke name=\"", '"', "</｜DSML｜invoke>"),
    ("<function name=\"", '"', "</function>"),
];
/// How an argument in a tag begins, what ends its name, and what ends the argument.
const ARGUMENTS: [(&str, char, &str); 3] = [
    ("<parameter=", '>', "</parameter>"),
    ("<parameter name=\"", '"', "</parameter>"),
    ("<｜DSML｜parameter name=\"", '"', "</｜DSML｜parameter>"),
];

/// What calls in text begin with.
fn openers() -> impl Iterator<Item = &'static str> {
    let is_end = |mark: &&str| mark.starts_with("</") || mark.contains("end");
    MARKS.into_iter().filter(move |mark| !is_end(mark)).chain(TAGS.iter().take(3).map(|(open, ..)| *open))
}

/// Whether a text begins with a mark of a call.
pub(super) fn begins_call(text: &str) -> bool {
    openers().any(|mark| text.starts_with(mark))
}

/// Whether it does once more has come.
pub(super) fn may_begin_call(text: &str) -> bool {
    openers().any(|mark| mark.starts_with(text))
}

/// The calls of a text that begins with one of their marks.
pub(super) fn read(text: &str, offered: &Offered) -> Written {
    let mut reader = Reader { left: text, offered, calls: Vec::new(), is_named: false };
    match reader.all() {
        Some(()) if !reader.calls.is_empty() => Written::Calls(reader.calls),
        _ if is_about(text) => Written::Text,
        _ => Written::Garbled,
    }
}

/// `true` for a text about the marks: words stand behind the first marks, or behind the last.
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

struct Reader<'a> {
    left: &'a str,
    offered: &'a Offered,
    calls: Vec<Call>,
    /// A name comes next.
    is_named: bool,
}

impl Reader<'_> {
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

    /// The JSON value that comes next.
    fn value(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.left).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.left = self.left.get(values.byte_offset()..)?;
        Some(value)
    }

    /// A call or several, as JSON.
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

    /// A name with its arguments behind it.
    fn named(&mut self) -> Option<()> {
        let (head, _) = self.left.split_once('{')?;
        self.left = self.left.get(head.len()..)?;
        let head = BETWEEN.iter().fold(head.to_owned(), |head, mark| head.replace(mark, " "));
        let arguments = self.value()?;
        self.left = self.left.trim_start().trim_start_matches("```");
        self.call(head.split_whitespace().next_back()?, &arguments.to_string())
    }

    /// A call whose name stands in a tag, with its arguments in tags or as JSON.
    fn tagged(&mut self) -> Option<()> {
        let (name, inner, left) = element(self.left, &TAGS)?;
        self.left = left;
        let mut inner = inner.trim();
        if inner.starts_with('{') {
            return self.call(name, inner);
        }
        let tool = self.offered.meant(name)?;
        let mut arguments = Object::new();
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
        let is_object = serde_json::from_str::<Object>(&arguments).is_ok();
        let call = Call { id: format!("call_{}", Ulid::new()), name, arguments };
        is_object.then(|| self.calls.push(call))
    }
}

/// The name, the inner text and what is behind an element that begins with one of these.
fn element<'a>(text: &'a str, kinds: &[(&str, char, &str)]) -> Option<(&'a str, &'a str, &'a str)> {
    let (open, end_of_name, close) = kinds.iter().find(|(open, ..)| text.starts_with(open))?;
    let (name, behind) = text.strip_prefix(open)?.split_once(*end_of_name)?;
    let behind = if *end_of_name == '>' { behind } else { behind.split_once('>')?.1 };
    let (inner, left) = behind.split_once(close)?;
    Some((name, inner, left))
}
