//! Small models write marks of the prompt into their answers, such as the tag of a message or the time. Takes them out while
//! an answer is written. Used by the turn.

/// The elements of the prompts that stand around a question; they are no HTML.
const ELEMENTS: [&str; 16] = [
    "now",
    "message",
    "asked_by",
    "replies_to",
    "quoted_part",
    "attached",
    "background",
    "said",
    "records",
    "notes",
    "kept",
    "pins",
    "memories",
    "summaries",
    "older_messages",
    "chat_settings",
];
/// Those of them that nobody can have asked for.
const NEVER_MEANT: [&str; 4] = ["now", "asked_by", "replies_to", "attached"];
/// How the sentences of `tail.md` begin that stand before a question.
const SENTENCES: [&str; 2] =
    ["Answer the following message only.", "Carry out the following task now, and nothing else."];
const FENCES: [&str; 2] = ["```", "~~~"];
const END: &str = "</message>";
/// The longest tag that is waited for, in bytes.
const MAX_TAG: usize = 2_000;

/// The text of one pass as it is written.
#[derive(Debug, Default)]
pub struct Echo {
    /// The words of the question.
    question: String,
    /// What of the current line is not told yet.
    line: String,
    /// The beginning of the current line was told.
    begun: bool,
    is_code: bool,
    /// The element that is being left out.
    inside: Option<&'static str>,
    /// What was left out, though it may be what was asked for.
    left_out: String,
    /// What stands in the tag of a message, as long as it may be the question.
    repeated: Option<String>,
    told: bool,
    /// The model writes a message of somebody else: nothing of it is told.
    over: bool,
}

/// A line as it is read.
enum Line<'a> {
    Tag { name: &'static str, closes: bool, is_bare: bool, is_whole: bool, rest: &'a str },
    Fence,
    Sentence,
    Words,
}

impl Echo {
    /// For an answer to this prompt, in which the question stands in the last tag of a message.
    #[must_use]
    pub fn of(prompt: &str) -> Self {
        let element = prompt.rsplit_once("<message ").map(|(_, element)| element);
        let words = element.and_then(|element| element.split_once(">\n")?.1.split_once(END));
        let question = words.map(|(words, _)| words.trim().to_owned()).unwrap_or_default();
        Self { question, ..Self::default() }
    }

