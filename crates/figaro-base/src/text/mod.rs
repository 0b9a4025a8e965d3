//! Text measures and cuts: UTF-16 units as Telegram counts them, token estimates, shortening that keeps both ends,
//! Markdown.

mod tokens;

pub use tokens::{estimate_tokens, most_tokens};

use strsim::osa_distance;

/// Returns the length in UTF-16 code units, the unit of all Telegram limits and entity offsets.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the longest prefix of at most `limit` UTF-16 units. Never cuts a character.
#[must_use]
pub fn utf16_prefix(text: &str, limit: usize) -> &str {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > limit {
            return &text[..at];
        }
    }
    text
}

/// Returns a prefix of at most `max_tokens` estimated tokens.
#[must_use]
pub fn first_tokens(text: &str, max_tokens: usize) -> &str {
    // A token rarely has more bytes than this; the bound avoids counting all of a long paste.
    const MAX_BYTES_PER_TOKEN: usize = 8;
    let mut kept = &text[..text.floor_char_boundary(max_tokens.saturating_mul(MAX_BYTES_PER_TOKEN))];
    loop {
        let tokens = estimate_tokens(kept);
        if tokens <= max_tokens {
            return kept;
        }
        // Scales down in proportion and a little more, so that a few rounds suffice.
        let bytes = kept.len() * max_tokens / tokens;
        kept = &kept[..kept.floor_char_boundary(bytes - bytes / 32)];
    }
}

/// Returns the known word nearest to this one, if its edit distance is within `bound` of the known word. Ties go to the
/// first in the alphabet.
#[must_use]
pub fn nearest<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    bound: impl Fn(&str) -> usize,
) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (osa_distance(word, known), known));
    near.filter(|(distance, known)| *distance <= bound(known)).min().map(|(_, known)| known)
}

/// Appends a "did you mean" hint to `fault` if a known word is similar to `word`.
#[must_use]
pub fn with_nearest<'a>(fault: String, word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, known, |known| known.len().div_ceil(3)) {
        Some(meant) => format!("{fault}: did you mean {meant}?"),
        None => fault,
    }
}

/// Joins the text into one line of at most `limit` characters, with `…` where it is cut.
#[must_use]
pub fn one_line(text: &str, limit: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= limit {
        return flat;
    }
    let kept: String = flat.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Keeps the first and last `keep` characters, with `between` for the rest. A text that is short enough stays as it is.
#[must_use]
pub fn keep_ends(text: &str, keep: usize, between: &str) -> String {
    cut_middle(text, keep, keep, between)
}

/// Keeps `start` characters at the start and `end` at the end, with `between` for the rest. A text that is short enough
/// stays as it is.
#[must_use]
pub fn cut_middle(text: &str, start: usize, end: usize, between: &str) -> String {
    let count = text.chars().count();
    if count <= start.saturating_add(end) {
        return text.to_owned();
    }
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    let (first, last) = (&text[..byte(start)], &text[byte(count - end)..]);
    format!("{}{between}{}", first.trim_end(), last.trim_start())
}

/// Returns `true` for characters that are invisible or change the display order (Unicode: Cf, and line separators).
#[must_use]
pub const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Escapes a text as one line of Markdown that shows it literally. Uses character references, since a backslash may
/// begin a formula.
#[must_use]
pub fn as_markdown(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut digits_only = true;
    for (at, c) in text.char_indices() {
        let is_mark = match c {
            '\\' | '`' | '*' | '_' | '~' | '|' | '[' | ']' | '<' | '>' | '&' | '$' => true,
            // These begin a heading, a list or a rule.
            '#' | '-' | '+' | '=' | ':' => at == 0,
            '.' | ')' => digits_only,
            _ => false,
        };
        digits_only &= c.is_ascii_digit();
        if is_mark {
            markdown.push_str(&format!("&#{};", u32::from(c)));
        } else {
            markdown.push(c);
        }
    }
    markdown
}

/// Returns `true` if the text is an object or list in JSON, or may become one when more of it arrives.
#[must_use]
pub fn may_be_json(text: &str) -> bool {
    text.starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).map_or_else(|error| error.is_eof(), |_| true)
}

/// Closes an open code block in a truncated Markdown text, so that appended text stands outside of it.
#[must_use]
pub fn close_code(markdown: &str) -> String {
    let mut open: Option<&str> = None;
    for line in markdown.lines() {
        let text = line.trim_start_matches(' ');
        let fence = ["`", "~"].map(|mark| &text[..text.len() - text.trim_start_matches(mark).len()]);
        let Some(fence) = fence.into_iter().find(|fence| fence.len() >= 3) else { continue };
        match open {
            // A closing fence is at least as long as the opening one, with nothing after it.
            Some(opened) => {
                if fence.starts_with(opened) && text.trim_end().len() == fence.len() {
                    open = None;
                }
            }
            None => open = Some(fence),
        }
    }
    match open {
        Some(fence) => format!("{markdown}\n{fence}"),
        None => markdown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_was_left_open_is_closed() {
        let cases = [
            ("plain `code`", "plain `code`"),
            ("```rust\nfn main() {", "```rust\nfn main() {\n```"),
            ("```\na\n```", "```\na\n```"),
            ("````\n```\nb", "````\n```\nb\n````"),
            ("~~~\n```", "~~~\n```\n~~~"),
            ("```\na\n``` b", "```\na\n``` b\n```"),
        ];
        for (text, closed) in cases {
            assert_eq!(close_code(text), closed, "{text:?}");
        }
    }

    #[test]
    fn cuts_keep_characters_whole() {
        assert_eq!(utf16_len("a😀б"), 4);
        assert_eq!(utf16_prefix("a😀б", 2), "a");
        assert_eq!(utf16_prefix("a😀б", 3), "a😀");
        assert_eq!(one_line("one\n two  three", 8), "one two…");
        assert_eq!(keep_ends("abcdefghij", 2, "…"), "ab…ij");
        assert_eq!(keep_ends("abcd", 2, "…"), "abcd");
        assert_eq!(cut_middle("äbcdefghij", 1, 3, "…"), "ä…hij");
        assert_eq!(cut_middle("abcd", 0, 0, "…"), "…");
    }
}
