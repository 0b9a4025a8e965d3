//! `parse_mode=MarkdownV2`: Telegram's own dialect, in which literal reserved characters must be escaped.

use serde_json::json;

use super::plain::TextBuilder;

const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

/// Markup opened but not closed yet.
struct OpenMarkup {
    mark: &'static str,
    name: &'static str,
    kind: &'static str,
    byte: usize,
    start: usize,
}

struct Parser<'a> {
    markup: &'a str,
    at: usize,
    plain: TextBuilder,
    open: Vec<OpenMarkup>,
    quote: Option<usize>,
}

pub(super) fn parse(markup: &str) -> Result<TextBuilder, String> {
    let mut parser = Parser { markup, at: 0, plain: TextBuilder::default(), open: Vec::new(), quote: None };
    while !parser.rest().is_empty() {
        parser.step()?;
    }
    parser.end_quote("");
    match parser.open.pop() {
        Some(open) => Err(format!("Can't find end of {} entity at byte offset {}", open.name, open.byte)),
        None => Ok(parser.plain),
    }
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.markup[self.at..]
    }

    fn step(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else {
            return Ok(());
        };
        if self.line_start() {
            if rest.starts_with('>') {
                self.quote.get_or_insert(self.plain.units);
                self.at += 1;
                return Ok(());
            }
            self.end_quote("");
        }
        match c {
            '\\' => self.escaped(rest),
            '`' => self.code(rest)?,
            '[' => self.link_start("["),
            '!' if rest.starts_with("![") => self.link_start("!["),
            ']' => self.link_end(rest)?,
            '*' | '_' | '~' | '|' => self.mark(rest)?,
            reserved if RESERVED.contains(reserved) => return Err(must_escape(reserved)),
            plain => {
                self.plain.push(plain);
                self.at += plain.len_utf8();
            }
        }
        Ok(())
    }

    fn line_start(&self) -> bool {
        self.at == 0 || self.markup[..self.at].ends_with('\n')
    }

    fn end_quote(&mut self, suffix: &str) {
        let Some(start) = self.quote.take() else { return };
        let kind = if suffix.is_empty() { "blockquote" } else { "expandable_blockquote" };
        // The line feed before the first unquoted line stays outside the quotation.
        let trailing = usize::from(self.plain.text.ends_with('\n') && suffix.is_empty());
        self.plain.units -= trailing;
        self.plain.close(start, json!({"type": kind}));
        self.plain.units += trailing;
    }

    fn escaped(&mut self, rest: &str) {
        match rest[1..].chars().next().filter(char::is_ascii) {
            Some(c) => {
                self.plain.push(c);
                self.at += 2;
            }
            None => {
                self.plain.push('\\');
                self.at += 1;
            }
        }
    }

    fn code(&mut self, rest: &str) -> Result<(), String> {
        let (mark, name) = if rest.starts_with("```") { ("```", "PreCode") } else { ("`", "Code") };
        let body = &rest[mark.len()..];
        let Some(end) = closing(body, mark) else {
            return Err(format!("Can't find end of {name} entity at byte offset {}", self.at));
        };
        let inner = &body[..end];
        let start = self.plain.units;
        let mut entity = json!({"type": if name == "Code" { "code" } else { "pre" }});
        let text = match inner.split_once('\n') {
            Some((language, text)) if name == "PreCode" && !language.contains(char::is_whitespace) => {
                if !language.is_empty() {
                    entity["language"] = json!(language);
                }
                text
            }
            _ => inner,
        };
        self.plain.push_str(&unescape(text));
        self.plain.close(start, entity);
        self.at += mark.len() * 2 + end;
        Ok(())
    }

    fn link_start(&mut self, mark: &'static str) {
        let (byte, start) = (self.at, self.plain.units);
        self.open.push(OpenMarkup { mark, name: "TextUrl", kind: "text_link", byte, start });
        self.at += mark.len();
    }

    fn link_end(&mut self, rest: &str) -> Result<(), String> {
        let Some(open) = self.open.pop_if(|o| o.kind == "text_link") else {
            return Err(must_escape(']'));
        };
        let target = rest.strip_prefix("](").and_then(|url| Some((url, closing(url, ")")?)));
        let Some((url, end)) = target else {
            return Err(must_escape('['));
        };
        let url = unescape(&url[..end]);
        let entity = match url.strip_prefix("tg://emoji?id=") {
            Some(id) if open.mark == "![" => json!({"type": "custom_emoji", "custom_emoji_id": id}),
            _ => json!({"type": "text_link", "url": url}),
        };
        self.plain.close(open.start, entity);
        self.at += end + 3;
        Ok(())
    }

    fn mark(&mut self, rest: &str) -> Result<(), String> {
        let (mark, name, kind) = match rest {
            _ if rest.starts_with("||") => ("||", "Spoiler", "spoiler"),
            _ if rest.starts_with('|') => return Err(must_escape('|')),
            _ if rest.starts_with("__") => ("__", "Underline", "underline"),
            _ if rest.starts_with('_') => ("_", "Italic", "italic"),
            _ if rest.starts_with('*') => ("*", "Bold", "bold"),
            _ => ("~", "Strikethrough", "strikethrough"),
        };
        let ends_quote = self.quote.is_some() && !self.open.iter().any(|o| o.mark == "||");
        if mark == "||" && ends_quote && (rest == "||" || rest.starts_with("||\n")) {
            self.end_quote("||");
            self.at += 2;
            return Ok(());
        }
        let (byte, start) = (self.at, self.plain.units);
        self.at += mark.len();
        match self.open.iter().position(|o| o.mark == mark) {
            Some(last) if last + 1 == self.open.len() => {
                if let Some(opened) = self.open.pop() {
                    self.plain.close(opened.start, json!({"type": kind}));
                }
                Ok(())
            }
            Some(_) => {
                let inner = self.open.last().map_or((name, byte), |o| (o.name, o.byte));
                Err(format!("Can't find end of {} entity at byte offset {}", inner.0, inner.1))
            }
            None => {
                self.open.push(OpenMarkup { mark, name, kind, byte, start });
                Ok(())
            }
        }
    }
}

