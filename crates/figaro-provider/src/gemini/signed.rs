//! Private parts of Gemini's answers that it wants back besides text and calls: signatures with their positions, and
//! calls of its own tools. Kept by [`super::decoder`], put back by [`super::wire`].
//!
//! Text and calls are stored with the conversation, where they may be shortened later. Only their positions are kept
//! here.

use serde_json::{Value, json};

use super::name::NAME;
use figaro_domain::conversation::PrivatePart;

/// Kinds of parts kept unchanged: calls of Google's own tools and their results.
const HOSTED: [&str; 4] = ["toolCall", "toolResponse", "executableCode", "codeExecutionResult"];

/// Parts of one answer, in order.
#[derive(Debug, Default)]
pub(super) struct PartLayout {
    parts: Vec<Value>,
    /// `true` if some part cannot be rebuilt from text and calls alone.
    is_wanted: bool,
}

impl PartLayout {
    /// Adds text by its length. Text with a signature is never joined with other text.
    pub(super) fn text(&mut self, text: &str, part: &Value) {
        let signature = self.signature(part);
        if let (None, Some(last)) = (signature, self.parts.last_mut())
            && last.get("thoughtSignature").is_none()
            && let Some(length) = last["text"].as_u64()
        {
            last["text"] = (length + text.len() as u64).into();
            return;
        }
        if signature.is_some() || !text.is_empty() {
            self.push(json!({"text": text.len()}), signature);
        }
    }

    /// Adds a call by its id.
    pub(super) fn call(&mut self, id: &str, part: &Value) {
        let signature = self.signature(part);
        self.push(json!({"functionCall": id}), signature);
    }

    /// Adds any other part, if it must be kept.
    pub(super) fn other(&mut self, part: &Value) {
        let is_signed_thought = part["thought"] == true && part.get("thoughtSignature").is_some();
        if is_signed_thought || HOSTED.iter().any(|kind| part.get(kind).is_some()) {
            self.is_wanted = true;
            self.parts.push(json!({"part": part}));
        }
    }

    /// Returns the part to keep, if any. Signatures of one model mean nothing to another.
    pub(super) fn private(&mut self, model: &str) -> Option<PrivatePart> {
        let parts = std::mem::take(&mut self.parts);
        let data = json!({"model": model, "parts": parts});
        std::mem::take(&mut self.is_wanted).then(|| PrivatePart { provider: NAME.into(), data })
    }

    fn signature<'a>(&mut self, part: &'a Value) -> Option<&'a Value> {
        // Gateways may write its names in Python style.
        let signature = part.get("thoughtSignature").or_else(|| part.get("thought_signature"));
        let signature = signature.filter(|signature| signature.is_string());
        self.is_wanted |= signature.is_some();
        signature
    }

    fn push(&mut self, mut part: Value, signature: Option<&Value>) {
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature.clone();
        }
        self.parts.push(part);
    }
}

/// Returns the kept parts of an answer by this model.
pub(super) fn parts<'a>(private: &'a [PrivatePart], model: &str) -> &'a [Value] {
    let own = private.iter().find(|part| part.provider == NAME && part.data["model"] == model);
    own.and_then(|part| part.data["parts"].as_array()).map(Vec::as_slice).unwrap_or_default()
}

/// Returns `true` if a kept part belongs to one of Google's own tools.
pub(super) fn is_hosted(kept: &Value) -> bool {
    HOSTED.iter().any(|kind| kept["part"].get(kind).is_some())
}

/// Rebuilds the parts of an answer from its text, its calls by id, and the kept parts.
pub(super) fn rebuilt(text: &str, calls: &[(&str, Value)], kept: &[&Value]) -> Vec<Value> {
    if text.is_empty() && calls.is_empty() {
        return Vec::new();
    }
    let mut words = TextPlacer::new(text, kept);
    let mut open: Vec<&(&str, Value)> = calls.iter().collect();
    let mut parts = Vec::new();
    for kept in kept {
        if let Some(part) = kept.get("part") {
            parts.push(part.clone());
        } else if let Some(length) = kept["text"].as_u64() {
            parts.extend(words.next(length).map(|words| with_signature(json!({"text": words}), kept)));
        } else if let Some(at) = open.iter().position(|(id, _)| kept["functionCall"] == *id) {
            // Text that was changed since goes where it most likely was.
            parts.extend(words.rest());
            parts.push(with_signature(open.remove(at).1.clone(), kept));
        }
    }
    parts.extend(words.rest());
    parts.extend(open.into_iter().map(|(_, part)| part.clone()));
    parts
}

