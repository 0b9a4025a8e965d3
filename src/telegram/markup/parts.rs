//! Cuts an answer into the pieces that are sent one after the other, in the same way while it is written and when it is
//! whole. Called by [`super::messages()`] and for the messages of a private chat that are sent early.
//!
//! What is cut off depends only on the text before some border between blocks, so nothing that comes later changes it.
//! The text up to the border is formatted by itself; all but its last message is cut off, and what is left begins
//! anew at a block.

use pulldown_cmark::{Event, Parser, Tag};

use super::code::Names;
use super::messages::{CLIP, CUT, Piece};
use super::render::{self, Rendered, render_with_files};
use super::split::{behind, sections, split_from};
use super::{File, Formatted, formulas};
use crate::text::utf16_len;

/// Further behind the limit fewer borders are tried: so much of the excess is passed over after each, as one part in.
const SPACING: usize = 4;
/// So many borders are tried as the beginning of what is left.
const MAX_STARTS: usize = 4;

/// An answer as it comes, without what has been cut off.
#[derive(Debug, Clone)]
pub struct Parts {
    limit: usize,
    /// Markdown from the beginning of a block that has not been cut off whole.
    rest: String,
    /// How many bytes of that, formatted, have been cut off.
    given: usize,
    /// The names of files that were cut off.
    names: Names,
    scan: Scan,
    /// UTF-16 units before the next border that is tried; fewer than a message has, since it may have too many entities.
    due: usize,
}

/// Where the search for borders stands in the rest.
#[derive(Debug, Clone, Default)]
struct Scan {
    /// Where the line begins that is looked at next.
    line: usize,
    /// Its beginning has been looked at.
    looked: bool,
    /// The line before it is blank.
    after_blank: bool,
    /// UTF-16 units before it.
    units: usize,
    /// Lines before it that may begin a block.
    starts: Vec<usize>,
}

impl Parts {
    /// Nothing so far; messages have at most `limit` UTF-16 units.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            rest: String::new(),
            given: 0,
            names: Names::default(),
            scan: Scan::default(),
            due: limit * 3 / 4,
        }
    }

    /// Adds Markdown. White space before the first words is left out.
    pub fn push(&mut self, more: &str) {
        self.rest.push_str(if self.rest.is_empty() { more.trim_start() } else { more });
    }

    /// The Markdown that is left. It begins with a block of which [`Self::given`] may have been cut off.
    #[must_use]
    pub fn markdown(&self) -> &str {
        &self.rest
    }

    /// How many bytes of the text, which is left when formatted, belong to pieces that have been cut off.
    #[must_use]
    pub const fn given(&self) -> usize {
        self.given
    }

    /// The next pieces that nothing changes any more; none if that is not certain yet. It goes through all text once,
    /// however often it is called.
    pub fn cut_off(&mut self) -> Vec<Piece> {
        while let Some((end, probe)) = self.scan.next(self.rest.trim_end()) {
            if self.scan.units <= self.due {
                continue;
            }
            let pieces = self.cut_at(end, &probe);
            if !pieces.is_empty() {
                return pieces;
            }
            self.due = self.scan.units + (self.scan.units - self.limit.min(self.scan.units)) / SPACING;
        }
        Vec::new()
    }

    /// The pieces that are left, when nothing more comes.
    #[must_use]
    pub fn into_last(self) -> Vec<Piece> {
        let whole = render_with_files(&self.rest, self.names);
        pieces(whole.text, whole.files, self.given, self.limit).0
    }

    /// Cuts off what is certain of the text before a border, if anything.
    fn cut_at(&mut self, end: usize, probe: &str) -> Vec<Piece> {
        let before = &self.rest[..end];
        if !begins_block(before, probe) || !formulas::are_whole(before) {
            return Vec::new();
        }
        let whole = render_with_files(before, self.names.clone());
        if !whole.is_settled {
            return Vec::new();
        }
        let Rendered { text, files, names, .. } = whole;
        let has_files = !files.is_empty();
        let (mut pieces, last) = pieces(text.clone(), files, self.given, self.limit);
        let from = last.map_or(text.text.len(), |from| {
            pieces.pop();
            from
        });
        if pieces.is_empty() {
            return pieces;
        }
        match self.start_of(&text, from, end, &names) {
            Some((start, given)) => {
                self.rest.drain(..start);
                self.scan.begin_at(start, &self.rest);
                self.given = given;
            }
            // A file would come again.
            None if has_files => return Vec::new(),
            None => self.given = from,
        }
        self.names = names;
        // A long block that is left goes through the same spacing: it is formatted again each time.
        let again = utf16_len(&text.text[from - self.given..from]);
        self.due = self.limit * 3 / 4 + again + again / SPACING;
        pieces
    }

    /// Where the last block begins that holds this place of the text before a border, and how far into its text the
    /// place is. Formatted by itself, the source from there on comes out as in the whole.
    fn start_of(&self, text: &Formatted, from: usize, end: usize, names: &Names) -> Option<(usize, usize)> {
        let tail = |start: &usize| render_with_files(&self.rest[*start..end], names.clone());
        let offset = |tail: &Rendered| text.text.len().checked_sub(tail.text.text.len());
        let near = self.scan.starts.partition_point(|start| offset(&tail(start)).is_none_or(|at| at <= from));
        self.scan.starts[..near].iter().rev().take(MAX_STARTS).find_map(|start| {
            let tail = tail(start);
            let at = offset(&tail).filter(|at| *at <= from && text.text.is_char_boundary(*at))?;
            let is_same = tail.files.is_empty() && behind(text.clone(), at) == tail.text;
            is_same.then_some((*start, from - at))
        })
    }
}

