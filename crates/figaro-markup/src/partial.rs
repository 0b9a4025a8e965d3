//! Completes half-written Markdown, so that it renders without raw markers while it streams. Called by the reply path
//! for drafts.
//!
//! The parser itself shows which markers of the last block have no partner; those are closed. Text that may still
//! become a marker is held back until the next characters decide.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::emphasis::{bare_end, guarded};
use super::formatted::Formatted;
use super::options::options;
use super::{formulas, html, render};

/// Maximum distance of an open bracket from the end. One further back does not start a link.
const MAX_LINK_TEXT: usize = 300;
const MAX_REFERENCE: usize = 8;
/// Maximum number of open markers. Text with more is not half-written Markdown, and is left unchanged.
const MAX_OPEN: usize = 32;

/// Renders Markdown of which only the beginning has arrived.
#[must_use]
pub(super) fn render_partial(markdown: &str) -> Formatted {
    let (text, formulas) = formulas::take_out(markdown, true);
    render::walk(&complete(&guarded(text)), &formulas, true)
}

/// Closes what is open at the end of Markdown, and holds back what may still become a marker.
pub(super) fn complete(markdown: &str) -> String {
    let mut text = markdown.trim_end().to_owned();
    let line_ends = markdown[text.len()..].matches('\n').count();
    match Leaf::last(&text).kind {
        LeafKind::Code { fence } => {
            if line_ends == 0 {
                hold_back_fence(&mut text, fence);
            }
            return text;
        }
        LeafKind::Html => hold_back_tag(&mut text, 0),
        LeafKind::Text | LeafKind::Other if line_ends < 2 => {
            if line_ends == 0 {
                let line = text.rfind('\n').map_or(0, |at| at + 1);
                hold_back_markers(&mut text);
                hold_back_line(&mut text, line);
            }
            hold_back_link(&mut text);
            text = close_markers(text);
            add_table_rule(&mut text);
        }
        LeafKind::Text | LeafKind::Other => {}
    }
    text
}

/// Last block that contains text, as the parser sees it.
#[derive(Debug)]
struct Leaf {
    kind: LeafKind,
    start: usize,
    end: usize,
    /// Ranges of literal text in the source. Markers in them have no partner.
    literals: Vec<Range<usize>>,
    /// End of the last inline code.
    code_end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeafKind {
    Text,
    /// Length of the opening fence; 0 for indented code.
    Code {
        fence: usize,
    },
    Html,
    Other,
}

impl Leaf {
    fn new(kind: LeafKind, start: usize) -> Self {
        Self { kind, start, end: start, literals: Vec::new(), code_end: 0 }
    }

    fn last(source: &str) -> Self {
        let mut leaf = Self::new(LeafKind::Other, 0);
        for (event, range) in Parser::new_ext(source, options(source)).into_offset_iter() {
            match event {
                // Cell that the row lacks so far.
                Event::Start(Tag::TableCell) if range.is_empty() => {}
                Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell) => {
                    leaf = Self::new(LeafKind::Text, range.start);
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let opening = source[range.start..].bytes().take_while(|b| matches!(b, b'`' | b'~'));
                    let fence = if matches!(kind, CodeBlockKind::Fenced(_)) { opening.count() } else { 0 };
                    leaf = Self::new(LeafKind::Code { fence }, range.start);
                }
                Event::Start(Tag::HtmlBlock) => leaf = Self::new(LeafKind::Html, range.start),
                Event::Rule => leaf = Self::new(LeafKind::Other, range.start),
                Event::Text(text) if *text == source[range.clone()] => {
                    leaf.end = leaf.end.max(range.end);
                    leaf.literals.push(range);
                }
                Event::Code(_) => {
                    leaf.code_end = range.end;
                    leaf.end = leaf.end.max(range.end);
                }
                _ => leaf.end = leaf.end.max(range.end),
            }
        }
        leaf
    }

    /// Returns the characters of the literals with their positions, without escaped ones.
    fn characters<'a>(&'a self, source: &'a str) -> impl Iterator<Item = (usize, char)> + 'a {
        self.literals.iter().flat_map(move |range| {
            let escaped = source[..range.start].ends_with('\\');
            let characters = source[range.clone()].char_indices().skip(usize::from(escaped));
            characters.map(|(at, c)| (range.start + at, c))
        })
    }
}

