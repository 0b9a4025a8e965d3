//! Removal of prompt marks, such as message tags or the time, which small models copy into their answers. Works on the
//! stream of an answer. Used by the turn.

/// Elements of the prompts around a question; they are no HTML.
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
/// Elements that nobody can have asked for.
const NEVER_MEANT: [&str; 4] = ["now", "asked_by", "replies_to", "attached"];
/// Beginnings of the sentences in `tail.md` before a question.
const SENTENCES: [&str; 2] =
    ["Answer the following message only.", "Carry out the following task now, and nothing else."];
const FENCES: [&str; 2] = ["```", "~~~"];
const END: &str = "</message>";
/// Maximum length of a tag that is waited for, in bytes.
const MAX_TAG: usize = 2_000;

/// Filter of the text of one pass while it is written.
#[derive(Debug, Default)]
pub struct Echo {
    question: String,
    /// Part of the current line that was not passed on yet.
    line: String,
    /// `true` if a part of the current line was passed on.
    begun: bool,
    is_code: bool,
    /// Element that is being left out.
    inside: Option<&'static str>,
    /// Text left out so far, though it may be what was asked for.
    left_out: String,
    /// Content of a message tag while it may be a copy of the question.
    repeated: Option<String>,
    told: bool,
    /// `true` while the model writes a message of somebody else: nothing is passed on.
    over: bool,
}

enum EchoLine<'a> {
    Tag { name: &'static str, closes: bool, is_bare: bool, is_whole: bool, rest: &'a str },
    Fence,
    Sentence,
    Words,
}

impl Echo {
    /// Creates a filter for an answer to this prompt, whose last message tag contains the question.
    #[must_use]
    pub fn of(prompt: &str) -> Self {
        let element = prompt.rsplit_once("<message ").map(|(_, element)| element);
        let words = element.and_then(|element| element.split_once(">\n")?.1.split_once(END));
        let question = words.map(|(words, _)| words.trim().to_owned()).unwrap_or_default();
        Self { question, ..Self::default() }
    }

    /// Adds text; returns the part that can be passed on now.
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

    /// Ends the text; returns the rest to be passed on.
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

    /// Returns the part of a complete line to pass on.
    fn whole(&mut self, line: &str) -> String {
        if self.over {
            return String::new();
        }
        if let Some(name) = self.inside {
            return self.within(name, line);
        }
        match self.read(line) {
            // A message without a writer's name is not somebody else's.
            EchoLine::Tag { name: "message", closes: false, is_bare: true, rest, .. } => self.rest(rest),
            EchoLine::Tag { name: "message", closes: false, rest, .. } => {
                // It continues with a message of its own invention.
                self.over = self.told;
                self.repeated = Some(String::new());
                self.rest(rest)
            }
            EchoLine::Tag { name: "message", closes: true, rest, .. } => {
                let words = self.repeated.take().filter(|words| words.trim() != self.question);
                words.map(|words| self.tell(&words)).unwrap_or_default() + &self.rest(rest)
            }
            EchoLine::Tag { closes, is_whole, rest, .. } if closes || is_whole => self.rest(rest),
            EchoLine::Tag { name, rest, .. } => {
                self.inside = Some(name);
                self.note(name, line.strip_suffix(rest).unwrap_or(line));
                self.within(name, rest)
            }
            EchoLine::Sentence => String::new(),
            EchoLine::Fence => {
                self.is_code = !self.is_code;
                self.words(line)
            }
            EchoLine::Words => match line.split_once(END).filter(|_| !self.is_code && !line.contains('`')) {
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

    /// Returns the part of a line to pass on within an element that is left out.
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

    /// Returns the part of an incomplete line to pass on.
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

    /// Returns `true` if an incomplete line may still become a tag, a fence or a sentence of the prompt.
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

    fn read<'a>(&self, line: &'a str) -> EchoLine<'a> {
        let text = line.trim_start();
        if self.begun {
            return EchoLine::Words;
        }
        if FENCES.iter().any(|fence| text.starts_with(fence)) {
            return EchoLine::Fence;
        }
        if self.is_code {
            return EchoLine::Words;
        }
        if SENTENCES.iter().any(|words| text.starts_with(words)) {
            return EchoLine::Sentence;
        }
        tag(text).unwrap_or(EchoLine::Words)
    }
}

/// Returns the prompt tag at the start of a line.
fn tag(text: &str) -> Option<EchoLine<'_>> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
    let (name, fields) = tag.split_at(tag.find([' ', '/']).unwrap_or(tag.len()));
    let name = ELEMENTS.into_iter().find(|element| *element == name)?;
    // XML of that name requested by a person has other fields.
    let is_ours =
        [" from=\"", " chat_id=\"", " message_id=\"", " sent=\""].iter().any(|field| fields.contains(field));
    let is_bare = fields.is_empty();
    (name != "message" || closes || is_ours || is_bare).then_some(EchoLine::Tag {
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
