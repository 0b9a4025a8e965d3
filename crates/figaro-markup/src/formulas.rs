//! Finds the formulas of an answer before its Markdown is parsed. The parser would read `\(` as an escape and `_` as
//! a style. Called by [`mod@super::render`] and [`mod@super::partial`].
//!
//! Each formula is replaced by one character that no text contains. Its final position decides how it is shown.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::emphasis::bare;
use super::fences::outer_longer;
use super::options::options;
use super::{math, table};

/// Maximum length of a formula, in UTF-16 units.
const MAX_UNITS: usize = 4000;
/// Maximum distance of an open dollar sign from the end. One further back does not open a formula.
const MAX_HELD_BACK: usize = 300;
/// Length limit of an environment's name, in bytes.
const MAX_NAME: usize = 16;
/// Characters that replace formulas: a private use plane of Unicode.
const FIRST: u32 = 0xf_0000;
const LAST: u32 = 0xf_fffd;

/// Delimiters of formulas. Environments have their own.
const FENCES: [(&str, &str); 4] = [("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")];
const BEGIN: &str = "\\begin{";

/// Formulas of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Formulas(Vec<Formula>);

#[derive(Debug, PartialEq)]
pub(super) struct Formula {
    /// Source with its delimiters.
    source: String,
    body: String,
    pub(super) display: bool,
}

impl Formula {
    /// Returns the LaTeX without delimiters.
    pub(super) fn body(&self) -> &str {
        &self.body
    }

    pub(super) fn inline(&self) -> String {
        math::inline(&self.body)
    }

    /// Renders the formula on its own lines. The flag is `true` if they need monospace.
    pub(super) fn lines(&self) -> (String, bool) {
        math::display(&self.body, table::WIDTH)
    }
}

impl Formulas {
    /// Returns the first formula of a text, and the range of the character that replaces it.
    pub(super) fn first(&self, text: &str) -> Option<(Range<usize>, &Formula)> {
        text.char_indices().find_map(|(at, c)| Some((at..at + c.len_utf8(), self.of(c)?)))
    }

    /// Restores the text as it was written: with all formulas, and without guards.
    pub(super) fn restored<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = bare(text);
        if self.0.is_empty() || !text.chars().any(is_stand_in) {
            return text;
        }
        let mut restored = String::new();
        for c in text.chars() {
            match self.of(c) {
                Some(formula) => restored.push_str(&formula.source),
                None => restored.push(c),
            }
        }
        Cow::Owned(restored)
    }

    fn of(&self, c: char) -> Option<&Formula> {
        let at = u32::from(c).checked_sub(FIRST)?;
        self.0.get(usize::try_from(at).ok()?)
    }

    fn add(&mut self, formula: Formula) -> Option<char> {
        let at = FIRST.checked_add(u32::try_from(self.0.len()).ok()?).filter(|at| *at <= LAST)?;
        self.0.push(formula);
        char::from_u32(at)
    }
}

/// Takes the formulas out of Markdown. `open_end` is `true` if it is half-written; a formula that has only begun is
/// then left out.
pub(super) fn take_out(markdown: &str, open_end: bool) -> (Cow<'_, str>, Formulas) {
    match outer_longer(markdown) {
        Cow::Borrowed(markdown) => taken_out(markdown, open_end),
        Cow::Owned(markdown) => {
            let (text, formulas) = taken_out(&markdown, open_end);
            (Cow::Owned(text.into_owned()), formulas)
        }
    }
}

fn taken_out(markdown: &str, open_end: bool) -> (Cow<'_, str>, Formulas) {
    let mut formulas = Formulas::default();
    if !markdown.contains(['$', '\\']) || markdown.chars().any(is_stand_in) {
        return (Cow::Borrowed(markdown), formulas);
    }
    let codes = codes(markdown);
    let mut text = Text::new(markdown.len());
    let mut at = 0;
    while let Some(rest) = markdown.get(at..).filter(|rest| !rest.is_empty()) {
        let next = codes.partition_point(|code| code.end <= at);
        let code = codes.get(next).cloned().unwrap_or(markdown.len()..markdown.len());
        if code.start <= at {
            text.push_str(markdown.get(at..code.end).unwrap_or_default());
            at = code.end;
            continue;
        }
        let window = markdown.get(at..code.start).unwrap_or_default();
        let plain = window.find(['$', '\\']).unwrap_or(window.len());
        let (before, window) = window.split_at(plain);
        text.push_str(before);
        at += plain;
        if window.is_empty() {
            continue;
        }
        let found = formula_at(&text, window);
        if let Some((length, formula)) = found
            && let Some(c) = formulas.add(formula)
        {
            text.push_str(c.encode_utf8(&mut [0; 4]));
            at += length;
            continue;
        }
        if open_end && plain + window.len() == rest.len() && has_begun(&text, window) {
            break;
        }
        let length = passed(window);
        text.push_str(window.get(..length).unwrap_or_default());
        at += length;
    }
    (Cow::Owned(text.text), formulas)
}