impl Scan {
    /// The next line that may begin a block, and a line that begins as it does. `text` ends in no white space: whatever
    /// comes, or is left out at its end, the same lines are found.
    fn next(&mut self, text: &str) -> Option<(usize, String)> {
        loop {
            let left = text.get(self.line..).filter(|left| !left.is_empty())?;
            let (line, is_whole) = left.split_once('\n').map_or((left, false), |(line, _)| (line, true));
            if !self.looked {
                let opening = opening(line, is_whole, self.after_blank)?;
                self.looked = true;
                if let Some(probe) = opening.filter(|_| self.line > 0) {
                    self.starts.push(self.line);
                    return Some((self.line, probe));
                }
            }
            if !is_whole {
                return None;
            }
            self.after_blank = line.trim().is_empty();
            self.units += utf16_len(line) + 1;
            self.line += line.len() + 1;
            self.looked = false;
        }
    }

    /// The text begins later now; this is what it is.
    fn begin_at(&mut self, start: usize, text: &str) {
        self.line -= start;
        self.units = utf16_len(&text[..self.line]);
        self.starts.retain(|line| *line > start);
        self.starts.iter_mut().for_each(|line| *line -= start);
    }
}

/// How a line begins that may be the first of a block: the same mark with a word behind it. Outer `None`: too little of
/// the line has come.
fn opening(line: &str, is_whole: bool, after_blank: bool) -> Option<Option<String>> {
    let Some(first) = line.chars().next() else { return is_whole.then_some(None) };
    if first.is_whitespace() {
        return Some(None);
    }
    if after_blank {
        return Some(Some("x".to_owned()));
    }
    let many = |mark: fn(&u8) -> bool| line.bytes().take_while(mark).count();
    let length = match first {
        '-' | '*' | '+' => 1,
        '#' => many(|b| *b == b'#'),
        '0'..='9' => many(u8::is_ascii_digit) + 1,
        _ => return Some(None),
    };
    let Some((mark, behind)) = line.split_at_checked(length) else { return is_whole.then_some(None) };
    if behind.trim_start_matches(' ').is_empty() {
        return is_whole.then_some(None);
    }
    let begins = behind.starts_with(' ') && mark.ends_with(['-', '*', '+', '#', '.', ')']);
    Some(begins.then(|| format!("{mark} x")))
}

