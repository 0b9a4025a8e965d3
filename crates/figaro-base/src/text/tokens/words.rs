//! Where o200k_base lets no token reach across: its pattern of words, by hand. Marks belong to the letters before them.

/// What a character is to the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    /// A letter of a script that has no case.
    Caseless,
    /// A mark that goes with the character before it.
    Combining,
    Number,
    Newline,
    Space,
    /// Punctuation, symbols, and whatever else.
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::Newline,
            ' ' | '\t' | '\u{b}' | '\u{c}' => Self::Space,
            '\0'..='\x7f' => Self::Other,
            // Asked first because they are many and the rest is slow.
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

/// The marks of the scripts that are written most; those of others count as letters or symbols.
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

/// The bytes of the first word of a text, which is not empty.
pub(super) fn first(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return 0 };
    let next = chars.next().map(Kind::of);
    match Kind::of(c) {
        kind if kind.is_letter() && !(kind == Kind::Combining && next.is_some_and(Kind::is_letter)) => {
            letters(text, 0)
        }
        // One character that is no letter goes with the letters behind it.
        Kind::Space | Kind::Other | Kind::Combining if next.is_some_and(Kind::is_letter) => {
            letters(text, c.len_utf8())
        }
        Kind::Number => run(text, 3, |kind| kind == Kind::Number),
        Kind::Space if c == ' ' && next == Some(Kind::Other) => symbols(text, 1),
        Kind::Space | Kind::Newline => blanks(text),
        _ => symbols(text, 0),
    }
}

/// The bytes of the first characters that are such, at most so many of them.
fn run(text: &str, most: usize, is_such: impl Fn(Kind) -> bool) -> usize {
    text.chars().take(most).take_while(|c| is_such(Kind::of(*c))).map(char::len_utf8).sum()
}

/// Letters up to where a small one is followed by a capital, with an English ending behind an apostrophe.
fn letters(text: &str, from: usize) -> usize {
    let (mut end, mut small, mut after_caseless) = (from, false, None);
    for c in text[from..].chars() {
        match Kind::of(c) {
            Kind::Lower => small = true,
            Kind::Upper if small => break,
            Kind::Upper => {}
            Kind::Caseless | Kind::Combining => after_caseless = Some(end + c.len_utf8()),
            Kind::Number | Kind::Newline | Kind::Space | Kind::Other => break,
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

/// Symbols with the ends of lines and slashes behind them.
fn symbols(text: &str, from: usize) -> usize {
    let end = from + run(&text[from..], usize::MAX, |kind| matches!(kind, Kind::Other | Kind::Combining));
    end + text[end..].bytes().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count()
}

/// White space up to the last end of a line in it; where there is none, all but its last character, which goes with what
/// follows.
fn blanks(text: &str) -> usize {
    let end = run(text, usize::MAX, Kind::is_blank);
    let blank = &text[..end];
    if let Some(at) = blank.rfind(['\r', '\n']) {
        return at + 1;
    }
    let last = blank.chars().next_back().map_or(0, char::len_utf8);
    if end < text.len() && last < end { end - last } else { end }
}