fn must_escape(c: char) -> String {
    format!("Character '{c}' is reserved and must be escaped with the preceding '\\'")
}

/// Returns the position of the next unescaped mark.
fn closing(text: &str, mark: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(mark) {
            return Some(at);
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut escaped = false;
    for c in text.chars() {
        if c == '\\' && !escaped {
            escaped = true;
            continue;
        }
        escaped = false;
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn parsed(markup: &str) -> (String, Value) {
        let (text, entities) = parse(markup).unwrap().finish();
        (text, Value::Array(entities))
    }

    #[test]
    fn marks_become_entities() {
        let (text, entities) = parsed("*b _i_* __u__ ~s~ ||p|| `c\\`` [l](https://x.dev/\\)) 1\\.");
        assert_eq!(text, "b i u s p c` l 1.");
        let wanted = json!([
            {"type": "bold", "offset": 0, "length": 3},
            {"type": "italic", "offset": 2, "length": 1},
            {"type": "underline", "offset": 4, "length": 1},
            {"type": "strikethrough", "offset": 6, "length": 1},
            {"type": "spoiler", "offset": 8, "length": 1},
            {"type": "code", "offset": 10, "length": 2},
            {"type": "text_link", "url": "https://x.dev/)", "offset": 13, "length": 1},
        ]);
        assert_eq!(entities, wanted);
    }

    #[test]
    fn blocks_become_entities() {
        let (text, entities) = parsed(">one\n>two\nrest\n```rust\nf()\n```\n>more||");
        assert_eq!(text, "one\ntwo\nrest\nf()\n\nmore");
        let wanted = json!([
            {"type": "blockquote", "offset": 0, "length": 7},
            {"type": "pre", "language": "rust", "offset": 13, "length": 4},
            {"type": "expandable_blockquote", "offset": 18, "length": 4},
        ]);
        assert_eq!(entities, wanted);
    }

    #[test]
    fn bad_markup_is_refused() {
        let escape =
            |c: char| format!("Character '{c}' is reserved and must be escaped with the preceding '\\'");
        let cases = [
            ("Done.", escape('.')),
            ("a - b", escape('-')),
            ("a | b", escape('|')),
            ("[x] y", escape('[')),
            ("x]", escape(']')),
            ("*bold", "Can't find end of Bold entity at byte offset 0".to_owned()),
            ("a *b _c* d_", "Can't find end of Italic entity at byte offset 5".to_owned()),
            ("`x", "Can't find end of Code entity at byte offset 0".to_owned()),
        ];
        for (markup, wanted) in cases {
            assert_eq!(parse(markup).err(), Some(wanted), "{markup}");
        }
    }
}
