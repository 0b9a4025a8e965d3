//! Word boundaries that no o200k_base token crosses: its pattern, written by hand. Combining marks belong to the
//! letters before them.

/// Class of a character in the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharacterClass {
    Upper,
    Lower,
    /// A letter of a script without case.
    Caseless,
    /// A combining mark.
    Combining,
    Number,
    Newline,
    Space,
    /// Punctuation, symbols and everything else.
    Other,
}

impl CharacterClass {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::Newline,
            ' ' | '\t' | '\u{b}' | '\u{c}' => Self::Space,
            '\0'..='\x7f' => Self::Other,
            // Checked first: these are frequent, and the checks below are slow.
            '\u{620}'..='\u{64a}'
            | '\u{904}'..='\u{939}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' => Self::Caseless,
            c if combines(c) => Self::Combining,
            c if c.is_lowercase() => Self::Lower,
            c if c.is_uppercase() => Self::Upper,
            c if c.is_alphabetic() => Self::Caseless,
            c if c.is_numeric() => Self::Number,
            c if c.is_whitespace() => Self::Space,
            _ => Self::Other,
        }
    }

    const fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Caseless | Self::Combining)
    }

    const fn is_blank(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }
}

/// Returns `true` for combining marks of the most used scripts. Marks of other scripts count as letters or symbols.
fn combines(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}'
        | '\u{6ea}'..='\u{6ed}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{93c}' | '\u{93e}'..='\u{94f}'
        | '\u{951}'..='\u{957}' | '\u{962}'..='\u{963}' | '\u{981}'..='\u{983}' | '\u{9bc}' | '\u{9be}'..='\u{9cd}'
        | '\u{a3c}'..='\u{a4d}' | '\u{abc}' | '\u{abe}'..='\u{acd}' | '\u{b3c}' | '\u{b3e}'..='\u{b4d}'
        | '\u{bbe}'..='\u{bcd}' | '\u{c3c}' | '\u{c3e}'..='\u{c4d}' | '\u{cbc}' | '\u{cbe}'..='\u{ccd}'
        | '\u{d3e}'..='\u{d4d}' | '\u{dca}'..='\u{ddf}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{102b}'..='\u{103e}' | '\u{17b4}'..='\u{17d3}' | '\u{20d0}'..='\u{20f0}' | '\u{3099}'..='\u{309a}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the length in bytes of the first word of a text; 0 if the text is empty.
pub(super) fn first(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return 0 };
    let next = chars.next().map(CharacterClass::of);
    match CharacterClass::of(c) {
        kind if kind.is_letter()
            && !(kind == CharacterClass::Combining && next.is_some_and(CharacterClass::is_letter)) =>
        {
            letters(text, 0)
        }
        // A single non-letter joins the letters after it.
        CharacterClass::Space | CharacterClass::Other | CharacterClass::Combining
            if next.is_some_and(CharacterClass::is_letter) =>
        {
            letters(text, c.len_utf8())
        }
        CharacterClass::Number => run(text, 3, |kind| kind == CharacterClass::Number),
        CharacterClass::Space if c == ' ' && next == Some(CharacterClass::Other) => symbols(text, 1),
        CharacterClass::Space | CharacterClass::Newline => blanks(text),
        _ => symbols(text, 0),
    }
}

/// Returns the length in bytes of the leading characters that satisfy `is_such`, at most `most` characters.
fn run(text: &str, most: usize, is_such: impl Fn(CharacterClass) -> bool) -> usize {
    text.chars().take(most).take_while(|c| is_such(CharacterClass::of(*c))).map(char::len_utf8).sum()
}

/// Returns the end of a run of letters that starts at `from`. It ends before a capital that follows a small letter, and
/// includes an English suffix after an apostrophe.
fn letters(text: &str, from: usize) -> usize {
    let (mut end, mut small, mut after_caseless) = (from, false, None);
    for c in text[from..].chars() {
        match CharacterClass::of(c) {
            CharacterClass::Lower => small = true,
            CharacterClass::Upper if small => break,
            CharacterClass::Upper => {}
            CharacterClass::Caseless | CharacterClass::Combining => after_caseless = Some(end + c.len_utf8()),
            CharacterClass::Number
            | CharacterClass::Newline
            | CharacterClass::Space
            | CharacterClass::Other => break,
        }
        end += c.len_utf8();
    }
    if let (false, Some(after)) = (small, after_caseless) {
        end = after;
    }
    end + ending(&text.as_bytes()[end..])
}

fn ending(rest: &[u8]) -> usize {
    let [b'\'', first, more @ ..] = rest else { return 0 };
    match (first.to_ascii_lowercase(), more.first().map(u8::to_ascii_lowercase)) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => 3,
        _ => 0,
    }
}

/// Returns the end of a run of symbols, with the line ends and slashes after it.
fn symbols(text: &str, from: usize) -> usize {
    let end = from
        + run(&text[from..], usize::MAX, |kind| {
            matches!(kind, CharacterClass::Other | CharacterClass::Combining)
        });
    end + text[end..].bytes().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count()
}

/// Returns the length of leading white space up to its last line end. Without a line end, all but its last character, which
/// joins the next word.
fn blanks(text: &str) -> usize {
    let end = run(text, usize::MAX, CharacterClass::is_blank);
    let blank = &text[..end];
    if let Some(at) = blank.rfind(['\r', '\n']) {
        return at + 1;
    }
    let last = blank.chars().next_back().map_or(0, char::len_utf8);
    if end < text.len() && last < end { end - last } else { end }
}
