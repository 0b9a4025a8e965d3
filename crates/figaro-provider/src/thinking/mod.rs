//! Takes the reasoning out of the text of an answer, where a server leaves that to its clients, however the stream cuts it.
//! Used by [`super::http::decode`] for every dialect that mixes the two.
//!
//! Reasoning stands in blocks before the answer. Where a template has opened the first one, only its end is in the text: then
//! what was taken for the answer was none. Within an answer a tag is a word like any other, but for a block on lines of its own
//! behind a whole sentence.

mod marks;

use self::marks::{Begins, Block, Mark, begins, find, held_back};

/// Text on its way through.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    place: Place,
    /// What cannot be told yet: it may belong to a mark.
    held: String,
    /// How many bytes of space it begins with, as far as that was looked at.
    space: usize,
    /// There was a block.
    has_block: bool,
    /// The bytes of what is not told.
    reasoned: usize,
    answer: Answer,
    /// Text that may prove to be reasoning, where it is not told before that is known.
    kept: Option<String>,
    was_taken_back: bool,
}

/// What is to be told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// All text that was told before belongs to the reasoning.
    pub(crate) takes_back: bool,
    pub(crate) text: String,
}

#[derive(Debug, Default, Clone, Copy)]
enum Place {
    /// Nothing but space has come.
    #[default]
    Start,
    /// Within a block.
    Inside(&'static Block),
    /// Within a block in the midst of an answer, if it is one.
    Aside(&'static Block),
    /// Behind a block, where another one may follow.
    Behind,
    /// In the answer.
    Answer,
}

/// The answer as far as it was told.
#[derive(Debug, Default)]
struct Answer {
    last: Option<char>,
    /// The last one that is no space and stands in no brackets or quotes of its own.
    last_sign: Option<char>,
    /// An odd number of backticks: it is within code.
    is_code: bool,
    /// It is between fences of tildes.
    is_fenced: bool,
    /// Tildes in a row.
    tildes: usize,
    /// Spaces that its last line begins with, and whether there is more in that line.
    indent: usize,
    is_written: bool,
    /// It speaks of a block, whose end is a word too.
    names_block: bool,
    /// It began with words of reasoning, which it may prove to be.
    is_worded: bool,
    /// What ends it, where it stands within marks of its own.
    ends: &'static [&'static str],
}

impl Answer {
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

    /// Whether a block may begin here: on a line of its own, behind a whole sentence that does not lead up to it.
    fn opens_block(&self, block: &Block) -> bool {
        let is_sentence = self.last_sign.is_some_and(|sign| ".!?…。！？".contains(sign));
        let is_line = self.last == Some('\n') && !self.is_code();
        block.is_plain() && is_line && is_sentence && !self.names_block
    }

    /// Whether the end of a block that was not opened is one, by what stands around it. Where an answer speaks of it, it stands
    /// among words or in quotes.
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
    /// Of a model that `begins_unmarked`: nothing is told before the end of its reasoning, or of its text.
    pub(crate) fn of_model(begins_unmarked: bool) -> Self {
        Self { kept: begins_unmarked.then(String::new), ..Self::default() }
    }

    /// Whether its reasoning began without a mark.
    pub(crate) const fn was_taken_back(&self) -> bool {
        self.was_taken_back
    }

    /// What can be told of the text so far and not told yet.
    pub(crate) fn pass(&mut self, text: &str) -> Passed {
        self.held.push_str(text);
        self.go_on(false)
    }

    /// What was held back and turned out to be text. A block that was never closed is none.
    pub(crate) fn end(&mut self) -> Passed {
        self.go_on(true)
    }

    /// The end of an answer that was cut. What was kept back is reasoning, as far as anybody knows.
    pub(crate) fn cut(&mut self) -> Passed {
        match self.kept.take() {
            Some(kept) if !kept.is_empty() => {
                self.has_block = true;
                self.reasoned += kept.len();
                Passed::default()
            }
            _ if matches!(self.place, Place::Aside(_)) => {
                self.reasoned += self.held.len();
                Passed::default()
            }
            _ => self.go_on(true),
        }
    }

    /// The bytes of reasoning that was never told.
    pub(crate) const fn reasoned(&self) -> usize {
        self.reasoned
    }

    /// True once a block of reasoning was seen.
    pub(crate) const fn has_reasoned(&self) -> bool {
        self.has_block
    }

