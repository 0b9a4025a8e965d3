//! Assembles calls from their pieces. Servers identify the call of a piece by an index, an id, a name, or not at all.
//! Some use one index for several calls, and some send a complete call twice. Used by the decoder.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::arguments::JsonArguments;
use crate::beside::beside;
use crate::loose::text;
use crate::offered::{Offered, UNNAMED};
use figaro_domain::tool::Call;

/// Maximum size kept of all calls of an answer, in bytes. It exceeds the limit of an answer, which applies later.
const MAX_BYTES: usize = 1024 * 1024;
/// Minimum size that a call counts as, in bytes. It bounds the calls that are searched for each piece to about a
/// thousand.
const CALL_BYTES: usize = 1024;

/// Calls of one answer so far, in the order they began.
#[derive(Debug, Default)]
pub(super) struct ChatCalls {
    begun: Vec<ChatPartialCall>,
    bytes: usize,
    offered: Offered,
}

#[derive(Debug, Default)]
struct CallDelta {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    more: Map<String, Value>,
}

/// All pieces of a call so far.
#[derive(Debug, Default)]
struct ChatPartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: JsonArguments,
    /// Extra fields, known only to the service.
    more: Map<String, Value>,
}

impl ChatCalls {
    /// Creates the calls of an answer whose model was offered these tools.
    pub(super) fn of(offered: Offered) -> Self {
        Self { offered, ..Self::default() }
    }

