//! Converts an answer to a sequence of pieces: messages of text, and long code as files. Called by the delivery.

use super::formatted::{Entity, EntityKind, Formatted};
use super::parts::AnswerSplitter;
use super::piece::{CodeFile, Piece};
use super::split::split;
use figaro_base::text::utf16_len;

/// Marks a text that continues elsewhere.
pub const MORE: &str = " …";
/// File name of an answer that goes out as a document.
const ANSWER_NAME: &str = "answer.md";

/// Returns the pieces of a Markdown answer in order, with texts of at most `limit` UTF-16 units. The same answer
/// always has the same pieces, and [`AnswerSplitter`] returns the same ones while it is written.
#[must_use]
pub fn messages(markdown: &str, limit: usize) -> Vec<Piece> {
    let mut parts = AnswerSplitter::new(limit);
    parts.push(markdown);
    let certain = std::iter::from_fn(|| Some(parts.cut_off()).filter(|pieces| !pieces.is_empty()));
    let mut pieces: Vec<Piece> = certain.flatten().collect();
    pieces.extend(parts.into_last());
    pieces
}

/// Returns at most `most` of an answer's pieces (at least 1). If there are more, the last one is the whole answer as
/// a document.
#[must_use]
pub fn at_most(most: usize, mut pieces: Vec<Piece>, markdown: &str, limit: usize) -> Vec<Piece> {
    if pieces.len() <= most {
        return pieces;
    }
    pieces.truncate(most);
    let instead = match pieces.pop() {
        Some(piece) => cut(piece.into_texts(limit), limit),
        None => Formatted::default(),
    };
    let (name, language) = (ANSWER_NAME.to_owned(), Some("markdown".to_owned()));
    pieces.push(Piece::Whole(CodeFile { name, language, content: markdown.to_owned() }, instead));
    pieces
}

/// Shortens several messages to one, which ends with the mark for more.
#[must_use]
pub fn cut(texts: Vec<Formatted>, limit: usize) -> Formatted {
    let first = texts.into_iter().next().unwrap_or_default();
    let mut first = split(first, limit - utf16_len(MORE)).into_iter().next().unwrap_or_default();
    first.text += MORE;
    first
}

impl Piece {
    /// Returns the piece as messages of at most `limit` UTF-16 units, for when Telegram does not take it as it is.
    pub(super) fn into_texts(self, limit: usize) -> Vec<Formatted> {
        match self {
            Self::Text(text) | Self::Whole(_, text) => vec![text],
            Self::File(file) => file.into_texts(limit),
            Self::Rich(rich) => rich.instead,
        }
    }
}