    /// Takes more of the text; gives what of it can be told by now.
    #[must_use]
    pub fn push(&mut self, text: &str) -> String {
        let mut told = String::new();
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                told += &self.whole(&line);
                self.begun = false;
            } else {
                told += &self.part();
            }
        }
        told
    }

    /// Ends the text; gives what is left to be told.
    #[must_use]
    pub fn end(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let mut told = self.whole(&line);
        if let Some(words) = self.repeated.take().filter(|words| words.trim() != self.question) {
            told += &self.tell(&words);
        }
        if !self.told {
            let left = std::mem::take(&mut self.left_out);
            told += &self.tell(&left);
        }
        told
    }

    /// What is told of a line of which nothing more comes.
    fn whole(&mut self, line: &str) -> String {
        if self.over {
            return String::new();
        }
        if let Some(name) = self.inside {
            return self.within(name, line);
        }
        match self.read(line) {
            // Without a name of its writer it is no message of somebody else.
            Line::Tag { name: "message", closes: false, is_bare: true, rest, .. } => self.rest(rest),
            Line::Tag { name: "message", closes: false, rest, .. } => {
                // It goes on with a message of its own making.
                self.over = self.told;
                self.repeated = Some(String::new());
                self.rest(rest)
            }
            Line::Tag { name: "message", closes: true, rest, .. } => {
                let words = self.repeated.take().filter(|words| words.trim() != self.question);
                words.map(|words| self.tell(&words)).unwrap_or_default() + &self.rest(rest)
            }
            Line::Tag { closes, is_whole, rest, .. } if closes || is_whole => self.rest(rest),
            Line::Tag { name, rest, .. } => {
                self.inside = Some(name);
                self.note(name, line.strip_suffix(rest).unwrap_or(line));
                self.within(name, rest)
            }
            Line::Sentence => String::new(),
            Line::Fence => {
                self.is_code = !self.is_code;
                self.words(line)
            }
            Line::Words => match line.split_once(END).filter(|_| !self.is_code && !line.contains('`')) {
                Some((before, behind)) => {
                    let told = self.words(before);
                    self.begun = false;
                    told + &self.whole(&format!("{END}{behind}"))
                }
                None => self.words(line),
            },
        }
    }

    fn rest(&mut self, rest: &str) -> String {
        if rest.trim().is_empty() { String::new() } else { self.whole(rest) }
    }

    /// What is told of a line within an element that is left out.
    fn within(&mut self, name: &'static str, line: &str) -> String {
        let Some((before, behind)) = line.split_once(&format!("</{name}>")) else {
            self.note(name, line);
            return String::new();
        };
        self.note(name, &format!("{before}</{name}>\n"));
        self.inside = None;
        self.rest(behind)
    }

    fn note(&mut self, name: &str, text: &str) {
        if !NEVER_MEANT.contains(&name) {
            self.left_out.push_str(text);
        }
    }

    fn words(&mut self, words: &str) -> String {
        let Some(repeated) = &mut self.repeated else { return self.tell(words) };
        repeated.push_str(words);
        if self.question.starts_with(repeated.trim()) {
            return String::new();
        }
        let words = self.repeated.take().unwrap_or_default();
        self.tell(&words)
    }

    fn tell(&mut self, words: &str) -> String {
        let words = if self.told { words } else { words.trim_start_matches(['\n', '\r']) };
        self.told |= !words.trim().is_empty();
        if self.told { words.to_owned() } else { String::new() }
    }

    /// What of a line that goes on can be told.
    fn part(&mut self) -> String {
        if self.over
            || self.inside.is_some()
            || self.repeated.is_some()
            || (!self.begun && self.may_be_mark())
        {
            return String::new();
        }
        self.begun = true;
        let is_held = |at: &usize| END.starts_with(&self.line[*at..]);
        let whole = self.line.find(END).filter(|_| !self.is_code);
        let told = whole.or(self.line.rfind('<').filter(is_held)).unwrap_or(self.line.len());
        let rest = self.line.split_off(told);
        let words = std::mem::replace(&mut self.line, rest);
        self.tell(&words)
    }

    /// Whether a line that goes on may still come to be a tag, a fence or a sentence of the prompt.
    fn may_be_mark(&self) -> bool {
        let line = self.line.trim_start();
        if line.len() > MAX_TAG {
            return false;
        }
        if FENCES.iter().any(|fence| fence.starts_with(line) || line.starts_with(fence)) {
            return true;
        }
        if self.is_code {
            return false;
        }
        if let Some(tag) = line.strip_prefix('<') {
            let tag = tag.strip_prefix('/').unwrap_or(tag);
            let name = tag.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default();
            return match name.len() == tag.len() {
                true => ELEMENTS.iter().any(|element| element.starts_with(name)),
                false => ELEMENTS.contains(&name),
            };
        }
        SENTENCES.iter().any(|words| words.starts_with(line) || line.starts_with(words))
    }

    fn read<'a>(&self, line: &'a str) -> Line<'a> {
        let text = line.trim_start();
        if self.begun {
            return Line::Words;
        }
        if FENCES.iter().any(|fence| text.starts_with(fence)) {
            return Line::Fence;
        }
        if self.is_code {
            return Line::Words;
        }
        if SENTENCES.iter().any(|words| text.starts_with(words)) {
            return Line::Sentence;
        }
        tag(text).unwrap_or(Line::Words)
    }
}