/// Returns `true` if no formula is open at the end of this Markdown.
pub(super) fn are_whole(markdown: &str) -> bool {
    take_out(markdown, true).0.len() == take_out(markdown, false).0.len()
}

/// Markdown so far with its formulas replaced. The state of its last line is kept, so that the line is not read again
/// for each formula.
#[derive(Debug)]
struct Text {
    text: String,
    /// `true` if the line has nothing but marks of lists and quotes.
    is_marks: bool,
    /// First character of the line that is not white space.
    first: Option<char>,
}

impl Text {
    fn new(capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), is_marks: true, first: None }
    }

    fn push_str(&mut self, more: &str) {
        self.text.push_str(more);
        let line = match more.rsplit_once('\n') {
            Some((_, line)) => {
                (self.is_marks, self.first) = (true, None);
                line
            }
            None => more,
        };
        let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c);
        self.is_marks = self.is_marks && line.chars().all(is_mark);
        self.first = self.first.or_else(|| line.chars().find(|c| !c.is_whitespace()));
    }
}

fn is_stand_in(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// Returns the ranges of code, which has no formulas.
fn codes(markdown: &str) -> Vec<Range<usize>> {
    let mut codes: Vec<Range<usize>> = Parser::new_ext(markdown, options(markdown))
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect();
    codes.sort_by_key(|code| code.start);
    codes
}

/// Returns the number of bytes to skip at a `$` or a backslash that does not begin a formula.
fn passed(window: &str) -> usize {
    let dollars = window.len() - window.trim_start_matches('$').len();
    if dollars > 0 { dollars } else { window.chars().take(2).map(char::len_utf8).sum() }
}

/// Returns the formula at the start of `window`, and its length with delimiters.
fn formula_at(before: &Text, window: &str) -> Option<(usize, Formula)> {
    if window.starts_with(BEGIN) {
        return environment_at(before, window);
    }
    let (open, close) = FENCES.into_iter().find(|(open, _)| window.starts_with(open))?;
    if open == "$$" && window.starts_with("$$$") {
        return None;
    }
    let inside = window.get(open.len()..)?;
    let end = closing(inside, open, close)?;
    let (body, after) = (inside.get(..end)?, inside.get(end + close.len()..)?);
    let fits = match open {
        // The border between two cells of a table cannot be part of it.
        "$" => {
            opens_dollar(&before.text) && is_dollar_body(body) && !continues(after) && !body.contains(" | ")
        }
        "$$" => !has_blank_line(body) && is_formula(body) && !after.starts_with('$'),
        "\\(" => !has_blank_line(body) && is_formula(body),
        // `see \[1\]` is an escaped bracket in prose.
        _ => is_strong(body) || (before.is_marks && ends_line(after) && !body.trim().is_empty()),
    };
    let display = matches!(open, "\\[" | "$$");
    fits.then(|| made(before, window, open.len()..open.len() + end, close.len(), display))
}

fn environment_at(before: &Text, window: &str) -> Option<(usize, Formula)> {
    let name = environment_name(window.strip_prefix(BEGIN)?).filter(|name| math::is_environment(name))?;
    let own = format!("{BEGIN}{name}}}");
    let close = format!("\\end{{{name}}}");
    let end = BEGIN.len() + closing(window.get(BEGIN.len()..)?, &own, &close)? + close.len();
    Some(made(before, window, 0..end, 0, true))
}

/// Returns the name before the closing brace; `None` if no brace comes within the maximum length.
fn environment_name(text: &str) -> Option<&str> {
    let end = text.bytes().take(MAX_NAME).position(|byte| byte == b'}')?;
    text.get(..end)
}

fn made(before: &Text, window: &str, body: Range<usize>, close: usize, display: bool) -> (usize, Formula) {
    let length = body.end + close;
    let body = window.get(body).unwrap_or_default();
    let quoted = before.first == Some('>');
    let unquoted = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix('>').filter(|_| quoted).unwrap_or(line).to_owned()
    };
    let body = body.split('\n').map(unquoted).collect::<Vec<_>>().join("\n");
    let source = window.get(..length).unwrap_or_default().to_owned();
    (length, Formula { source, body, display })
}