impl CodeFile {
    /// Returns the code as messages of at most `limit` UTF-16 units, for when it cannot go out as a file.
    #[must_use]
    pub fn into_texts(self, limit: usize) -> Vec<Formatted> {
        let text = self.content.replace('\t', "    ").trim_end().to_owned();
        let length = utf16_len(&text);
        let code = Entity { kind: EntityKind::Pre { language: self.language }, offset: 0, length };
        split(Formatted { text, entities: vec![code] }, limit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::piece::CUT;
    use super::super::tests::{assert_valid, markdown, tagged};
    use super::*;

    fn long(info: &str) -> String {
        format!("```{info}\n{}```", "a\tb **c** $x$\n".repeat(90))
    }

    /// Texts with their entities; files as `name: number of lines`.
    fn shown(source: &str) -> Vec<String> {
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => tagged(text),
            Piece::File(file) | Piece::Whole(file, _) => {
                format!("{}: {}", file.name, file.content.lines().count())
            }
            Piece::Rich(part) => panic!("{part:?}"),
        };
        messages(source, 4096).iter().map(show).collect()
    }

    #[test]
    fn long_code_is_cut_out_as_a_file() {
        let (rust, python) = (long("rust"), long("python title=app.py"));
        let item = long("rust").replace('\n', "\n   ");
        let cases: [(String, &[&str]); 9] = [
            ("a **b**".to_owned(), &["a {b:b}"]),
            ("```rust\nx\n```".to_owned(), &["{pre=rust:x}"]),
            (rust.clone(), &["main.rs: 90"]),
            (
                format!("Here:\n\n{rust}\n\n**Run** it."),
                &["Here:\n\n📎 {c:main.rs}", "main.rs: 90", "{b:Run} it."],
            ),
            (format!("{rust}\n\n{rust}\nbye"), &["main.rs: 90", "main-2.rs: 90", "bye"]),
            (format!("a\n{python}"), &["a\n📎 {c:app.py}", "app.py: 90"]),
            (
                format!("1. Write:\n   {item}\n2. Run `it`"),
                &["1. Write:\n  📎 {c:main.rs}", "main.rs: 90", "2. Run {c:it}"],
            ),
            (
                format!("> q\n>\n> {}\n>\n> r", rust.replace('\n', "\n> ")),
                &["{q:q\n\n📎 {c:main.rs}}", "main.rs: 90", "{q:r}"],
            ),
            (
                format!("{CUT}a{CUT}\n\n{}", rust.trim_end_matches('`')),
                &["a\n\n📎 {c:main.rs}", "main.rs: 90"],
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(shown(&source), expected, "{source:?}");
        }
    }

    #[test]
    fn a_file_has_the_code_as_it_was_written() {
        let code = "\tx = '\u{7}$a$ \\(b\\)'  \n\n\n  y\n".repeat(30);
        let pieces = messages(&format!("```python\n{code}```"), 4096);
        let [Piece::File(file)] = pieces.as_slice() else { panic!("{pieces:?}") };
        assert_eq!(file.content, code);
        let texts = file.clone().into_texts(500);
        assert!(texts.len() > 1);
        texts.iter().for_each(assert_valid);
        assert!(texts.iter().all(|text| text.entities.len() == 1));
    }

    #[test]
    fn of_too_many_pieces_the_last_is_the_whole_as_a_document() {
        let paragraphs = |count: usize| vec![format!("{}\n\n", "word ".repeat(16)); count].concat();
        let code = format!("{}{}", paragraphs(2), long("rust"));
        let limit = 100;
        for (markdown, few) in [(paragraphs(3), true), (paragraphs(4), false), (code, false)] {
            let all = messages(&markdown, limit);
            let pieces = at_most(3, all.clone(), &markdown, limit);
            assert_eq!(pieces.len(), 3);
            assert_eq!(pieces[..2], all[..2]);
            match &pieces[2] {
                Piece::Text(_) => assert!(few, "{markdown}"),
                Piece::File(file) => assert!(file.content.lines().count() == 90 && all.len() == 3),
                Piece::Whole(file, instead) => {
                    assert!(!few && file.content == markdown && file.name == "answer.md");
                    assert!(instead.text.starts_with("word") && instead.text.ends_with(MORE), "{instead:?}");
                    assert!(utf16_len(&instead.text) <= limit);
                }
                Piece::Rich(part) => panic!("{part:?}"),
            }
        }
        let many = messages(&["rust", "c", "go", "r"].map(long).join("\n\n"), limit);
        let Piece::Whole(_, instead) = at_most(2, many, "all", limit).pop().unwrap() else {
            panic!("no document")
        };
        assert!(matches!(instead.entities[..], [Entity { kind: EntityKind::Pre { .. }, .. }]), "{instead:?}");
        assert!(utf16_len(&instead.text) <= limit && instead.text.ends_with(MORE));
    }

    proptest! {
        #[test]
        fn pieces_are_what_telegram_takes(blocks in prop::collection::vec((markdown(), any::<bool>()), 1..4)) {
            let parts: Vec<String> = blocks
                .iter()
                .map(|(text, code)| if *code { format!("{text}\n\n{}", long("rust")) } else { text.clone() })
                .collect();
            let source = parts.join("\n\n");
            let pieces = messages(&source, 200);
            for piece in &pieces {
                if let Piece::Text(text) = piece {
                    assert_valid(text);
                    prop_assert!(text.text.encode_utf16().count() <= 200 && !text.text.contains(CUT));
                }
            }
            prop_assert_eq!(pieces, messages(&source, 200));
        }
    }
}
