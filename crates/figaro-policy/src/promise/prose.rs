//! Turns an answer into plain sentences: without code, quotes and formatting, lower case, without diacritics, one space
//! between words and punctuation. The patterns of `promise` are written for this form.

/// Maximum length of a quotation: an unclosed mark should not hide the rest of a line.
const MAX_QUOTED: usize = 300;

/// Placeholder for code in a sentence.
pub(super) const CODE: &str = " ` ";

/// Returns the sentences of an answer that speak for the bot itself, each with a space before and after it.
pub(super) fn sentences(answer: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in spoken_lines(answer) {
        split(&plain(&unquoted(line)), &mut sentences);
    }
    sentences
}

/// Lower-cases a text and removes diacritics, whether composed or not; patterns are folded too.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'á' | 'à' | 'â' | 'ã' | 'ä' => folded.push('a'),
            'é' | 'è' | 'ê' | 'ë' => folded.push('e'),
            'í' | 'ì' | 'î' | 'ï' => folded.push('i'),
            'ó' | 'ò' | 'ô' | 'õ' | 'ö' => folded.push('o'),
            'ú' | 'ù' | 'û' | 'ü' => folded.push('u'),
            'ñ' => folded.push('n'),
            'ç' => folded.push('c'),
            'ß' => folded.push_str("ss"),
            'ё' => folded.push('е'),
            'й' => folded.push('и'),
            '’' | 'ʼ' => folded.push('\''),
            '\u{300}'..='\u{36f}' => {}
            c => folded.push(c),
        }
    }
    folded
}

/// Returns the lines outside of fenced code and block quotes.
fn spoken_lines(answer: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut spoken = Vec::new();
    for line in answer.lines() {
        let text = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !text.starts_with('>') => spoken.push(text),
            (None | Some(_), _) => {}
        }
    }
    spoken
}

/// Returns the line without inline code and quotations.
fn unquoted(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let closing: &[char] = match c {
            '`' => &['`'],
            '"' => &['"'],
            '“' | '„' => &['”', '“'],
            '«' => &['»'],
            '»' => &['«'],
            _ => &[],
        };
        let within = rest.as_str();
        let end = within.char_indices().take(MAX_QUOTED).find(|(_, c)| closing.contains(c));
        match end.and_then(|(at, c)| Some((within.get(..at)?, within.get(at + c.len_utf8()..)?))) {
            // A time or a number is often written as code.
            Some((inside, behind)) if c == '`' && !inside.contains(char::is_alphabetic) => {
                kept.push_str(inside);
                rest = behind.chars();
            }
            // A placeholder keeps the words on both sides apart.
            Some((_, behind)) => {
                kept.push_str(if c == '`' { CODE } else { " … " });
                rest = behind.chars();
            }
            None => kept.push(c),
        }
    }
    kept
}

/// Normalises words and punctuation to one space between them. Emoji separate clauses, as a comma does; formatting is
/// dropped.
fn plain(line: &str) -> String {
    let folded = fold(line);
    let mut plain = String::with_capacity(folded.len() + 16);
    let mut chars = folded.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        let inside = before.is_alphanumeric() && after.is_alphanumeric();
        match c {
            '\'' | '`' | '@' | '%' | '€' | '$' => plain.push(c),
            _ if c.is_alphanumeric() => plain.push(c),
            '-' | '.' | ':' | ',' | '/' if inside => plain.push(c),
            '?' | '!' | '.' | ',' | ';' | ':' | '(' | ')' => plain.extend([' ', c, ' ']),
            // A placeholder of a quotation, never the end of a sentence.
            '…' if before == ' ' => plain.push_str(" … "),
            '…' => plain.push_str(" . "),
            '—' | '–' | '-' if before == ' ' || c == '—' => plain.push_str(" — "),
            '\u{2190}'..='\u{2bff}' | '\u{1f000}'.. => plain.push_str(" , "),
            _ => plain.push(' '),
        }
        before = c;
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits after `.`, `!` and `?`. A point after a number or a single letter ends nothing: "am 5. Mai", "9 a.m. sharp".
fn split(plain: &str, sentences: &mut Vec<String>) {
    let mut sentence = String::from(" ");
    let mut before = "";
    for word in plain.split(' ') {
        sentence.push_str(word);
        sentence.push(' ');
        let is_short = before.len() == 1 || before.ends_with(|c: char| c.is_ascii_digit());
        if matches!(word, "!" | "?") || word == "." && !is_short {
            sentences.push(std::mem::replace(&mut sentence, String::from(" ")));
        }
        before = word;
    }
    sentences.push(sentence);
    sentences.retain(|sentence| sentence.chars().any(char::is_alphabetic));
}