/// Returns the position of `close`, ignoring escaped signs; `None` if `open` comes first.
fn closing(text: &str, open: &str, close: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if at > MAX_UNITS {
            return None;
        }
        if !std::mem::take(&mut escaped) {
            if text.get(at..)?.starts_with(close) {
                return Some(at);
            }
            if !open.is_empty() && text.get(at..)?.starts_with(open) {
                return None;
            }
            escaped = c == '\\';
        }
    }
    None
}

fn has_blank_line(text: &str) -> bool {
    text.trim().lines().any(|line| line.trim().is_empty())
}

fn ends_line(after: &str) -> bool {
    let line = after.lines().next().unwrap_or_default();
    line.trim().chars().all(|c| c.is_ascii_punctuation())
}

/// Returns `true` if the text has signs that are rare in prose.
fn is_strong(body: &str) -> bool {
    body.contains(['\\', '^', '_', '=', '{'])
}

/// Returns `true` if a dollar sign after this text may open a formula. Within a word, an address or a number it does
/// not.
fn opens_dollar(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"=/\\$&?%#@.".contains(c))
}

/// Returns `true` if the following text shows that the previous dollar sign began a price or a name.
fn continues(after: &str) -> bool {
    after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '{' || c == '$')
}

/// Returns `true` if the text between dollar signs is no price, name or sentence.
fn is_dollar_body(body: &str) -> bool {
    let spaces = (body.starts_with(char::is_whitespace), body.ends_with(char::is_whitespace));
    if spaces.0 != spaces.1
        || has_blank_line(body)
        || body.matches('\n').count() > 1 + 2 * usize::from(spaces.0)
    {
        return false;
    }
    let strong = is_strong(body);
    if spaces.0 {
        return strong && words(body).all(|word| word.len() < 3);
    }
    let text = body.trim();
    let short = text.len() <= 3 && text.chars().all(char::is_alphabetic);
    !text.is_empty() && (strong || short || is_dense(text))
}

/// Returns `true` for numbers, signs and single letters only.
fn is_dense(text: &str) -> bool {
    text.contains(char::is_alphanumeric) && words(text).all(|word| word.chars().count() < 2)
}

/// Returns `true` if the text between LaTeX delimiters is a formula rather than an escaped bracket in prose.
fn is_formula(body: &str) -> bool {
    !body.trim().is_empty() && (is_strong(body) || words(body).all(|word| word.chars().count() < 4))
}

/// Returns the runs of letters that belong to no command.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic() && c != '\\')
        .filter(|word| !word.is_empty() && !word.contains('\\'))
}

