//! Scripts without spaces: runs are cut into overlapping pairs of letters, and Han characters also stand alone.

/// Returns `true` for a letter of a script without spaces between words.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3040}'..='\u{30ff}'   // Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}'
        | '\u{ac00}'..='\u{d7a3}'   // Hangul: particles stand at the word
    ) || is_han(c)
}

const fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

const fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}')
}

/// Cuts a run without spaces into pieces, each with a weight from 0 to 1.
pub(super) fn cut(run: &str, mut push: impl FnMut(&str, f32)) {
    let starts: Vec<(usize, char)> = run.char_indices().collect();
    let end = |at: usize| starts.get(at).map_or(run.len(), |(start, _)| *start);
    for (at, (start, c)) in starts.iter().enumerate() {
        if is_han(*c) {
            push(&run[*start..end(at + 1)], 1.0);
        }
        let Some((_, next)) = starts.get(at + 1) else { continue };
        // Pairs of Hiragana are mostly endings and particles.
        let weight = if is_hiragana(*c) && is_hiragana(*next) { 0.3 } else { 1.0 };
        push(&run[*start..end(at + 2)], weight);
        let is_alphabet = !is_han(*c) && !is_hiragana(*c) && !is_han(*next);
        if is_alphabet && at + 2 < starts.len() {
            push(&run[*start..end(at + 3)], 1.0);
        }
    }
    if starts.len() == 1 && !is_han(starts[0].1) {
        push(run, 0.5);
    }
}
