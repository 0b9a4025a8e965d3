//! Code blocks inside of a block of Markdown. Models open and close both with three backticks, so that the end of the
//! inner block would end the outer one. The outer fence is made longer. Called by [`mod@super::formulas`] before the
//! Markdown is parsed.

use std::borrow::Cow;

/// Language names of Markdown, whose code may have code blocks.
const MARKDOWN: [&str; 2] = ["markdown", "md"];

/// Line that opens or closes a block of code.
struct Fence<'a> {
    mark: char,
    length: usize,
    /// Rest of the line; empty if the line can close a block.
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let body = line.trim_start_matches(' ');
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let (length, indent) = (body.len() - info.len(), line.len() - body.len());
        let info = info.trim();
        (length >= 3 && indent < 4 && !(mark == '`' && info.contains('`'))).then_some(Self {
            mark,
            length,
            info,
        })
    }

    fn is_of_markdown(&self) -> bool {
        let language = self.info.split([' ', '\t', ',', '{', ':']).next().unwrap_or_default();
        MARKDOWN.iter().any(|name| name.eq_ignore_ascii_case(language))
    }

    fn closes(&self, outer: &Self) -> bool {
        self.mark == outer.mark && self.length >= outer.length && self.info.is_empty()
    }
}

/// Makes the fences of a block of Markdown longer than those inside of it. A block that is not closed stays as it is.
pub(super) fn outer_longer(markdown: &str) -> Cow<'_, str> {
    let marks = ["`m", "`M", "~m", "~M", "` m", "~ m"];
    if !marks.iter().any(|mark| markdown.contains(mark)) {
        return Cow::Borrowed(markdown);
    }
    let lines: Vec<&str> = markdown.split_inclusive('\n').collect();
    let mut text = String::with_capacity(markdown.len() + 8);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let behind = lines.get(at + 1..).unwrap_or_default();
        let Some(outer) = Fence::of(line) else {
            text.push_str(line);
            at += 1;
            continue;
        };
        let nested = if outer.is_of_markdown() { nested(&outer, behind) } else { None };
        let plain = || behind.iter().position(|line| Fence::of(line).is_some_and(|it| it.closes(&outer)));
        let (inside, longer) = nested.unwrap_or_else(|| (plain().unwrap_or(behind.len()), 0));
        let more = outer.mark.to_string().repeat(longer);
        let block = lines.iter().skip(at).take(inside + 2).enumerate();
        for (number, line) in block {
            let is_border = number == 0 || number == inside + 1;
            let indent = line.len() - line.trim_start_matches(' ').len();
            let (start, rest) = line.split_at(if is_border { indent } else { 0 });
            text.extend([start, if is_border { &more } else { "" }, rest]);
        }
        at += inside + 2;
    }
    Cow::Owned(text)
}

/// Returns the number of lines inside a block that holds others as deeply fenced, and how much longer its fences must
/// be; `None` if it holds none, or is not closed.
fn nested(outer: &Fence<'_>, behind: &[&str]) -> Option<(usize, usize)> {
    let (mut open, mut longest) = (Vec::new(), 0);
    for (at, line) in behind.iter().enumerate() {
        let Some(fence) = Fence::of(line).filter(|fence| fence.mark == outer.mark) else { continue };
        match open.last() {
            Some(inner) if fence.closes(inner) => drop(open.pop()),
            None if fence.closes(outer) => {
                return (longest >= outer.length).then(|| (at, longest + 1 - outer.length));
            }
            _ if !fence.info.is_empty() => {
                longest = longest.max(fence.length);
                open.push(fence);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn code_in_markdown_does_not_end_it() {
        check(&[
            (
                "```markdown\n# T\n```python\nprint(1)\n```\nmore\n```\nend",
                "{pre=markdown:# T\n```python\nprint(1)\n```\nmore}\nend",
            ),
            (
                "~~~md title=a.md\n~~~sh\nx\n~~~\n~~~rust\ny\n~~~\n~~~\n**b**",
                "{pre=md:~~~sh\nx\n~~~\n~~~rust\ny\n~~~}\n{b:b}",
            ),
            ("````md\n```rust\nx\n```\n````\nend", "{pre=md:```rust\nx\n```}\nend"),
            ("```md\n$x^2$\n```py\n$y$\n```\n```\n$z^2$", "{pre=md:$x^2$\n```py\n$y$\n```}\nz²"),
            // Not closed, or no Markdown: as they stand.
            ("```md\n```py\nx\n```\nend", "{pre=md:```py\nx}\nend"),
            ("```text\n```py\nx\n```\nend", "{pre=text:```py\nx}\nend"),
            ("```md\nx\n```\n**b** `m`", "{pre=md:x}\n{b:b} {c:m}"),
        ]);
    }

    #[test]
    fn what_is_nearly_right_is_read_as_it_is_meant() {
        check(&[
            ("**标题：**字 “**标题**”字", "{b:标题：}字 “{b:标题}”字"),
            ("**「引用」**字「**引用**」字", "{b:「引用」}字「{b:引用}」字"),
            ("字**（注）**字 **1、**字 **A。**B", "字{b:（注）}字 {b:1、}字 {b:A。}B"),
            ("**粗体**,字 **Bold**“字”", "{b:粗体},字 {b:Bold}“字”"),
            ("**제목:**글 **“말”**은 **題：**字", "{b:제목:}글 {b:“말”}은 {b:題：}字"),
            ("~~旧的，~~“新的” ~~旧~~新 a~~b~~c", "{s:旧的，}“新的” {s:旧}新 a{s:b}c"),
            ("~ 5 或 ~6，~~~~ 和 ~~ x ~~", "~ 5 或 ~6，~~~~ 和 ~~ x ~~"),
        ]);
    }
}