    /// Adds the calls in a piece of the answer.
    pub(super) fn absorb(&mut self, delta: &Value) {
        let sent = &delta["tool_calls"];
        let only = if sent.is_object() { std::slice::from_ref(sent) } else { &[] };
        let pieces = sent.as_array().map_or(only, Vec::as_slice);
        for (at, piece) in pieces.iter().enumerate() {
            self.add(CallDelta::of(piece, &piece["function"]), at == 0);
        }
        // Older form, for a single call.
        let only = &delta["function_call"];
        if pieces.is_empty() && only.is_object() {
            self.add(CallDelta::of(only, only), true);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Returns the size of the calls so far, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes.saturating_sub(self.begun.len() * CALL_BYTES)
    }

    /// Returns `true` if the calls exceed the maximum size that is kept.
    pub(super) const fn is_too_long(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Returns `true` if the arguments of all calls are complete.
    pub(super) fn are_whole(&self) -> bool {
        self.begun.iter().all(|call| call.arguments.is_object())
    }

    /// Returns all calls at the end of the answer, each with an unused id and with its extra fields.
    pub(super) fn end(&mut self, taken: &mut HashSet<String>) -> Vec<(Call, Map<String, Value>)> {
        let mut calls = Vec::new();
        let mut count = 0;
        for ChatPartialCall { id, name, arguments, more, .. } in std::mem::take(&mut self.begun) {
            let name = if name.is_empty() { UNNAMED.to_owned() } else { name };
            let call = Call { id: free(id, taken, &mut count), name, arguments: arguments.into_text() };
            calls.push((call, more));
        }
        calls
    }

    fn add(&mut self, piece: CallDelta, is_first: bool) {
        let more = if piece.more.is_empty() { 0 } else { Value::from(piece.more.clone()).to_string().len() };
        self.bytes += piece.id.len() + piece.name.len() + piece.arguments.len() + more;
        if self.is_too_long() {
            return;
        }
        match self.place(&piece, is_first) {
            Some(at) => self.join(piece, at),
            None => self.begin(piece),
        }
    }

    fn begin(&mut self, piece: CallDelta) {
        self.bytes += CALL_BYTES;
        self.begun.push(ChatPartialCall::of(piece));
    }

    /// Adds a piece to a call, or begins another call if that is impossible.
    fn join(&mut self, piece: CallDelta, at: usize) {
        let Some(known) = self.begun.get_mut(at) else { return };
        if let Some(piece) = known.join(piece, &self.offered) {
            // The piece may have taken over the name of the previous call.
            self.bytes += piece.name.len();
            self.begin(piece);
        }
    }

    /// Returns the call that a piece belongs to; `None` if it begins one. `is_first` is `true` for the first of the
    /// pieces that came together.
    fn place(&self, piece: &CallDelta, is_first: bool) -> Option<usize> {
        let same_index = |known: &ChatPartialCall| piece.index.is_some() && known.index == piece.index;
        let clashes =
            |known: &ChatPartialCall| piece.index.is_some() && known.index.is_some() && !same_index(known);
        let same_id =
            |known: &ChatPartialCall| !piece.id.is_empty() && known.id == piece.id && !clashes(known);
        if let Some(at) = self.begun.iter().rposition(same_id) {
            return Some(at);
        }
        let begins = !piece.name.is_empty();
        if let Some(at) = self.begun.iter().rposition(same_index) {
            // If all calls have the same index, the id tells them apart.
            let is_other = |known: &ChatPartialCall| begins && !piece.id.is_empty() && !known.id.is_empty();
            return (!self.begun.get(at).is_some_and(is_other)).then_some(at);
        }
        let last = self.begun.len().checked_sub(1)?;
        if !begins {
            return Some(last);
        }
        let is_nameless = piece.id.is_empty() && piece.index.is_none();
        let repeats = self.begun.last().is_some_and(|known| known.name == piece.name);
        (is_nameless && is_first && repeats).then_some(last)
    }
}

impl CallDelta {
    fn of(piece: &Value, function: &Value) -> Self {
        Self {
            index: piece["index"].as_u64(),
            id: text(&piece["id"]),
            name: text(&function["name"]),
            arguments: text(&function["arguments"]),
            more: more(piece, function),
        }
    }
}

/// Returns the extra fields of a piece.
fn more(piece: &Value, function: &Value) -> Map<String, Value> {
    let mut more = beside(piece, &["index", "id", "type", "function", "name", "arguments"]);
    let inner = beside(function, &["index", "id", "name", "arguments"]);
    if !inner.is_empty() && function != piece {
        more.insert("function".to_owned(), inner.into());
    }
    more
}

impl ChatPartialCall {
    fn of(CallDelta { index, id, name, arguments: piece, more }: CallDelta) -> Self {
        let mut arguments = JsonArguments::default();
        arguments.push(&piece);
        Self { index, id, name, arguments, more }
    }

    /// Adds a piece. Returns it if it must be a call of its own. A repetition is ignored.
    fn join(&mut self, mut piece: CallDelta, offered: &Offered) -> Option<CallDelta> {
        if !piece.arguments.trim().is_empty() && self.arguments.is_object() {
            if self.arguments.is(&piece.arguments) {
                self.more.append(&mut piece.more);
                return None;
            }
            let stands_in = self.arguments.is_empty_object() && piece.name.is_empty();
            if !stands_in {
                let name = if piece.name.is_empty() { self.name.clone() } else { piece.name };
                return Some(CallDelta { name, ..piece });
            }
            self.arguments = JsonArguments::default();
        }
        self.more.append(&mut piece.more);
        self.index = self.index.or(piece.index);
        if !self.arguments.has_begun() && offered.goes_on(&self.name, &piece.name) {
            self.name.push_str(&std::mem::take(&mut piece.name));
        }
        self.arguments.push(&piece.arguments);
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() {
            self.name = piece.name;
        }
        None
    }
}

/// Returns `true` if a text is a complete JSON object.
pub(super) fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Returns the id if it is unused, else the next generated one. The same conversation gets the same ids. `count` is
/// the number of the last generated id.
fn free(id: String, taken: &mut HashSet<String>, count: &mut usize) -> String {
    if !id.is_empty() && taken.insert(id.clone()) {
        return id;
    }
    *count = taken.len().max(*count);
    loop {
        *count += 1;
        let own = format!("call_{count}");
        if taken.insert(own.clone()) {
            return own;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::offered::tests::offering;

    /// The calls of these deltas in short: `a:f{}` is a call of `f` with the id `a`.
    fn made(deltas: &[Value]) -> String {
        let mut calls = ChatCalls::of(offering(&["add_note"]));
        deltas.iter().for_each(|delta| calls.absorb(delta));
        let mut taken = HashSet::from(["old".to_owned()]);
        let ended = calls.end(&mut taken);
        let short = ended.into_iter().map(|(call, _)| format!("{}:{}{}", call.id, call.name, call.arguments));
        short.collect::<Vec<_>>().join(" ")
    }

    /// Pieces that come together, each as `index id name arguments`: `-` is null, `_` empty, `=` not in a string.
    fn delta(pieces: &str) -> Value {
        let field = |field: &str| match field {
            "-" => Value::Null,
            "_" => "".into(),
            text => text.replace('\'', "\"").into(),
        };
        let piece = |piece: &str| {
            let [index, id, name, arguments] = piece.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let index = index.parse::<u64>().map_or(Value::Null, Value::from);
            let arguments = match arguments.strip_prefix('=') {
                Some(plain) => serde_json::from_str(&plain.replace('\'', "\"")).unwrap(),
                None => field(arguments),
            };
            let function = json!({"name": field(name), "arguments": arguments});
            json!({"index": index, "id": field(id), "type": "function", "function": function})
        };
        json!({"tool_calls": pieces.split(" | ").map(piece).collect::<Vec<_>>()})
    }

    #[test]
    fn calls_are_put_together_however_their_pieces_are_named() {
        let cases: [(&str, &[&str], &str); 21] = [
            (
                "as OpenAI does",
                &["0 a f _", "0 - - {'x'", "0 - - :1}", "1 b g _", "1 - - {}"],
                "a:f{'x':1} b:g{}",
            ),
            ("two by turns", &["0 a f { | 1 b g {", "0 - - } | 1 - - }"], "a:f{} b:g{}"),
            ("whole, without ids and indexes", &["- - f {} | - - f {}"], "call_2:f{} call_3:f{}"),
            (
                "arguments as objects, one call a chunk",
                &["- - f ={'x':1}", "- - f ={'x':2}", "- - g -"],
                "call_2:f{'x':1} call_3:f{'x':2} call_4:g",
            ),
            ("the name in each piece", &["0 a f {'x'", "0 a f :1}", "0 a f _"], "a:f{'x':1}"),
            (
                "only the name in each piece",
                &["- - f {'x'", "- - f :1}", "- - g {}"],
                "call_2:f{'x':1} call_3:g{}",
            ),
            ("nothing in later pieces", &["- a f {", "- - - }"], "a:f{}"),
            ("the index comes late", &["- a f {", "0 - - }"], "a:f{}"),
            ("the id and the name come late", &["0 - - _", "0 a f {", "0 - - }"], "a:f{}"),
            ("one index for all", &["0 a f {}", "0 b f {}"], "a:f{} b:f{}"),
            (
                "one index for all, in pieces",
                &["0 a f _", "0 - - {}", "0 b g _", "0 - - {'x':1}"],
                "a:f{} b:g{'x':1}",
            ),
            ("one index for all, no ids", &["0 - f {}", "0 - g {'x':1}"], "call_2:f{} call_3:g{'x':1}"),
            ("another id in each piece", &["0 a f {", "0 b - }"], "a:f{}"),
            ("one id for all", &["0 a f {}", "1 a g _", "1 - - {}"], "a:f{} call_3:g{}"),
            ("an id of an earlier call", &["0 old f {}"], "call_2:f{}"),
            ("a whole call twice", &["0 a f {}", "0 a f {}"], "a:f{}"),
            ("a stand-in before the arguments", &["0 a f {}", "0 - - {'x'", "0 - - :1}"], "a:f{'x':1}"),
            ("another index in later pieces", &["3 a f {", "0 - - }"], "a:f{}"),
            ("a call without a name", &["0 a - {}"], "a:unnamed{}"),
            ("a name in pieces", &["0 a add_ _", "0 - note _", "0 - - {}"], "a:add_note{}"),
            (
                "a name in pieces, once more",
                &["0 a add_ _", "0 - note _", "0 - add_note _", "0 - - {}"],
                "a:add_note{}",
            ),
        ];
        for (name, deltas, expected) in cases {
            let deltas: Vec<Value> = deltas.iter().map(|pieces| delta(pieces)).collect();
            assert_eq!(made(&deltas), expected.replace('\'', "\""), "{name}");
        }
    }

    #[test]
    fn the_form_before_there_were_several_calls_is_read() {
        let old = |function: Value| json!({"function_call": function});
        let pieces = [old(json!({"name": "f", "arguments": "{"})), old(json!({"arguments": "}"}))];
        assert_eq!(made(&pieces), "call_2:f{}");
        let mut both = delta("0 a f {}");
        both["function_call"] = json!({"name": "f", "arguments": "{}"});
        assert_eq!(made(&[both]), "a:f{}");
        let none = [old(Value::Null), json!({"tool_calls": null}), json!({"tool_calls": []}), Value::Null];
        assert_eq!(made(&none), "");
    }

    #[test]
    fn whole_calls_are_told_from_those_that_lack_a_part() {
        for (pieces, expected) in [("0 a f {}", true), ("0 a f {} | 1 b f {'x'", false), ("0 a f _", false)] {
            let mut calls = ChatCalls::default();
            calls.absorb(&delta(pieces));
            assert_eq!(calls.are_whole(), expected, "{pieces}");
        }
    }

    #[test]
    fn what_a_call_has_of_its_service_alone_is_kept() {
        let signed = json!({"google": {"thought_signature": "AA=="}});
        let piece = |piece: Value| json!({"tool_calls": [piece]});
        let cases = [
            (
                "nothing",
                vec![
                    json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}),
                ],
                json!({}),
            ),
            (
                "beside its function",
                vec![
                    json!({"id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed}),
                ],
                json!({"extra_content": signed}),
            ),
            (
                "within its function",
                vec![json!({"id": "a", "function": {"name": "f", "arguments": "{}", "sign": "S"}})],
                json!({"function": {"sign": "S"}}),
            ),
            (
                "in a later piece",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}),
                    json!({"index": 0, "function": {"arguments": "}"}, "extra_content": signed, "x": null}),
                ],
                json!({"extra_content": signed}),
            ),
            (
                "with a call that is said again",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
                    json!({"index": 0, "id": "a", "function": {"arguments": "{}"}, "signature": 7}),
                ],
                json!({"signature": 7}),
            ),
        ];
        for (name, pieces, expected) in cases {
            let mut calls = ChatCalls::default();
            pieces.into_iter().for_each(|sent| calls.absorb(&piece(sent)));
            let more: Vec<Value> =
                calls.end(&mut HashSet::new()).into_iter().map(|(_, more)| more.into()).collect();
            assert_eq!(more, [expected], "{name}");
        }
        let old = json!({"function_call": {"name": "f", "arguments": "{}", "sign": "S"}});
        let mut calls = ChatCalls::default();
        calls.absorb(&old);
        assert_eq!(Value::from(calls.end(&mut HashSet::new()).remove(0).1), json!({"sign": "S"}));
    }

