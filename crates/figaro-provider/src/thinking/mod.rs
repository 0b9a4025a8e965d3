//! Removes reasoning from the text of an answer, where a server leaves that to its clients, however the stream is
//! cut. Used by [`super::http::decode`] for every dialect that mixes the two.
//!
//! Reasoning stands in blocks before the answer. If a template has opened the first block, only its end is in the
//! text, and the text before it was no part of the answer. Within an answer a tag is ordinary text, except for a
//! block on its own lines after a complete sentence.

mod marks;

use self::marks::{Begins, Block, ThinkingMark, begins, find, held_back};

/// Filter that removes reasoning from text.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    place: AnswerPosition,
    /// Text held back because it may belong to a mark.
    held: String,
    /// Number of white-space bytes at its start, as far as examined.
    space: usize,
    /// `true` once there was a block.
    has_block: bool,
    /// Size of the removed reasoning, in bytes.
    reasoned: usize,
    answer: AnswerScanner,
    /// Text that may prove to be reasoning, if it is held back until that is known.
    kept: Option<String>,
    was_taken_back: bool,
}

/// Output of the filter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// `true` if all earlier text belongs to the reasoning.
    pub(crate) takes_back: bool,
    pub(crate) text: String,
}

#[derive(Debug, Default, Clone, Copy)]
enum AnswerPosition {
    /// Nothing but white space so far.
    #[default]
    Start,
    /// Within a block.
    Inside(&'static Block),
    /// Within what may be a block in the middle of an answer.
    Aside(&'static Block),
    /// After a block. Another one may follow.
    Behind,
    /// Within the answer.
    Answer,
}

/// State of the answer as far as it was sent.
#[derive(Debug, Default)]
struct AnswerScanner {
    last: Option<char>,
    /// Last character that is not white space and not in brackets or quotes of its own.
    last_sign: Option<char>,
    /// `true` after an odd number of backticks, that is, within code.
    is_code: bool,
    /// `true` between fences of tildes.
    is_fenced: bool,
    /// Number of consecutive tildes.
    tildes: usize,
    /// Number of spaces at the start of its last line, and whether more follows in that line.
    indent: usize,
    is_written: bool,
    /// `true` if the answer mentions a block, whose end is then ordinary text too.
    names_block: bool,
    /// `true` if it began with words of reasoning and may prove to be reasoning.
    is_worded: bool,
    /// Marks that end it, if it has marks of its own.
    ends: &'static [&'static str],
}

impl AnswerScanner {
    fn note(&mut self, text: &str) {
        for c in text.chars() {
            self.is_code ^= c == '`';
            self.tildes = if c == '~' { self.tildes.saturating_add(1) } else { 0 };
            self.is_fenced ^= self.tildes == 3;
            match c {
                '\n' => (self.indent, self.is_written) = (0, false),
                ' ' if !self.is_written => self.indent = self.indent.saturating_add(1),
                '\t' if !self.is_written => self.indent = self.indent.saturating_add(4),
                _ => self.is_written = true,
            }
            self.last = Some(c);
            if !c.is_whitespace() && !"*_\"'”»)".contains(c) {
                self.last_sign = Some(c);
            }
        }
    }

    fn is_code(&self) -> bool {
        self.is_code || self.is_fenced || (!self.is_written && self.indent >= 4)
    }

    /// Returns `true` if a block may begin here: on its own line, after a complete sentence that does not introduce
    /// it.
    fn opens_block(&self, block: &Block) -> bool {
        let is_sentence = self.last_sign.is_some_and(|sign| ".!?…。！？".contains(sign));
        let is_line = self.last == Some('\n') && !self.is_code();
        block.is_plain() && is_line && is_sentence && !self.names_block
    }

