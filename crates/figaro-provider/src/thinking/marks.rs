//! What models put around their reasoning, and around the answer behind it. Called by [`super`] only.

/// The longest tag with attributes.
const MAX_TAG_BYTES: usize = 80;

/// Reasoning between marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    open: &'static str,
    close: &'static [&'static str],
}

macro_rules! tagged {
    ($($name:literal)*) => {
        [$(Block { open: concat!("<", $name, ">"), close: &[concat!("</", $name, ">")] }),*]
    };
}

/// Reasoning between tags.
static TAGGED: [Block; 17] = tagged![
    "think" "thinking" "thought" "thoughts" "reasoning" "reflection" "scratchpad" "seed:think" "mm:think" "think:"
    "longcat_think" "think_fast" "antthinking" "ant_thinking" "inner_monologue" "reason" "analysis"
];
/// Reasoning between marks of other kinds.
static MARKED: [Block; 12] = [
    Block { open: "[think]", close: &["[/think]"] },
    Block { open: "◁think▷", close: &["◁/think▷"] },
    Block { open: "<|begin_of_thought|>", close: &["<|end_of_thought|>"] },
    Block { open: "<|start_thinking|>", close: &["<|end_thinking|>"] },
    Block { open: "<unused94>", close: &["<unused95>"] },
    Block { open: "<|channel>thought", close: &["<channel|>"] },
    Block { open: "<|channel|>analysis", close: &["<|end|>", "<|call|>"] },
    Block { open: "<|channel|>commentary", close: &["<|end|>", "<|call|>"] },
    Block { open: "<|think|>", close: &["<|/think|>"] },
    Block { open: "<|open|>think<|sep|>", close: &["<|close|>think<|sep|>"] },
    Block { open: "&lt;think&gt;", close: &["&lt;/think&gt;"] },
    Block { open: "<details type=\"reasoning\"", close: &["</details>"] },
];

/// Marks around an answer, with those that end it.
static ANSWERS: [(&str, &[&str]); 12] = [
    ("<|channel|>final<|message|>", &["<|return|>", "<|end|>"]),
    ("<|channel|>final <|constrain|>text<|message|>", &["<|return|>", "<|end|>"]),
    ("<|channel|>final <|constrain|>json<|message|>", &["<|return|>", "<|end|>"]),
    ("<|begin_of_solution|>", &["<|end_of_solution|>"]),
    ("<|start_response|>", &["<|end_response|>"]),
    ("<|begin_of_box|>", &["<|end_of_box|>"]),
    ("<|open|>response<|sep|>", &["<|close|>response<|sep|>"]),
    ("<final>", &["</final>"]),
    ("<final_answer>", &["</final_answer>"]),
    ("<answer>", &["</answer>"]),
    ("<response>", &["</response>"]),
    ("<output>", &["</output>"]),
];
/// So many of these end the reasoning wherever they stand,
const FINAL: usize = 3;
/// and so many are no words where no reasoning went before.
const NO_WORDS: usize = 7;
/// What stands behind the name of a channel that holds a call.
const CALLS: &str = " to=";
/// What says only that a model begins.
const SKIPPED: [&str; 4] = ["<|start|>assistant", "<|im_start|>assistant", "/no_think\n", "/think\n"];
/// Reasoning that begins and ends with plain words: as long as it has not ended it may be an answer.
const WORDED: [&str; 2] = ["here is my thought process:", "here's my thought process:"];
const ENDS_WORDED: [&str; 2] = ["here is my response:", "here's my response:"];

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// A block, with so many bytes.
    Block(&'static Block, usize),
    /// The marks around an answer, with what ends it.
    Answer(&'static [&'static str], usize),
    /// A mark that says nothing.
    Skipped(usize),
    /// Words that reasoning begins with, and an answer may.
    Words,
    /// More has to come before that can be said.
    Perhaps,
    /// None of them.
    Never,
}

/// What a mark within a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The start of a block.
    Open(&'static Block),
    /// The end of a block.
    Close,
    /// The start of an answer, with what ends it.
    Answer(&'static [&'static str]),
    /// The end of an answer.
    End,
}