/// Holds back a half-written closing fence: a last line with fewer fence characters than the opening.
fn hold_back_fence(text: &mut String, fence: usize) {
    let line = text.rfind('\n').map_or(text.len(), |at| at + 1);
    let last = text[line..].trim_start_matches([' ', '>']);
    if !last.is_empty() && last.len() < fence && last.bytes().all(|b| matches!(b, b'`' | b'~')) {
        text.truncate(line);
    }
}

fn hold_back_tag(text: &mut String, from: usize) {
    let Some(at) = text[from..].rfind('<').map(|at| from + at) else {
        return;
    };
    if !text[at..].contains('>') && html::may_become_tag(&text[at..]) {
        text.truncate(at);
    }
}

/// Drops characters at the very end that may be the first half of a marker. Complete markers are closed again later.
fn hold_back_markers(text: &mut String) {
    let leaf = Leaf::last(text);
    if leaf.code_end == text.len() {
        return;
    }
    hold_back_tag(text, leaf.start.min(text.len()));
    hold_back_task(text);
    if let Some(at) = text.rfind('&') {
        let name = &text[at + 1..];
        let is_name = name.is_empty() || name.starts_with(|c: char| c == '#' || c.is_ascii_lowercase());
        let fits = name.len() <= MAX_REFERENCE && name.chars().skip(1).all(|c| c.is_ascii_alphanumeric());
        if is_name && fits {
            text.truncate(at);
        }
    }
    let mut kept = text.trim_end_matches(['*', '_', '~', '`', '|', '\\', '[']);
    let before = kept.strip_suffix('!').unwrap_or(kept);
    // An image begins. After a word the mark ends a sentence.
    if text[kept.len()..].starts_with('[')
        || before.is_empty()
        || before.ends_with(|c: char| c == '[' || c.is_whitespace())
    {
        kept = before;
    }
    text.truncate(kept.trim_end().len());
}

/// Drops the half-written check box of a task.
fn hold_back_task(text: &mut String) {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let Some(at) = text[line..].find('[').map(|at| line + at) else {
        return;
    };
    let marker = text[line..at].trim();
    let is_marker =
        matches!(marker, "-" | "*" | "+") || marker.strip_suffix(['.', ')']).is_some_and(is_number);
    if is_marker && matches!(&text[at..], "[" | "[x" | "[X" | "[x]" | "[X]" | "[ ]") {
        text.truncate(at);
    }
}

