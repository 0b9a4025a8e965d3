//! Removes `\boxed{…}` around an answer that is nothing else. Models trained on exercises write it. Used by the
//! reader of every dialect, after the filter of reasoning.

const BOX: &str = "\\boxed{";
/// Characters that may surround the box.
const AROUND: [char; 5] = ['$', '\\', '[', ']', '.'];

/// Filter for the text of an answer.
#[derive(Debug, Default)]
pub(crate) struct Boxed {
    /// Text that may turn out to be nothing but a box.
    held: String,
    is_other: bool,
}

impl Boxed {
    /// Takes more text. Returns the text that can be passed on so far.
    pub(crate) fn pass(&mut self, text: &str) -> String {
        self.held.push_str(text);
        self.is_other |= !may_be_box(&self.held);
        if self.is_other { std::mem::take(&mut self.held) } else { String::new() }
    }

    /// Returns the remaining text at the end.
    pub(crate) fn end(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        match inner(&held) {
            Some((inner, _)) => inner.to_owned(),
            None => held,
        }
    }

    /// Resets the filter: the text so far was no part of the answer.
    pub(crate) fn take_back(&mut self) {
        *self = Self::default();
    }
}

/// Strips the characters before a box.
fn begun(text: &str) -> &str {
    let bare = text.trim_start_matches(|c: char| c.is_whitespace() || c == '$');
    bare.strip_prefix("\\[").map_or(bare, str::trim_start)
}

fn may_be_box(text: &str) -> bool {
    let begun = begun(text);
    match inner(text) {
        Some((_, behind)) => behind.chars().all(|c| c.is_whitespace() || AROUND.contains(&c)),
        None => BOX.starts_with(begun) || begun.starts_with(BOX) || begun == "\\[",
    }
}

/// Returns the content of the box that a text begins with, and the text after it.
fn inner(text: &str) -> Option<(&str, &str)> {
    let boxed = begun(text).strip_prefix(BOX)?;
    let mut depth = 1_usize;
    let mut escaped = false;
    let end = boxed.char_indices().find(|(_, c)| {
        match c {
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth -= 1,
            _ => {}
        }
        escaped = *c == '\\' && !escaped;
        depth == 0
    });
    let (inner, behind) = boxed.split_at(end?.0);
    Some((unworded(inner), behind.strip_prefix('}')?))
}

/// Unwraps `\text{…}` if there is nothing else.
fn unworded(inner: &str) -> &str {
    let words = inner.strip_prefix("\\text{").and_then(|words| words.strip_suffix('}'));
    words.filter(|words| !words.contains(['{', '}'])).unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(pieces: &[&str]) -> String {
        let mut boxed = Boxed::default();
        let told: String = pieces.iter().map(|piece| boxed.pass(piece)).collect();
        told + &boxed.end()
    }

    #[test]
    fn a_box_around_all_is_taken_off_and_any_other_stays() {
        let cases = [
            ("\\boxed{42}", "42"),
            ("$\\boxed{42}$", "42"),
            ("$$\n\\boxed{\\frac{1}{2}}\n$$", "\\frac{1}{2}"),
            ("\\[ \\boxed{\\text{Two loaves.}} \\]", "Two loaves."),
            ("\\boxed{a\\}b}.", "a\\}b"),
            ("\\boxed{42} loaves", "\\boxed{42} loaves"),
            ("The answer is \\boxed{42}", "The answer is \\boxed{42}"),
            ("\\boxed{42", "\\boxed{42"),
            ("\\box", "\\box"),
            ("$5 is enough", "$5 is enough"),
            ("\\[x\\]", "\\[x\\]"),
            ("Two", "Two"),
        ];
        for (text, expected) in cases {
            assert_eq!(left(&[text]), expected, "{text}");
            for (at, _) in text.char_indices() {
                let (start, end) = text.split_at(at);
                assert_eq!(left(&[start, end]), expected, "{text} cut at {at}");
            }
        }
    }
}