/// Whether a line like this, behind Markdown that ends with a line end, ends all that came before: it begins a block of
/// its own, or another item of a list.
fn begins_block(before: &str, line: &str) -> bool {
    let source = format!("{before}{line}");
    let (mut depth, mut in_list) = (0_usize, false);
    for (event, range) in Parser::new_ext(&source, render::options(&source)).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let is_item = depth == 1 && in_list && matches!(tag, Tag::Item);
                if range.start == before.len() && (depth == 0 || is_item) {
                    return true;
                }
                if depth == 0 {
                    in_list = matches!(tag, Tag::List(_));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The pieces of a text behind so many bytes of it, and where the last message begins if no file follows it.
fn pieces(whole: Formatted, files: Vec<File>, given: usize, limit: usize) -> (Vec<Piece>, Option<usize>) {
    let length = whole.text.len();
    let parts = if files.is_empty() { vec![whole] } else { sections(whole, CUT) };
    let mut files = files.into_iter();
    let (mut pieces, mut last, mut from) = (Vec::new(), None, given);
    for section in parts {
        let file = files.next();
        let end = section.text.len();
        let left = section.text.get(from..).unwrap_or_default().trim();
        let alone = file.as_ref().is_some_and(|file| left.strip_prefix(CLIP) == Some(file.name.as_str()));
        last = None;
        if !alone {
            let (texts, start) = split_from(section, from, limit);
            last = start.map(|start| start + length - end);
            pieces.extend(texts.into_iter().map(Piece::Text));
        }
        pieces.extend(file.map(Piece::File));
        from = 0;
    }
    (pieces, last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{assert_valid, markdown, tagged};
    use super::super::{messages, render_partial};
    use super::*;

    const LIMIT: usize = 60;

    /// What is certain of Markdown.
    fn early(source: &str, limit: usize) -> Vec<Piece> {
        let mut parts = Parts::new(limit);
        parts.push(source);
        certain(&mut parts)
    }

    fn certain(parts: &mut Parts) -> Vec<Piece> {
        std::iter::from_fn(|| Some(parts.cut_off()).filter(|pieces| !pieces.is_empty())).flatten().collect()
    }

    fn shown(pieces: &[Piece]) -> Vec<String> {
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => tagged(text),
            Piece::File(file) | Piece::Whole(file, _) => format!("<{}>", file.name),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn a_part_is_certain_once_the_block_ends_that_its_message_ends_in() {
        let words = |n: usize| format!("{}end.", "word ".repeat(n));
        let long = |name: &str| format!("```rust title={name}\n{}```", "let a = 1;\n".repeat(90));
        let cases: Vec<(String, Vec<String>)> = vec![
            (words(30), vec![]),
            (format!("{}\n\n", words(30)), vec![]),
            (format!("{}\n\nN", words(11)), vec![]),
            (format!("{}\n\n{}\n\nN", words(5), words(8)), vec![words(5)]),
            (format!("{}\n\n{}\n\n", words(5), words(8)), vec![]),
            (format!("{}\n\n{}\n- n", words(5), words(8)), vec![words(5)]),
            (format!("{}\n\n{}\n-", words(5), words(8)), vec![]),
            (format!("{}\n\n{}\n## Ne", words(5), words(8)), vec![words(5)]),
            (format!("{}\n\n{}\n7. n", words(5), words(8)), vec![]),
            (format!("- {}\n- {}\n- n", words(5), words(8)), vec![format!("• {}", words(5))]),
            (format!("{}\n\n```\n{}\n\nn", words(5), words(8)), vec![]),
            (format!("{}\n\n```\n{}\n```\n\nn", words(5), words(8)), vec![words(5)]),
            (format!("{}\n\n\\[\n{}\n\nN", words(5), words(8)), vec![]),
            (format!("{}\n\n<b>{}\n\nN", words(5), words(8)), vec![]),
            (format!("{}\n\n<details>{}\n\nN", words(5), words(8)), vec![]),
            (format!("[a][b] {}\n\n{}\n\nN", words(5), words(8)), vec![]),
            (format!("[^1] {}\n\n{}\n\nN", words(5), words(8)), vec![]),
            (format!("[1] {}\n\n{}\n\nN", words(5), words(8)), vec![format!("[1] {}", words(5))]),
            (format!("{}\n\n[b]: https://a.b\n\n{}\n\nN", words(5), words(8)), vec![]),
            (
                format!("Look:\n\n{}\n\nN", long("a.rs")),
                vec!["Look:\n\n📎 {c:a.rs}".to_owned(), "<a.rs>".to_owned()],
            ),
            (format!("Look:\n\n{}", long("a.rs")), vec![]),
            (
                format!("{}\n\n{}\n\nN", long("a.rs"), long("a.rs")),
                vec!["<a.rs>".to_owned(), "<a-2.rs>".to_owned()],
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(shown(&early(&source, LIMIT)), expected, "{source:?}");
        }
    }

    #[test]
    fn what_is_left_begins_at_a_block_and_reads_as_in_the_whole() {
        let item = |n: usize| format!("{n}. Item **{n}** of {}\n", "many ".repeat(n % 7));
        let source: String = (1..100).map(item).collect();
        let squeezed = |text: &str| text.replace(['\n', ' '], "");
        let whole = squeezed(&render::render(&source).text);
        let mut parts = Parts::new(LIMIT);
        let mut said = String::new();
        for piece in source.split_inclusive(' ') {
            parts.push(piece);
            for piece in certain(&mut parts) {
                let Piece::Text(text) = piece else { panic!("{piece:?}") };
                said += &text.text;
            }
            assert!(parts.markdown().len() < 4 * LIMIT, "{:?}", parts.markdown());
            let left = behind(render_partial(parts.markdown()), parts.given());
            assert!(whole.starts_with(&squeezed(&(said.clone() + &left.text))), "{said} + {left:?}");
        }
    }

    #[test]
    fn an_answer_is_read_a_few_times_however_it_comes() {
        let links = "[a](https://a.example/very/long/address/that/nobody/sees) and\n\n".repeat(1_000);
        let unsettled = format!("[x][y]\n\n{}", "word word\n\n".repeat(5_000));
        // From no item on it reads as in the whole, where the numbers go on.
        let misnumbered = "1. a **few** words\n".repeat(2_000);
        for source in [links, unsettled, misnumbered] {
            let mut parts = Parts::new(4096);
            let mut tried = 0;
            for piece in source.split_inclusive(' ') {
                parts.push(piece);
                let before = parts.due;
                drop(certain(&mut parts));
                tried += usize::from(parts.due != before) * parts.markdown().len();
            }
            assert!(tried < 24 * source.len(), "{tried} bytes of {}", source.len());
        }
    }

    /// What is certain, looked for at each of these places, is what the whole has, also if it ends there.
    fn assert_stable(source: &str, cuts: &[prop::sample::Index], limit: usize) {
        let place = |cut: &prop::sample::Index| source.floor_char_boundary(cut.index(source.len() + 1));
        let mut places: Vec<usize> = cuts.iter().map(place).collect();
        places.sort_unstable();
        let mut parts = Parts::new(limit);
        let (mut sent, mut at) = (Vec::new(), 0);
        for place in places {
            parts.push(&source[at..place]);
            sent.extend(certain(&mut parts));
            at = place;
            let ended = messages(source[..place].trim_end(), limit);
            assert!(ended.starts_with(&sent), "{:?} {:?}", shown(&sent), shown(&ended));
        }
        let whole = messages(source, limit);
        assert!(whole.starts_with(&sent), "{:?} {:?}", shown(&sent), shown(&whole));
    }

    fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
        prop::collection::vec(any::<prop::sample::Index>(), 1..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_sent_early_is_what_the_whole_has(
            blocks in prop::collection::vec(markdown(), 1..8), cuts in cuts(), limit in 20..200_usize,
        ) {
            assert_stable(&blocks.join("\n\n"), &cuts, limit);
        }

        #[test]
        fn of_any_text_too(
            source in "([ab1 *_~`|<>/!()\\[\\]#.^\\\\${}:=&;+-]{0,9}\n{1,2}){1,60}", cuts in cuts(), limit in 20..60_usize,
        ) {
            assert_stable(&source, &cuts, limit);
        }

        #[test]
        fn it_says_the_same_as_when_formatted_at_once(blocks in prop::collection::vec(markdown(), 1..8), limit in 20..200_usize) {
            let source = blocks.join("\n\n");
            let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let mut said = String::new();
            for piece in messages(&source, limit) {
                let Piece::Text(text) = piece else { return Ok(()) };
                assert_valid(&text);
                prop_assert!(utf16_len(&text.text) <= limit);
                said += &squeezed(&text.text);
            }
            prop_assert_eq!(said, squeezed(&render::render(&source).text));
        }
    }
}