    fn go_on(&mut self, is_end: bool) -> Passed {
        let mut passed = Passed::default();
        loop {
            let goes_on = match self.place {
                Place::Start | Place::Behind => self.begin(is_end),
                Place::Inside(block) => self.inside(block),
                Place::Aside(block) => self.aside(block, is_end, &mut passed),
                Place::Answer => self.answer(is_end, &mut passed),
            };
            if !goes_on {
                if let Some(kept) = self.kept.take_if(|_| is_end) {
                    passed.text.insert_str(0, &kept);
                }
                return passed;
            }
        }
    }

    /// Before the answer. `false` when more is needed.
    fn begin(&mut self, is_end: bool) -> bool {
        let begun = self.held.get(self.space..).unwrap_or_default().trim_start();
        self.space = self.held.len() - begun.len();
        match begins(begun, matches!(self.place, Place::Behind)) {
            Begins::Block(block, length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.has_block = true;
                drop(self.kept.take_if(|kept| kept.is_empty()));
                self.place = Place::Inside(block);
            }
            Begins::Answer(ends, length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.answer.ends = ends;
                self.place = Place::Behind;
            }
            Begins::Skipped(length) => {
                self.held = begun.split_at(length).1.to_owned();
                self.place = Place::Behind;
            }
            Begins::Perhaps if !is_end => return false,
            words @ (Begins::Perhaps | Begins::Never | Begins::Words) => {
                self.answer.is_worded = words == Begins::Words;
                if is_end || matches!(self.place, Place::Behind) {
                    self.held = begun.to_owned();
                }
                self.place = Place::Answer;
            }
        }
        self.space = 0;
        true
    }

    /// Within a block, of which nothing is kept.
    fn inside(&mut self, block: &'static Block) -> bool {
        match find(&self.held, &block.marks()) {
            Some((at, length, mark)) => {
                self.held = self.held.split_at(at + length).1.to_owned();
                self.reasoned += at;
                if let Mark::Answer(ends) = mark {
                    self.answer.ends = ends;
                }
                self.place = Place::Behind;
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

    /// Within a block in the midst of an answer, which is kept until it is known to be one: it has words, and nothing stands
    /// behind it on its line. One that is never closed is none.
    fn aside(&mut self, block: &'static Block, is_end: bool, passed: &mut Passed) -> bool {
        let found = find(&self.held, &block.own_marks());
        let behind = found
            .and_then(|(at, length, _)| self.held.get(at + length..))
            .map(|b| b.trim_start_matches([' ', '\t']));
        if !is_end && behind.is_none_or(str::is_empty) {
            return false;
        }
        self.place = Place::Answer;
        let inner = found.and_then(|(at, ..)| self.held.get(block.open_len()..at));
        let is_block = inner.is_some_and(|inner| !inner.trim().is_empty())
            && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['\n', '\r']));
        if let Some((at, length, _)) = found.filter(|_| is_block) {
            self.held = self.held.split_off(at + length);
            (self.has_block, self.reasoned, self.place) = (true, self.reasoned + at, Place::Behind);
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
            Mark::End => self.answer.ends = &[],
            Mark::Open(block) if self.answer.opens_block(block) => {
                self.held = tag + &behind;
                self.place = Place::Aside(block);
                return true;
            }
            Mark::Open(_) => {
                self.answer.names_block = true;
                self.tell(&tag, passed);
            }
            Mark::Close | Mark::Answer(_) => {
                // Before it is known what follows, nobody knows what it was.
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

    fn take_back(&mut self, mark: Mark, passed: &mut Passed) {
        // What was kept back was never told.
        let kept = self.kept.take();
        self.reasoned += kept.as_ref().map_or(passed.text.len(), String::len);
        *passed = Passed { takes_back: kept.is_none(), text: String::new() };
        self.was_taken_back = true;
        let ends = if let Mark::Answer(ends) = mark { ends } else { &[] };
        self.answer = Answer { ends, ..Answer::default() };
        self.has_block = true;
        self.place = Place::Behind;
    }

    fn tell(&mut self, text: &str, passed: &mut Passed) {
        self.answer.note(text);
        self.kept.as_mut().unwrap_or(&mut passed.text).push_str(text);
    }
}

#[cfg(test)]
mod tests;
