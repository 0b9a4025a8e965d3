//! Lets emphasis begin and end next to scripts without spaces between words. Called by [`mod@super::render`] and
//! [`mod@super::partial`] before the Markdown is parsed, and on its result.
//!
//! By CommonMark the second `**` of `**通知：**请` ends nothing: punctuation comes before it and a letter after it. The
//! amendments for Chinese, Japanese and Korean text let a run of markers between two characters both begin and end
//! emphasis if one of the two is of such a script. The parser does so if a character that is neither punctuation nor
//! white space is on both sides of the run. That character is a guard: no text contains it, and it is removed
//! afterwards.

use std::borrow::Cow;

/// Noncharacter, which Unicode reserves for internal use.
const GUARD: char = '\u{fdd0}';

/// Adds guards around the markers that need them.
pub(super) fn guarded(markdown: Cow<'_, str>) -> Cow<'_, str> {
    if !markdown.contains(['*', '~']) || !markdown.chars().any(is_unspaced) {
        return markdown;
    }
    let mut text = String::with_capacity(markdown.len() + markdown.len() / 8);
    // Previous character; `None` at the start of a line, quote or cell, and after white space.
    let mut before: Option<char> = None;
    let mut rest = markdown.as_ref();
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '*' | '~' => rest.len() - rest.trim_start_matches(c).len(),
            '\\' => rest.chars().take(2).map(char::len_utf8).sum(),
            _ => c.len_utf8(),
        };
        let (taken, behind) = rest.split_at(length);
        match before.zip(behind.chars().next()) {
            Some((before, behind)) if needs_guards(before, taken, behind) => {
                text.push(GUARD);
                text.push_str(taken);
                text.push(GUARD);
            }
            _ => text.push_str(taken),
        }
        before = taken.chars().next_back().filter(|c| !is_border(*c) && (*c != '>' || before.is_some()));
        rest = behind;
    }
    Cow::Owned(text)
}

/// Removes all guards.
pub(super) fn bare(text: &str) -> Cow<'_, str> {
    match text.contains(GUARD) {
        true => Cow::Owned(text.replace(GUARD, "")),
        false => Cow::Borrowed(text),
    }
}

/// Removes the guards at the end of a text.
pub(super) fn bare_end(text: &str) -> &str {
    text.trim_end_matches(GUARD)
}

/// Returns `true` for a run of markers that begins and ends emphasis only with guards. A single asterisk next to a
/// digit belongs to a product, and a single tilde means "about".
fn needs_guards(before: char, taken: &str, behind: char) -> bool {
    let is_style = match taken {
        "*" => !before.is_ascii_digit() && !behind.is_ascii_digit(),
        "~" => false,
        run => run.starts_with("**") || run.starts_with("~~"),
    };
    is_style && !is_border(behind) && (is_unspaced(before) || is_unspaced(behind))
}

const fn is_border(c: char) -> bool {
    c.is_whitespace() || c == '|'
}