/// The tag of the prompt that a line begins with.
fn tag(text: &str) -> Option<Line<'_>> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
    let (name, fields) = tag.split_at(tag.find([' ', '/']).unwrap_or(tag.len()));
    let name = ELEMENTS.into_iter().find(|element| *element == name)?;
    // XML of that name that somebody asked for has other fields.
    let is_ours =
        [" from=\"", " chat_id=\"", " message_id=\"", " sent=\""].iter().any(|field| fields.contains(field));
    let is_bare = fields.is_empty();
    (name != "message" || closes || is_ours || is_bare).then_some(Line::Tag {
        name,
        closes,
        is_bare,
        is_whole: fields.ends_with('/'),
        rest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "<now>Friday</now>\nAnswer the following message only. What stands above is background.\n\
                          <message chat_id=\"5\" from=\"Ann\">\nWhat is 2 + 2?\n</message>";

    fn told(answer: &str, by: usize) -> String {
        let mut echo = Echo::of(PROMPT);
        let chars: Vec<char> = answer.chars().collect();
        let pieces = chars.chunks(by.max(1)).map(String::from_iter);
        let told: String = pieces.map(|piece: String| echo.push(&piece)).collect();
        told + &echo.end()
    }

    #[test]
    fn marks_of_the_prompt_are_left_out_however_an_answer_comes() {
        let same = |text: &'static str| (text, text);
        let cases = [
            ("<now>Friday</now>\nFour.", "Four."),
            ("<now>Friday</now> Four.", " Four."),
            ("<now>Friday\nFour.", ""),
            ("<message chat_id=\"5\" from=\"Figaro\">\nFour.\n</message>", "Four.\n"),
            ("<message from=\"Figaro\">Four.</message>", "Four."),
            ("Four.\n</message>", "Four.\n"),
            ("Four.</message>", "Four."),
            ("Well.\n<message>It is four.\nYes.", "Well.\nIt is four.\nYes."),
            ("Four.\n</message>\n<message from=\"Ann\">\nAnd 3 + 3?\n</message>", "Four.\n"),
            ("<message from=\"Ann\">\nWhat is 2 + 2?\n</message>\nFour.", "Four."),
            (
                "<message from=\"Ann\">\nWhat is 2 + 2? It is four.\n</message>",
                "What is 2 + 2? It is four.\n",
            ),
            ("<message from=\"Ann\">\nWhat is 2 + 2?\n</message>", ""),
            (PROMPT, ""),
            ("Answer the following message only. What stands above is background.\nFour.", "Four."),
            ("<asked_by their_zone=\"UTC\"/>\n\nFour.", "Four."),
            ("<notes>\n- milk\n</notes>\nFour.", "Four."),
            ("<notes>\n- milk\n</notes>", "<notes>\n- milk\n</notes>\n"),
            ("<notes>\n- milk", "<notes>\n- milk"),
            same("Four."),
            same("a < b\nand b > c\n\n1. One\n2. Two\n"),
            same("```xml\n<now>Friday</now>\n<message from=\"a\">\nhm\n</message>\n```\nThat is it."),
            same("It is `<now>` and\n```xml\n<message from=\"x\">\nhm\n</message>\n```"),
            same("Use `<now>` and `</message>` so."),
            same("<b>bold</b> <nowhere>"),
            same("<message id=\"7\">text</message"),
            same("<details>\n<summary>x</summary>\n</details>"),
            same("Answer the following: what is it?"),
            same("Ça va? <3"),
            same("~~~\n</message>\n~~~"),
        ];
        for (answer, wanted) in cases {
            for by in [1, 2, 3, 7, 1000] {
                assert_eq!(told(answer, by), wanted, "{answer:?} by {by}");
            }
        }
    }

    #[test]
    fn words_are_told_as_they_come() {
        let mut echo = Echo::of(PROMPT);
        assert_eq!(echo.push("Four, I"), "Four, I");
        assert_eq!(echo.push(" say <"), " say ");
        assert_eq!(echo.push("3\n<n"), "<3\n");
        assert_eq!(echo.push("o>"), "<no>");
        assert_eq!(echo.end(), "");
    }
}
