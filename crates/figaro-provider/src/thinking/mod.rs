//! Takes the reasoning out of the text of an answer, where a server leaves that to its clients, however the stream cuts it.
//! Used by [`super::http::decode`] for every dialect that mixes the two.
//!
//! Reasoning stands in blocks before the answer. Where a template has opened the first one, only its end is in the text: then
//! what was taken for the answer was none. Within an answer a tag is a word like any other.

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
    /// Behind a block, where another one may follow.
    Behind,
    /// In the answer.
    Answer,
}

/// The answer as far as it was told.
#[derive(Debug, Default)]
struct Answer {
    last: Option<char>,
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
        }
    }

    /// Whether the end of a block that was not opened is one, by what stands around it. Where an answer speaks of it, it stands
    /// among words or in quotes.
    fn ends_block(&self, next: Option<char>) -> bool {
        let is_quote = |c: char| "\"'`“”„«»‘’()".contains(c);
        let is_apart = |c: Option<char>| c.is_none_or(|c| c == '\n' || c == '\r');
        let is_code = self.is_code || self.is_fenced || (!self.is_written && self.indent >= 4);
        if is_code || self.names_block || self.last.is_some_and(is_quote) || next.is_some_and(is_quote) {
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
                Passed::default()
            }
            _ => self.go_on(true),
        }
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
            Begins::Perhaps | Begins::Never => {
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
                if let Mark::Answer(ends) = mark {
                    self.answer.ends = ends;
                }
                self.place = Place::Behind;
                true
            }
            None => {
                let kept = held_back(&self.held, &block.marks());
                self.held = self.held.split_at(self.held.len() - kept).1.to_owned();
                false
            }
        }
    }

    fn answer(&mut self, is_end: bool, passed: &mut Passed) -> bool {
        let marks = marks::of_answer(self.answer.ends);
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
            Mark::Open => {
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
        *passed = Passed { takes_back: self.kept.take().is_none(), text: String::new() };
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
