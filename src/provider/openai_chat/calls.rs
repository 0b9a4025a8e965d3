//! Puts calls together from their pieces. Servers differ in what a piece names its call by: an index, an id, a name, or
//! nothing at all; some use one index for several calls, and some say a whole call twice. Used by the decoder.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tracing::debug;

use crate::domain::tool::Call;

/// The calls of one answer so far, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Piece>);

/// A piece of a call, or all of its pieces so far.
#[derive(Debug, Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// What a piece of the answer adds to them.
    pub(super) fn absorb(&mut self, delta: &Value) {
        let pieces = delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, piece) in pieces.iter().enumerate() {
            self.add(Piece::of(piece, &piece["function"]), at == 0);
        }
        // The form before there were several calls.
        let only = &delta["function_call"];
        if pieces.is_empty() && only.is_object() {
            self.add(Piece::of(only, only), true);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, now that the answer has ended; each gets an id that is not taken. Of an answer that was cut off
    /// only those count that are whole.
    pub(super) fn end(&mut self, is_cut: bool, taken: &mut HashSet<String>) -> Vec<Call> {
        let mut calls = Vec::new();
        for Piece { id, name, arguments, .. } in std::mem::take(&mut self.0) {
            if name.is_empty() || (is_cut && !is_object(&arguments)) {
                debug!(cut = is_cut, "a call that is not whole was ignored");
                continue;
            }
            calls.push(Call { id: free(id, taken), name, arguments });
        }
        calls
    }

    fn add(&mut self, piece: Piece, is_first: bool) {
        let known = self.place(&piece, is_first).and_then(|at| self.0.get_mut(at));
        match known {
            Some(known) => {
                let another = known.join(piece);
                self.0.extend(another);
            }
            None => self.0.push(piece),
        }
    }

    /// The call that a piece belongs to; none if it begins one. `is_first` of those that came together.
    fn place(&self, piece: &Piece, is_first: bool) -> Option<usize> {
        let same_index = |known: &Piece| piece.index.is_some() && known.index == piece.index;
        let clashes = |known: &Piece| piece.index.is_some() && known.index.is_some() && !same_index(known);
        let same_id = |known: &Piece| !piece.id.is_empty() && known.id == piece.id && !clashes(known);
        if let Some(at) = self.0.iter().rposition(same_id) {
            return Some(at);
        }
        let begins = !piece.name.is_empty();
        if let Some(at) = self.0.iter().rposition(same_index) {
            // One index for all calls: then it is the id that tells them apart.
            let is_other = |known: &Piece| begins && !piece.id.is_empty() && !known.id.is_empty();
            return (!self.0.get(at).is_some_and(is_other)).then_some(at);
        }
        let last = self.0.len().checked_sub(1)?;
        if !begins {
            return Some(last);
        }
        let is_nameless = piece.id.is_empty() && piece.index.is_none();
        let repeats = self.0.last().is_some_and(|known| known.name == piece.name);
        (is_nameless && is_first && repeats).then_some(last)
    }
}

impl Piece {
    fn of(piece: &Value, function: &Value) -> Self {
        Self {
            index: piece["index"].as_u64(),
            id: text(&piece["id"]),
            name: text(&function["name"]),
            arguments: text(&function["arguments"]),
        }
    }

    /// Adds a piece; gives it back as a call of its own where nothing can be added. The same again says nothing.
    fn join(&mut self, piece: Self) -> Option<Self> {
        let more = piece.arguments.trim();
        if !more.is_empty() && is_object(&self.arguments) {
            if more == self.arguments.trim() {
                return None;
            }
            let stands_in = is_empty_object(&self.arguments) && piece.name.is_empty();
            if !stands_in {
                let name = if piece.name.is_empty() { self.name.clone() } else { piece.name };
                return Some(Self { name, ..piece });
            }
            self.arguments.clear();
        }
        self.index = self.index.or(piece.index);
        self.arguments.push_str(&piece.arguments);
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() {
            self.name = piece.name;
        }
        None
    }
}

/// Whether a text is a whole JSON object; that of most pieces is seen to be none at its end.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

fn is_empty_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok_and(|object| object.is_empty())
}

/// The id if nothing else has it, else the next of our own. The same conversation gets the same ids.
fn free(id: String, taken: &mut HashSet<String>) -> String {
    if !id.is_empty() && taken.insert(id.clone()) {
        return id;
    }
    let mut count = taken.len();
    loop {
        count += 1;
        let own = format!("call_{count}");
        if taken.insert(own.clone()) {
            return own;
        }
    }
}

/// A string as it is; arguments that came as an object, as their JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The calls of these deltas in short: `a:f{}` is a call of `f` with the id `a`.
    fn made(deltas: &[Value], is_cut: bool) -> String {
        let mut calls = Calls::default();
        deltas.iter().for_each(|delta| calls.absorb(delta));
        let mut taken = HashSet::from(["old".to_owned()]);
        let ended = calls.end(is_cut, &mut taken);
        let short = ended.into_iter().map(|call| format!("{}:{}{}", call.id, call.name, call.arguments));
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
        let cases: [(&str, &[&str], &str); 19] = [
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
            ("a call without a name", &["0 a - {}"], ""),
        ];
        for (name, deltas, expected) in cases {
            let deltas: Vec<Value> = deltas.iter().map(|pieces| delta(pieces)).collect();
            assert_eq!(made(&deltas, false), expected.replace('\'', "\""), "{name}");
        }
    }

    #[test]
    fn the_form_before_there_were_several_calls_is_read() {
        let old = |function: Value| json!({"function_call": function});
        let pieces = [old(json!({"name": "f", "arguments": "{"})), old(json!({"arguments": "}"}))];
        assert_eq!(made(&pieces, false), "call_2:f{}");
        let mut both = delta("0 a f {}");
        both["function_call"] = json!({"name": "f", "arguments": "{}"});
        assert_eq!(made(&[both], false), "a:f{}");
        let none = [old(Value::Null), json!({"tool_calls": null}), json!({"tool_calls": []}), Value::Null];
        assert_eq!(made(&none, false), "");
    }

    #[test]
    fn of_an_answer_cut_off_only_whole_calls_count() {
        let deltas = [delta("0 a f {} | 1 b f {'x' | 2 c f _")];
        assert_eq!(made(&deltas, true), "a:f{}");
        assert_eq!(made(&deltas, false), "a:f{} b:f{\"x\" c:f");
    }
}