/// Returns `true` if half a formula is at the end. Its delimiters are then hidden for the moment.
fn has_begun(before: &Text, window: &str) -> bool {
    if window.len() > MAX_UNITS {
        return false;
    }
    if window.len() > 1 && BEGIN.starts_with(window) {
        return true;
    }
    if let Some(rest) = window.strip_prefix(BEGIN) {
        return environment_name(rest).map_or(rest.len() < MAX_NAME, math::is_environment);
    }
    let Some((open, _)) = FENCES.into_iter().find(|(open, _)| window.starts_with(open)) else {
        return false;
    };
    let inside = window.get(open.len()..).unwrap_or_default();
    match open {
        "\\[" => before.is_marks || inside.is_empty() || is_strong(inside),
        "$" => {
            let dense = !inside.starts_with(|c: char| c.is_ascii_digit() || c.is_whitespace())
                && words(inside).all(|word| word.chars().count() < 2);
            opens_dollar(&before.text)
                && !inside.contains('\n')
                && inside.len() <= MAX_HELD_BACK
                && (inside.is_empty() || is_strong(inside) || dense)
        }
        _ => !has_blank_line(inside) && (inside.trim().is_empty() || is_formula(inside)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As if the line were read from its beginning.
        #[test]
        fn the_last_line_is_known_however_it_came(pieces in prop::collection::vec("[ab1 >*\n-]{0,4}", 0..20)) {
            let mut text = Text::new(0);
            for piece in pieces {
                text.push_str(&piece);
                let line = text.text.rsplit('\n').next().unwrap_or_default();
                let is_marks = line.chars().all(|c| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c));
                prop_assert_eq!(text.is_marks, is_marks);
                prop_assert_eq!(text.first, line.trim_start().chars().next());
            }
        }
    }

    /// The text with each formula in angle brackets, those on lines of their own in two.
    fn marked(source: &str, open_end: bool) -> String {
        let (text, formulas) = take_out(source, open_end);
        let mut marked = text.to_string();
        while let Some((range, formula)) = formulas.first(&marked.clone()) {
            let body = formula.body.trim();
            marked.replace_range(
                range,
                &if formula.display { format!("⟪{body}⟫") } else { format!("⟨{body}⟩") },
            );
        }
        marked
    }

    #[test]
    fn formulas_are_told_from_prices_and_escapes() {
        let cases = [
            ("a \\(x^2\\) b", "a ⟨x^2⟩ b"),
            ("\\(x\\), \\( a + b \\)", "⟨x⟩, ⟨a + b⟩"),
            ("$x$ and $2n+1$, $ABC$", "⟨x⟩ and ⟨2n+1⟩, ⟨ABC⟩"),
            ("$a_1 + b_2$.", "⟨a_1 + b_2⟩."),
            ("$ \\frac{a}{b} $", "⟨\\frac{a}{b}⟩"),
            ("so $$x = 1$$ holds", "so ⟪x = 1⟫ holds"),
            ("$$\nx\n= 1\n$$", "⟪x\n= 1⟫"),
            ("\\[\nx\n\n+ 1\n\\]", "⟪x\n\n+ 1⟫"),
            ("> \\[\n> x\n> \\]", "> ⟪x⟫"),
            ("\\begin{align}a&=b\\end{align}", "⟪\\begin{align}a&=b\\end{align}⟫"),
            ("a \\\\[2pt] \\[ x \\\\[2pt] y \\]", "a \\\\[2pt] ⟪x \\\\[2pt] y⟫"),
            ("$5 and $10", "$5 and $10"),
            ("$5, $10 or $15.50", "$5, $10 or $15.50"),
            ("from $5-$10, US$5/US$6, 5$ to 6$", "from $5-$10, US$5/US$6, 5$ to 6$"),
            ("between $5 (net) and 7$", "between $5 (net) and 7$"),
            ("$100M–$200M, A$3 = $2", "$100M–$200M, A$3 = $2"),
            ("$HOME/bin:$PATH and ${x}-${y}", "$HOME/bin:$PATH and ${x}-${y}"),
            ("$$ is cheap, $$$ is not", "$$ is cheap, $$$ is not"),
            ("\\$5 and \\$6$", "\\$5 and \\$6$"),
            ("`$x$` $y$ `\\(z\\)`", "`$x$` ⟨y⟩ `\\(z\\)`"),
            ("```\n$x$\n\\[y\\]\n```\n$z$", "```\n$x$\n\\[y\\]\n```\n⟨z⟩"),
            ("| $5 | 6$ |", "| $5 | 6$ |"),
            ("R$ 5 e R$ 10, $ 5 e $ 6", "R$ 5 e R$ 10, $ 5 e $ 6"),
            ("\\[1\\] Source, see \\[1\\]", "\\[1\\] Source, see \\[1\\]"),
            ("\\[optional\\]", "⟪optional⟫"),
            ("see \\[optional\\] and \\(perhaps not\\)", "see \\[optional\\] and \\(perhaps not\\)"),
            ("\\(x", "\\(x"),
            ("\\begin{document}x\\end{document}", "\\begin{document}x\\end{document}"),
        ];
        for (source, expected) in cases {
            assert_eq!(marked(source, false), expected, "{source:?}");
            let (text, formulas) = take_out(source, false);
            assert_eq!(formulas.restored(&text), source);
        }
    }

    #[test]
    fn a_name_is_looked_for_nearby() {
        assert_eq!(environment_name("align}x}"), Some("align"));
        assert_eq!(environment_name("alig"), None);
        assert_eq!(environment_name(&format!("{}}}", "x".repeat(MAX_NAME))), None);
        assert_eq!(environment_name("ééééééééé}"), None);
    }

    #[test]
    fn half_a_formula_waits() {
        let cases = [
            ("a \\(x", "a "),
            ("a \\(", "a "),
            ("a \\[\n\\frac{a}{", "a "),
            ("a $$x", "a "),
            ("a $x", "a "),
            ("a $", "a "),
            ("a \\beg", "a "),
            ("a \\begin{ali", "a "),
            ("a $5", "a $5"),
            ("a $5 and ", "a $5 and "),
            ("a $HOME", "a $HOME"),
            ("a `$x", "a `"),
            ("a $x$ b", "a ⟨x⟩ b"),
            ("\\(perhaps", "\\(perhaps"),
        ];
        for (source, expected) in cases {
            assert_eq!(marked(source, true), expected, "{source:?}");
        }
    }

    #[test]
    fn a_text_with_characters_of_the_private_plane_is_left_alone() {
        let source = "\u{f0000} $x$";
        let (text, formulas) = take_out(source, false);
        assert_eq!((&*text, formulas.first(&text)), (source, None));
    }
}