    #[test]
    fn no_more_is_kept_than_an_answer_may_have() {
        let long = "x".repeat(10_000);
        let begin = delta("0 a f {'x':'");
        let piece = json!({"tool_calls": [{"index": 0, "function": {"arguments": long}}]});
        let many = |piece: &dyn Fn(usize) -> Value| {
            let mut calls = ChatCalls::default();
            calls.absorb(&delta("9 z g {}"));
            calls.absorb(&begin);
            let taken = (0..100_000).take_while(|at| {
                calls.absorb(&piece(*at));
                !calls.is_too_long()
            });
            taken.count()
        };
        assert_eq!(many(&|_| piece.clone()), 104);
        let taken = many(&|at| delta(&format!("{} c{at} h {{}}", at + 10)));
        assert!((1_000..1_024).contains(&taken), "{taken} small calls");
        // Each of these is a call of its own, with the name of the one before.
        let named = json!({"tool_calls": [{"index": 9, "function": {"name": long, "arguments": "{}"}}]});
        let mut calls = ChatCalls::default();
        calls.absorb(&named);
        (0..10_000).for_each(|at| calls.absorb(&delta(&format!("9 - - {{'x':{at}}}"))));
        let bytes: usize = calls.begun.iter().map(|call| call.name.len()).sum();
        assert!(calls.is_too_long() && bytes < 2 * MAX_BYTES, "{bytes}");
    }

    #[test]
    fn own_ids_are_counted_on() {
        let mut taken: HashSet<String> = (0..20_000).map(|at| format!("call_{}", at + 20_001)).collect();
        let mut count = 0;
        let ids: Vec<String> = (0..20_000).map(|_| free(String::new(), &mut taken, &mut count)).collect();
        assert_eq!((ids[0].as_str(), ids[19_999].as_str(), count), ("call_40001", "call_60000", 60_000));
    }
}