    /// Returns `true` if the closing mark of an unopened block really is one, judging by its surroundings. An answer
    /// that mentions the mark has it within text or in quotes.
    fn ends_block(&self, next: Option<char>) -> bool {
        let is_quote = |c: char| "\"'`“”„«»‘’()".contains(c);
        let is_apart = |c: Option<char>| c.is_none_or(|c| c == '\n' || c == '\r');
        if self.is_code() || self.names_block || self.last.is_some_and(is_quote) || next.is_some_and(is_quote)
        {
            return false;
        }
        let is_glued = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        is_apart(self.last) || is_apart(next) || (is_glued(self.last) && is_glued(next))
    }
}

impl Thinking {
    /// Creates a filter. If the model `begins_unmarked`, nothing is sent before the end of its reasoning or of its
    /// text.
    pub(crate) fn of_model(begins_unmarked: bool) -> Self {
        Self { kept: begins_unmarked.then(String::new), ..Self::default() }
    }

    /// Returns `true` if the reasoning began without a mark.
    pub(crate) const fn was_taken_back(&self) -> bool {
        self.was_taken_back
    }

    /// Takes more text. Returns the text that can be passed on so far.
    pub(crate) fn pass(&mut self, text: &str) -> Passed {
        self.held.push_str(text);
        self.go_on(false)
    }

    /// Returns the held-back text that turned out to be part of the answer. A block that was never closed is none.
    pub(crate) fn end(&mut self) -> Passed {
        self.go_on(true)
    }

    /// Ends an answer that was cut. Held-back text counts as reasoning, since nothing else is known.
    pub(crate) fn cut(&mut self) -> Passed {
        match self.kept.take() {
            Some(kept) if !kept.is_empty() => {
                self.has_block = true;
                self.reasoned += kept.len();
                Passed::default()
            }
            _ if matches!(self.place, AnswerPosition::Aside(_)) => {
                self.reasoned += self.held.len();
                Passed::default()
            }
            _ => self.go_on(true),
        }
    }

    /// Returns the size of reasoning that was never sent, in bytes.
    pub(crate) const fn reasoned(&self) -> usize {
        self.reasoned
    }

    /// Returns `true` once a block of reasoning was seen.
    pub(crate) const fn has_reasoned(&self) -> bool {
        self.has_block
    }

    fn go_on(&mut self, is_end: bool) -> Passed {
        let mut passed = Passed::default();
        loop {
            let goes_on = match self.place {
                AnswerPosition::Start | AnswerPosition::Behind => self.begin(is_end),
                AnswerPosition::Inside(block) => self.inside(block),
                AnswerPosition::Aside(block) => self.aside(block, is_end, &mut passed),
                AnswerPosition::Answer => self.answer(is_end, &mut passed),
            };
            if !goes_on {
                if let Some(kept) = self.kept.take_if(|_| is_end) {
                    passed.text.insert_str(0, &kept);
                }
                return passed;
            }
        }
    }

    /// Reads text before the answer. Returns `false` if more is needed.
    fn begin(&mut self, is_end: bool) -> bool {
        let begun = self.held.get(self.space..).unwrap_or_default().trim_start();
        self.space = self.held.len() - begun.len();
        match begins(begun, matches!(self.place, AnswerPosition::Behind)) {
            Begins::Block(block, length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.has_block = true;
                drop(self.kept.take_if(|kept| kept.is_empty()));
                self.place = AnswerPosition::Inside(block);
            }
            Begins::Answer(ends, length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.answer.ends = ends;
                self.place = AnswerPosition::Behind;
            }
            Begins::Skipped(length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.place = AnswerPosition::Behind;
            }
            Begins::Perhaps if !is_end => return false,
            words @ (Begins::Perhaps | Begins::Never | Begins::Words) => {
                self.answer.is_worded = words == Begins::Words;
                if is_end || matches!(self.place, AnswerPosition::Behind) {
                    self.held = begun.to_owned();
                }
                self.place = AnswerPosition::Answer;
            }
        }
        self.space = 0;
        true
    }