/// Returns `true` if the character belongs to a script without spaces between words, or one that attaches endings to
/// words: letters and punctuation, but no emoji. Uses whole Unicode blocks, roughly.
const fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Tibetan, Burmese, Hangul Jamo, Khmer.
        '\u{e00}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        // Ideographs, kana and Hangul, with their punctuation and compatibility forms.
        | '\u{2e80}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}' | '\u{aa60}'..='\u{aa7f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffef}'
        | '\u{1b000}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::super::partial::render_partial;
    use super::super::tests::{assert_valid, check, tagged};
    use super::*;

    #[test]
    fn emphasis_ends_beside_full_width_punctuation() {
        check(&[
            ("请看**通知：**明天停电。", "请看{b:通知：}明天停电。"),
            ("他说**“好的”**就走了。", "他说{b:“好的”}就走了。"),
            ("**注意！**别忘了带伞。", "{b:注意！}别忘了带伞。"),
            ("请看**（重要）**吧，*《书》*好", "请看{b:（重要）}吧，{i:《书》}好"),
            ("价格~~（旧）~~更新，~~旧的。~~新的", "价格{s:（旧）}更新，{s:旧的。}新的"),
            ("***注意：***请看", "{b:{i:注意：}}请看"),
            ("**先说*“一”*，再说。**然后", "{b:先说{i:“一”}，再说。}然后"),
            ("**必ず「確認」**してください", "{b:必ず「確認」}してください"),
            ("これは**「重要」**です。**終わり。**次", "これは{b:「重要」}です。{b:終わり。}次"),
            (
                "**이 용어(This term)**를 쓰고 **\"중요\"**합니다",
                "{b:이 용어(This term)}를 쓰고 {b:\"중요\"}합니다",
            ),
            ("**หมายเหตุ:**โปรดอ่าน ดู**(ใหม่)**นะ", "{b:หมายเหตุ:}โปรดอ่าน ดู{b:(ใหม่)}นะ"),
            ("ｶﾀｶﾅ**ﾃｽﾄ｡**ﾃｽﾄ", "ｶﾀｶﾅ{b:ﾃｽﾄ｡}ﾃｽﾄ"),
            ("我**用`code`**写，**[文](https://a.b)**好", "我{b:用}{c:code}写，{link=https://a.b:{b:文}}好"),
            ("🎉**恭喜！**你赢了**🎉**呢", "🎉{b:恭喜！}你赢了{b:🎉}呢"),
        ]);
    }

    #[test]
    fn it_holds_in_every_block() {
        check(&[
            ("- **一：**甲\n- 乙**“二”**丙", "• {b:一：}甲\n• 乙{b:“二”}丙"),
            ("1. **一：**甲\n2. 乙", "1. {b:一：}甲\n2. 乙"),
            ("# 标题**“一”**二", "{b:标题“一”二}"),
            ("> **注意：**请看\n>**“好”**的", "{q:{b:注意：}请看\n{b:“好”}的}"),
            (">~~~中\n>**x：**y\n>~~~", "{q:{pre:**x：**y}}"),
            (
                "| 项 | 值 |\n|---|---|\n| **甲：**乙 | 丙**“丁”**戊 |",
                "{pre:项     | 值\n-------+---------\n甲：乙 | 丙“丁”戊}",
            ),
            ("||**秘密：**别说||", "{sp:{b:秘密：}别说}"),
            ("<b>一</b>**二：**三", "{b:一二：}三"),
        ]);
    }

    #[test]
    fn other_text_means_what_it_meant() {
        check(&[
            ("**Note:**see", "**Note:**see"),
            ("say**“yes”**now", "say**“yes”**now"),
            ("2 * 3 * 4 是 24，2*3*4 也是", "2 * 3 * 4 是 24，2*3*4 也是"),
            ("2*（3+4）*5 和（1+2）*3", "2*（3+4）*5 和（1+2）*3"),
            ("代码`中**：**文`，\\*\\*注意：\\*\\*请", "代码{c:中**：**文}，**注意：**请"),
            ("文件_（名）_字 约~5（个）~6", "文件_（名）_字 约~5（个）~6"),
            ("全部**都没有结束：", "全部**都没有结束："),
            ("```\n中**：**文\n```", "{pre:中**：**文}"),
            ("中\u{fdd0}文", "中文"),
        ]);
    }

    #[test]
    fn no_marker_is_seen_while_it_streams() {
        let source =
            "请看**通知：**明天停电，他说**“好的”**就走了。\n\n- **注意！**别忘了~~（旧）~~带伞*「或」*不带";
        for (end, _) in source.char_indices() {
            let shown = render_partial(&source[..end]);
            assert_valid(&shown);
            assert!(!shown.text.contains(['*', '~', GUARD]), "{:?} shows {}", &source[..end], tagged(&shown));
        }
    }
}