/// Drops a last line with nothing but what may become a list marker, a rule, an underline, the border of a table or a
/// link definition.
fn hold_back_line(text: &mut String, line: usize) {
    if text.len() <= line {
        return;
    }
    let last = text[line..].trim_matches([' ', '\t', '>']);
    let is_rule = last.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '+' | '|' | ':' | ' '));
    let follows_text = text[..line].trim_end_matches([' ', '\t']).trim_end_matches('\n').len() + 1 == line;
    let is_number = follows_text && is_number(last.strip_suffix(['.', ')']).unwrap_or(last));
    let is_definition = last.starts_with('[') && !last.starts_with("[^") && last.contains("]:");
    if is_rule || is_number || is_definition {
        text.truncate(text[..line].trim_end().len());
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Shows an unfinished link as its text, without brackets and without the partial address.
fn hold_back_link(text: &mut String) {
    let leaf = Leaf::last(text);
    let mut open: Vec<usize> = Vec::new();
    let mut end = text.len();
    let last_paren = text.rfind(')').unwrap_or_default();
    for (at, c) in leaf.characters(text) {
        if c == '[' {
            open.push(at);
        } else if c == ']' {
            let rest = &text[at + 1..];
            if rest.is_empty() || (rest.starts_with('(') && last_paren < at) {
                end = at;
                break;
            }
            open.pop();
        }
    }
    // Footnotes and numbered references keep their brackets, so they wait until they are complete.
    text.truncate(end);
    for at in open.into_iter().rev().take_while(|at| end - at <= MAX_LINK_TEXT) {
        let label = &text[at + 1..];
        if label.starts_with('^') || is_number(label) {
            text.truncate(at);
        } else {
            let from = if text[..at].ends_with('!') { at - 1 } else { at };
            text.replace_range(from..=at, "");
        }
    }
    text.truncate(text.trim_end().len());
}

/// Appends the missing partners of open markers in the last block. A marker that cannot be closed is removed.
fn close_markers(text: String) -> String {
    let open = open_markers(&text);
    if open.is_empty() || open.len() > MAX_OPEN {
        return text;
    }
    let closed = format!("{text}{}", closers(&open));
    let failed: Vec<Marker> =
        open_markers(&closed).into_iter().filter(|marker| marker.range.end <= text.len()).collect();
    if failed.is_empty() {
        return closed;
    }
    let mut text = text;
    for marker in failed.iter().rev() {
        text.replace_range(marker.range.clone(), "");
    }
    let open: Vec<Marker> = open.into_iter().filter(|marker| !failed.contains(marker)).collect();
    text + &closers(&open)
}

/// Run of marker characters without a partner.
#[derive(Debug, PartialEq)]
struct Marker {
    range: Range<usize>,
    closer: String,
}

fn closers(open: &[Marker]) -> String {
    open.iter().rev().map(|marker| marker.closer.as_str()).collect()
}

fn open_markers(text: &str) -> Vec<Marker> {
    let leaf = Leaf::last(text);
    let mut open: Vec<Marker> = Vec::new();
    if leaf.kind != LeafKind::Text || leaf.end < text.len() {
        return open;
    }
    let mut done = 0;
    for (at, c) in leaf.characters(text) {
        if at < done || !matches!(c, '*' | '_' | '~' | '`') {
            continue;
        }
        let length = text[at..].chars().take_while(|next| *next == c).count();
        done = at + length;
        let previous = bare_end(&text[..at]).chars().next_back();
        let Some(next) = text[done..].chars().next() else {
            break;
        };
        if !opens(c, length, previous, next) {
            continue;
        }
        let closer = c.to_string().repeat(if c == '`' { length } else { length.min(3) });
        open.push(Marker { range: at..done, closer });
        if c == '`' {
            break; // All behind it is code.
        }
    }
    open
}

/// Returns `true` if a run of `c` begins a style, and not a product, a name or an approximate number.
fn opens(c: char, length: usize, previous: Option<char>, next: char) -> bool {
    match c {
        '`' => true,
        _ if next.is_whitespace() => false,
        '*' => length > 1 || previous.is_none_or(|c| !c.is_ascii_alphanumeric()),
        '_' => previous.is_none_or(|c| !c.is_alphanumeric()),
        _ => length == 2,
    }
}

/// Adds the rule below the first row of a table early, so that the row never shows as a line of pipes.
fn add_table_rule(text: &mut String) {
    let leaf = Leaf::last(text);
    let row = &text[leaf.start.min(text.len())..];
    let at_line_start = leaf.start == 0 || text[..leaf.start.min(text.len())].ends_with('\n');
    if leaf.kind != LeafKind::Text || !at_line_start || !row.starts_with("| ") || row.contains('\n') {
        return;
    }
    let cells = row.trim_matches(['|', ' ']).replace("\\|", "").split('|').count();
    text.truncate(text.trim_end_matches(['|', ' ']).len());
    text.push_str(" |\n|");
    text.push_str(&"---|".repeat(cells));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{assert_valid, markdown, tagged};
    use super::*;

    #[test]
    fn half_written_markdown_shows_no_markers() {
        let cases = [
            ("", ""),
            ("**", ""),
            ("a **bo", "a {b:bo}"),
            ("a **bold*", "a {b:bold}"),
            ("a **bold** *it", "a {b:bold} {i:it}"),
            ("**bold _both", "{b:bold {i:both}}"),
            ("***all", "{b:{i:all}}"),
            ("**bold: ", "{b:bold:}"),
            ("~~go", "{s:go}"),
            ("`co", "{c:co}"),
            ("`a*b", "{c:a*b}"),
            ("``a`b", "{c:a`b}"),
            ("say `x`", "say {c:x}"),
            ("||sec", "{sp:sec}"),
            ("||secret|", "{sp:secret}"),
            ("<b>bo", "{b:bo}"),
            ("a <", "a"),
            ("a <stro", "a"),
            ("a <https://exa", "a"),
            ("a < b", "a < b"),
            ("x<y", "x<y"),
            ("[te", "te"),
            ("see [text]", "see text"),
            ("see [text](htt", "see text"),
            ("see [te**xt**](https://a.b/c_d_", "see te{b:xt}"),
            ("see [text](https://a.b)", "see {link=https://a.b:text}"),
            ("see ![", "see"),
            ("see ![alt](h", "see alt"),
            ("see [![alt](https://a.b)](h", "see {link=https://a.b:alt}"),
            ("see [1", "see"),
            ("see [^1", "see"),
            ("arr[0] and **b", "arr[0] and {b:b}"),
            ("well!", "well!"),
            ("5 * 3", "5 * 3"),
            ("2*3", "2*3"),
            ("snake_ca", "snake_ca"),
            ("a \\*b **c", "a *b {b:c}"),
            ("R&am", "R"),
        ];
        check(&cases);
    }

    #[test]
    fn half_written_blocks_do_not_jump() {
        let cases = [
            ("# He", "{b:He}"),
            ("# He **x", "{b:He x}"),
            ("text\n-", "text"),
            ("text\n---", "text"),
            ("text\n==", "text"),
            ("- a\n-", "• a"),
            ("- a\n- **b", "• a\n• {b:b}"),
            ("- [", ""),
            ("- [x]", ""),
            ("- [x] d", "☑ d"),
            ("1. a\n2", "1. a"),
            ("> q *a", "{q:q {i:a}}"),
            ("```", ""),
            ("```ru", ""),
            ("```rust\nfn", "{pre=rust:fn}"),
            ("```rust\nfn **a* `x\n``", "{pre=rust:fn **a* `x}"),
            ("```rust\nfn\n```", "{pre=rust:fn}"),
            ("a\n``", "a"),
            ("- a\n  ```\n  x\n  `", "• a\n{pre:x}"),
            ("| Na", "{pre:Na\n--}"),
            ("| A | **B", "{pre:A | B\n--+--}"),
            ("| A | B |\n", "{pre:A | B\n--+--}"),
            ("| A | B |\n|-", "{pre:A | B\n--+--}"),
            ("| A | B |\n|---|---|\n| **c", "{pre:A | B\n--+--\nc |}"),
            ("[1]: https://exa", ""),
            ("<details>\n<summary>S", "{eq:{b:S}}"),
            ("done **\n\nnext", "done **\n\nnext"),
        ];
        check(&cases);
    }

    fn check(cases: &[(&str, &str)]) {
        for (source, expected) in cases {
            assert_eq!(tagged(&render_partial(source)), *expected, "{source:?}");
        }
    }

    #[test]
    fn text_grows_as_it_streams() {
        let source = "# Title `code`\n\nSome **bold _both_ text**, ~~gone~~ and [a link](https://a.b/c_d).\n\n\
            - one **strong**\n- two\n  1. deep `x`\n- [x] done\n\n> quote *it*\n\n```rust\nfn main() {}\n```\n\n\
            ---\n\nAn ![image](https://a.b/c.png), ||hidden **x**||, <u>under</u> &amp; 2*3 snake_case [1].\n\n\
            Last\n";
        let mut shown = String::new();
        for (end, _) in source.char_indices().chain([(source.len(), ' ')]) {
            let next = render_partial(&source[..end]).text;
            assert!(next.starts_with(&shown), "after {:?}: {shown:?} became {next:?}", &source[..end]);
            shown = next;
        }
        assert_eq!(shown, render::render(source).text);
    }

    #[test]
    fn formulas_grow_whole() {
        let source = "The root is \\(\\sqrt{x+1}\\), and $\\frac{a}{b}$ is **half** of $c+1$.\n\n\\[\n\\begin{aligned}\n\
            a &= \\frac{1}{2} \\\\\n&= b\n\\end{aligned}\n\\]\n\nIt costs $5, not $10:\n\n$$E = mc^2$$\n\n\
            1. \\(x_1\\)\n2. last\n";
        let mut shown = String::new();
        for (end, _) in source.char_indices().chain([(source.len(), ' ')]) {
            let next = render_partial(&source[..end]).text;
            assert!(next.starts_with(&shown), "after {:?}: {shown:?} became {next:?}", &source[..end]);
            assert!(!next.contains('\\'), "{next}");
            shown = next;
        }
        assert_eq!(
            shown,
            "The root is √(x + 1), and a/b is half of c + 1.\n\na = 1/2\n= b\n\nIt costs $5, not $10:\n\nE = mc²\n\n\
             1. x₁\n2. last"
        );
        assert_eq!(shown, render::render(source).text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_prefix_is_valid(source in markdown()) {
            for (end, _) in source.char_indices().chain([(source.len(), ' ')]) {
                assert_valid(&render_partial(&source[..end]));
            }
        }

        #[test]
        fn any_text_is_valid(source in "\\PC*") {
            assert_valid(&render_partial(&source));
        }
    }
}