    /// Reads text within a block, which is dropped.
    fn inside(&mut self, block: &'static Block) -> bool {
        match find(&self.held, &block.marks()) {
            Some((at, length, mark)) => {
                self.held = self.held.split_at(at + length).1.to_owned();
                self.reasoned += at;
                if let ThinkingMark::Answer(ends) = mark {
                    self.answer.ends = ends;
                }
                self.place = AnswerPosition::Behind;
                true
            }
            None => {
                let kept = held_back(&self.held, &block.marks());
                self.reasoned += self.held.len() - kept;
                self.held = self.held.split_at(self.held.len() - kept).1.to_owned();
                false
            }
        }
    }

    /// Reads a possible block in the middle of an answer. It is held back until it is known to be one: it must have
    /// text, and nothing may follow it on its line. A block that is never closed is none.
    fn aside(&mut self, block: &'static Block, is_end: bool, passed: &mut Passed) -> bool {
        let found = find(&self.held, &block.own_marks());
        let behind = found
            .and_then(|(at, length, _)| self.held.get(at + length..))
            .map(|b| b.trim_start_matches([' ', '\t']));
        if !is_end && behind.is_none_or(str::is_empty) {
            return false;
        }
        self.place = AnswerPosition::Answer;
        let inner = found.and_then(|(at, ..)| self.held.get(block.open_len()..at));
        let is_block = inner.is_some_and(|inner| !inner.trim().is_empty())
            && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['\n', '\r']));
        if let Some((at, length, _)) = found.filter(|_| is_block) {
            self.held = self.held.split_off(at + length);
            (self.has_block, self.reasoned, self.place) = (true, self.reasoned + at, AnswerPosition::Behind);
            return true;
        }
        self.answer.names_block = true;
        let text = std::mem::take(&mut self.held);
        let (tag, rest) = text.split_at(block.open_len());
        self.tell(tag, passed);
        rest.clone_into(&mut self.held);
        true
    }

    fn answer(&mut self, is_end: bool, passed: &mut Passed) -> bool {
        let marks = marks::of_answer(self.answer.ends, self.answer.is_worded);
        let Some((at, length, mark)) = find(&self.held, &marks) else {
            let kept = if is_end { 0 } else { held_back(&self.held, &marks) };
            let rest = self.held.split_off(self.held.len() - kept);
            let text = std::mem::replace(&mut self.held, rest);
            self.tell(&text, passed);
            return false;
        };
        let behind = self.held.split_off(at + length);
        let tag = self.held.split_off(at);
        let text = std::mem::take(&mut self.held);
        self.tell(&text, passed);
        match mark {
            ThinkingMark::End => self.answer.ends = &[],
            ThinkingMark::Open(block) if self.answer.opens_block(block) => {
                self.held = tag + &behind;
                self.place = AnswerPosition::Aside(block);
                return true;
            }
            ThinkingMark::Open(_) => {
                self.answer.names_block = true;
                self.tell(&tag, passed);
            }
            ThinkingMark::Close | ThinkingMark::Answer(_) => {
                // Without the text that follows, it cannot be decided.
                if behind.trim().is_empty() && !is_end {
                    self.held = tag + &behind;
                    return false;
                }
                let is_last = behind.trim().is_empty();
                match self.answer.ends_block(behind.chars().next()) {
                    false => self.tell(&tag, passed),
                    true if is_last && self.has_block => {}
                    true => self.take_back(mark, passed),
                }
            }
        }
        self.held = behind;
        true
    }

    fn take_back(&mut self, mark: ThinkingMark, passed: &mut Passed) {
        // Held-back text was never sent.
        let kept = self.kept.take();
        self.reasoned += kept.as_ref().map_or(passed.text.len(), String::len);
        *passed = Passed { takes_back: kept.is_none(), text: String::new() };
        self.was_taken_back = true;
        let ends = if let ThinkingMark::Answer(ends) = mark { ends } else { &[] };
        self.answer = AnswerScanner { ends, ..AnswerScanner::default() };
        self.has_block = true;
        self.place = AnswerPosition::Behind;
    }

    fn tell(&mut self, text: &str, passed: &mut Passed) {
        self.answer.note(text);
        self.kept.as_mut().unwrap_or(&mut passed.text).push_str(text);
    }
}

#[cfg(test)]
mod tests;