/// A mark and what it is.
type Known = (&'static str, Mark);

impl Block {
    /// `true` if its marks can mean nothing but reasoning, also within an answer.
    pub(super) fn is_plain(&self) -> bool {
        self.open.contains("think")
    }

    /// The length of the mark that it begins with.
    pub(super) const fn open_len(&self) -> usize {
        self.open.len()
    }

    /// What ends it within an answer.
    pub(super) fn own_marks(&self) -> Vec<Known> {
        self.close.iter().map(|close| (*close, Mark::Close)).collect()
    }

    /// What ends it: its own end, or the start of an answer.
    pub(super) fn marks(&self) -> Vec<Known> {
        let answers = ANSWERS.iter().map(|(open, ends)| (*open, Mark::Answer(ends)));
        self.own_marks().into_iter().chain(answers).collect()
    }
}

/// What is looked at within an answer that ends with one of `ends`, and where it `is_worded` began with words of reasoning.
pub(super) fn of_answer(ends: &'static [&'static str], is_worded: bool) -> Vec<Known> {
    let spoken_of = || TAGGED.iter().chain(MARKED.iter().take(4));
    let opens = spoken_of().map(|block| (block.open, Mark::Open(block)));
    let closes = spoken_of().flat_map(|block| block.close).chain(ENDS_WORDED.iter().filter(|_| is_worded));
    let final_answer = ANSWERS.iter().take(FINAL).map(|(open, ends)| (*open, Mark::Answer(ends)));
    let ends = ends.iter().map(|end| (*end, Mark::End));
    ends.chain(opens).chain(closes.map(|close| (*close, Mark::Close))).chain(final_answer).collect()
}

/// What a text begins with; `is_behind` a block.
pub(super) fn begins(text: &str, is_behind: bool) -> Begins {
    let lower = text.get(..text.floor_char_boundary(MAX_TAG_BYTES)).unwrap_or_default().to_ascii_lowercase();
    let blocks = || TAGGED.iter().chain(&MARKED);
    let answers = || ANSWERS.iter().take(if is_behind { ANSWERS.len() } else { NO_WORDS });
    if let Some(block) = blocks().find(|block| lower.starts_with(block.open)) {
        let behind = lower.split_at(block.open.len()).1;
        return match block.open.starts_with("<|channel|>") {
            // A call in a channel is read with those in other marks.
            true if behind.starts_with(CALLS) => Begins::Never,
            true if CALLS.starts_with(behind) => Begins::Perhaps,
            _ => Begins::Block(block, block.open.len()),
        };
    }
    if let Some((open, ends)) = answers().find(|(open, _)| lower.starts_with(open)) {
        return Begins::Answer(ends, open.len());
    }
    if let Some(skipped) = SKIPPED.iter().find(|skipped| lower.starts_with(*skipped)) {
        return Begins::Skipped(skipped.len());
    }
    if WORDED.iter().any(|words| lower.starts_with(words)) {
        return Begins::Words;
    }
    if let Some((block, length)) = with_attributes(&lower) {
        return length.map_or(Begins::Perhaps, |length| Begins::Block(block, length));
    }
    let opens = blocks().map(|block| block.open).chain(answers().map(|(open, _)| *open));
    let opens = opens.chain(SKIPPED).chain(WORDED);
    match opens.into_iter().any(|open| open.starts_with(&lower)) {
        true => Begins::Perhaps,
        false => Begins::Never,
    }
}

/// A tag that has attributes, with its length once it has its end.
fn with_attributes(lower: &str) -> Option<(&'static Block, Option<usize>)> {
    let inner = lower.strip_prefix('<')?;
    let (name, _) = inner.split_once(char::is_whitespace)?;
    let end = inner.find('>').map(|end| end + 2);
    let is_open = end.is_some() || lower.len() < MAX_TAG_BYTES;
    let tag =
        |block: &&Block| block.open.strip_prefix('<').and_then(|open| open.strip_suffix('>')) == Some(name);
    TAGGED.iter().find(tag).filter(|_| is_open).map(|block| (block, end))
}

/// The first of these marks in a text: where it stands, its length, and what it is.
pub(super) fn find(text: &str, marks: &[Known]) -> Option<(usize, usize, Mark)> {
    let lower = text.to_ascii_lowercase();
    let found = marks.iter().filter_map(|(word, mark)| Some((lower.find(word)?, word.len(), *mark)));
    found.min_by_key(|(at, ..)| *at)
}

/// How many bytes at the end of a text may be the start of one of these marks.
pub(super) fn held_back(text: &str, marks: &[Known]) -> usize {
    let longest = marks.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(longest));
    let tail = text.get(from..).unwrap_or_default().to_ascii_lowercase();
    let mut ends = tail.char_indices().filter_map(|(at, _)| tail.get(at..));
    ends.find(|end| marks.iter().any(|(word, _)| word.starts_with(end))).map_or(0, str::len)
}
