//! Rules for visible characters: which ones join into one, and how wide they are. Called by [`mod@super::split`]
//! [`mod@super::table`] and [`mod@super::math`].

use unicode_width::UnicodeWidthStr;

/// Returns `true` if the character joins the one before it: combining marks, joiners, variation selectors, skin
/// tones.
pub(super) fn is_extender(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e8}'
        | '\u{6ea}'..='\u{6ed}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{93c}' | '\u{93e}'..='\u{94f}'
        | '\u{981}'..='\u{983}' | '\u{9bc}'..='\u{9cd}' | '\u{abc}'..='\u{acd}' | '\u{bbe}'..='\u{bcd}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}'
        | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the columns of a text in monospace: none for marks that join the previous character, two for East Asian
/// characters and emoji.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_counts_what_is_seen() {
        let cases = [
            ("abc", 3),
            ("日本", 4),
            ("👍🏽", 2),
            ("👨‍👩‍👧", 2),
            ("e\u{301}", 1),
            ("🇩🇪", 2),
            ("", 0),
            ("привет", 6),
            ("✅❌⚠️ ☑", 8),
            ("ｆｕｌｌ", 8),
            ("한국", 4),
            ("𝔼ℝ²", 3),
        ];
        for (text, expected) in cases {
            assert_eq!(width(text), expected, "{text}");
        }
    }
}