fn with_signature(mut part: Value, kept: &Value) -> Value {
    if let Some(signature) = kept.get("thoughtSignature") {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

/// Distributes the text of an answer to its positions.
struct TextPlacer<'a> {
    left: &'a str,
    /// `true` if the text still has the kept lengths.
    fit: bool,
}

impl<'a> TextPlacer<'a> {
    fn new(text: &'a str, kept: &[&Value]) -> Self {
        let mut lengths = kept.iter().filter_map(|part| part["text"].as_u64());
        let end = lengths.try_fold(0_usize, |start, length| {
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            text.is_char_boundary(end).then_some(end)
        });
        Self { left: text, fit: end == Some(text.len()) }
    }

    /// Returns the next `length` bytes.
    fn next(&mut self, length: u64) -> Option<&'a str> {
        let length = usize::try_from(length).ok().filter(|_| self.fit)?;
        let (words, left) = self.left.split_at_checked(length)?;
        self.left = left;
        Some(words)
    }

    /// Returns all remaining text, if it has no positions.
    fn rest(&mut self) -> Option<Value> {
        let words = if self.fit { "" } else { std::mem::take(&mut self.left) };
        (!words.is_empty()).then(|| json!({"text": words}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "gemini-3.5-flash";

    fn text(text: &str) -> Value {
        json!({"text": text})
    }

    fn call(id: &str) -> Value {
        json!({"functionCall": {"id": id, "name": "f", "args": {}}})
    }

    fn signed(part: Value, signature: &str) -> Value {
        with_signature(part, &json!({"thoughtSignature": signature}))
    }

    fn search() -> Value {
        json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "args": {"queries": ["a"]}}, "thoughtSignature": "S"})
    }

    /// What is kept of an answer in these parts.
    fn kept(parts: &[Value]) -> Option<PrivatePart> {
        let mut layout = PartLayout::default();
        for part in parts {
            match (part["text"].as_str(), part["functionCall"]["id"].as_str()) {
                (Some(text), _) => layout.text(text, part),
                (_, Some(id)) => layout.call(id, part),
                _ => layout.other(part),
            }
        }
        layout.private(MODEL)
    }

    /// An answer with these words and calls, put together again from what was kept of `parts`.
    fn again(parts: &[Value], text: &str, calls: &[&str]) -> Vec<Value> {
        let kept: Vec<PrivatePart> = kept(parts).into_iter().collect();
        let calls: Vec<(&str, Value)> = calls.iter().map(|id| (*id, call(id))).collect();
        rebuilt(text, &calls, &super::parts(&kept, MODEL).iter().collect::<Vec<_>>())
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let cases = [
            ("a call", vec![signed(call("a"), "A")], "", vec!["a"]),
            ("calls at once", vec![signed(call("a"), "A"), call("b")], "", vec!["a", "b"]),
            ("words and a call", vec![text("На"), signed(call("a"), "A")], "На", vec!["a"]),
            ("a call and words", vec![signed(call("a"), "A"), text("b")], "b", vec!["a"]),
            ("a signature of its own", vec![text("ab"), signed(text(""), "B")], "ab", vec![]),
            ("words with a signature", vec![text("a"), signed(text("b"), "B"), text("c")], "abc", vec![]),
            ("Google's own tool", vec![search(), text("a"), signed(call("a"), "A")], "a", vec!["a"]),
        ];
        for (name, parts, text, calls) in cases {
            assert_eq!(again(&parts, text, &calls), parts, "{name}");
        }
    }

    #[test]
    fn pieces_of_words_become_one() {
        assert_eq!(
            again(&[text("a"), text(""), text("b"), signed(text(""), "B")], "ab", &[]),
            [text("ab"), signed(text(""), "B")]
        );
    }

    #[test]
    fn what_changed_since_leaves_the_signatures_of_calls() {
        let parts = [text("long words"), signed(call("a"), "A"), call("b"), signed(text("!"), "C")];
        let cases = [
            (
                "shorter words",
                "words",
                vec!["a", "b"],
                vec![text("words"), signed(call("a"), "A"), call("b")],
            ),
            (
                "cut within a letter",
                "long wordя!",
                vec!["a"],
                vec![text("long wordя!"), signed(call("a"), "A")],
            ),
            ("no words", "", vec!["b", "a"], vec![signed(call("a"), "A"), call("b")]),
            (
                "other calls",
                "long words!",
                vec!["c"],
                vec![text("long words"), signed(text("!"), "C"), call("c")],
            ),
            ("nothing", "", vec![], vec![]),
        ];
        for (name, text, calls, expected) in cases {
            assert_eq!(again(&parts, text, &calls), expected, "{name}");
        }
    }

    #[test]
    fn only_what_is_signed_or_googles_own_is_kept() {
        let thought = json!({"text": "Hm.", "thought": true});
        assert_eq!(kept(&[text("a"), call("a")]), None);
        let mut layout = PartLayout::default();
        layout.other(&thought);
        layout.other(&json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}));
        layout.other(&signed(thought.clone(), "T"));
        layout.text("На", &text("На"));
        layout.call("a", &signed(call("a"), "A"));
        let parts = json!([
            {"part": signed(thought, "T")},
            {"text": 4},
            {"functionCall": "a", "thoughtSignature": "A"},
        ]);
        let data = json!({"model": MODEL, "parts": parts});
        assert_eq!(layout.private(MODEL), Some(PrivatePart { provider: "gemini".into(), data }));
    }

    #[test]
    fn signatures_go_only_to_where_they_came_from() {
        let own = kept(&[signed(call("a"), "A")]).unwrap();
        let others = PrivatePart { provider: "openai".into(), data: own.data.clone() };
        assert_eq!(parts(&[others.clone(), own.clone()], MODEL).len(), 1);
        assert!(parts(&[own], "gemini-3.1-pro-preview").is_empty());
        assert!(parts(&[others], MODEL).is_empty());
    }
}
