//! Arguments of a call as they arrive in pieces. After each piece it is known whether they are complete, without
//! reading them again. Used by [`super::calls`].

use serde_json::{Map, Value};

/// JSON text so far.
#[derive(Debug, Default)]
pub(super) struct JsonArguments {
    text: String,
    state: JsonState,
    /// Number of open brackets.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Number of times the text was parsed.
    #[cfg(test)]
    reads: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum JsonState {
    /// No object so far; further text may make it one.
    #[default]
    Open,
    /// Complete object, without fields if `is_empty`. White space may follow.
    Object { is_empty: bool },
    /// No object, whatever follows.
    Never,
}

impl JsonArguments {
    /// Adds the next piece of the arguments.
    pub(super) fn push(&mut self, piece: &str) {
        let start = self.text.len();
        self.text.push_str(piece);
        for (at, byte) in piece.bytes().enumerate() {
            match self.state {
                JsonState::Open => self.pass(byte, start + at + 1),
                JsonState::Object { .. } if !is_space(byte) => self.state = JsonState::Never,
                JsonState::Object { .. } => {}
                JsonState::Never => return,
            }
        }
    }

    /// Returns `true` if any text has arrived.
    pub(super) const fn has_begun(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns `true` if the text is a complete JSON object.
    pub(super) const fn is_object(&self) -> bool {
        matches!(self.state, JsonState::Object { .. })
    }

    /// Returns `true` if the text is a complete object without fields.
    pub(super) const fn is_empty_object(&self) -> bool {
        matches!(self.state, JsonState::Object { is_empty: true })
    }

    /// Returns `true` if the arguments equal this text, apart from surrounding white space.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text.trim() == text.trim()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Advances by the byte before `end`. The object is parsed once, at its last bracket.
    fn pass(&mut self, byte: u8, end: usize) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'{' => self.depth += 1,
            _ if self.depth == 0 && is_space(byte) => {}
            _ if self.depth == 0 => self.state = JsonState::Never,
            b'"' => self.in_string = true,
            b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.state = self.read(end);
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, end: usize) -> JsonState {
        #[cfg(test)]
        {
            self.reads += 1;
        }
        let object = self.text.get(..end).map(serde_json::from_str::<Map<String, Value>>);
        match object {
            Some(Ok(object)) => JsonState::Object { is_empty: object.is_empty() },
            Some(Err(_)) | None => JsonState::Never,
        }
    }
}

/// Returns `true` for white space in JSON.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(pieces: &[&str]) -> JsonArguments {
        let mut arguments = JsonArguments::default();
        pieces.iter().for_each(|piece| arguments.push(piece));
        arguments
    }

    #[test]
    fn whether_they_are_whole_is_known_after_each_piece() {
        let cases: [(&[&str], (bool, bool)); 10] = [
            (&[], (false, false)),
            (&[" {", "}\n"], (true, true)),
            (&["{\"a\":\"}{\\\"", "]\"}"], (true, false)),
            (&["{\"a\":[{}", "]}"], (true, false)),
            (&["{}", "{}"], (false, false)),
            (&["{}", " x"], (false, false)),
            (&["[", "]"], (false, false)),
            (&["{\"a\"", "}"], (false, false)),
            (&["{]", "{}"], (false, false)),
            (&["1", "{}"], (false, false)),
        ];
        for (pieces, expected) in cases {
            let arguments = of(pieces);
            assert_eq!((arguments.is_object(), arguments.is_empty_object()), expected, "{pieces:?}");
        }
    }

    #[test]
    fn they_are_read_once_however_many_brackets_come() {
        let braces = ["}"; 10_000];
        let mut arguments = of(&["{\"a\":\""]);
        braces.iter().for_each(|piece| arguments.push(piece));
        assert_eq!((arguments.reads, arguments.is_object()), (0, false));
        ["\"}", " ", "}", "}"].iter().for_each(|piece| arguments.push(piece));
        assert_eq!((arguments.reads, arguments.is_object()), (1, false));
        assert_eq!(of(&["[{}", "{}]", "{}"]).reads, 0, "no object");
    }

    proptest! {
        #[test]
        fn pieces_are_judged_as_their_whole(pieces in prop::collection::vec("[{}\\[\\]\",:a\\\\1 é\n]{0,4}", 0..9)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            for count in 0..=pieces.len() {
                let arguments = of(&pieces[..count]);
                let whole = serde_json::from_str::<Map<String, Value>>(&pieces[..count].concat());
                prop_assert_eq!(arguments.is_object(), whole.is_ok());
                prop_assert_eq!(arguments.is_empty_object(), whole.is_ok_and(|object| object.is_empty()));
                prop_assert_eq!(arguments.into_text(), pieces[..count].concat());
            }
        }
    }
}
