//! Marks of models around their reasoning, and around the answer after it. Called by [`super`] only.

/// Maximum length of a tag with attributes, in bytes.
const MAX_TAG_BYTES: usize = 80;

/// Kind of reasoning block, with its opening and closing marks.
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

/// Blocks in tags.
static TAGGED: [Block; 17] = tagged![
    "think" "thinking" "thought" "thoughts" "reasoning" "reflection" "scratchpad" "seed:think" "mm:think" "think:"
    "longcat_think" "think_fast" "antthinking" "ant_thinking" "inner_monologue" "reason" "analysis"
];
/// Blocks with other marks.
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

/// Marks before an answer, with those that end it.
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
/// Number of answer marks, from the first on, that end the reasoning wherever they occur.
const FINAL: usize = 3;
/// Number of answer marks, from the first on, that count as marks even without reasoning before them.
const NO_WORDS: usize = 7;
/// Text after the name of a channel that holds a call.
const CALLS: &str = " to=";
/// Marks that only say that the model begins.
const SKIPPED: [&str; 4] = ["<|start|>assistant", "<|im_start|>assistant", "/no_think\n", "/think\n"];
/// Reasoning that begins and ends with plain words. Until it has ended, it may be an answer.
const WORDED: [&str; 2] = ["here is my thought process:", "here's my thought process:"];
const ENDS_WORDED: [&str; 2] = ["here is my response:", "here's my response:"];

/// Beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// Block, and the length of its mark in bytes.
    Block(&'static Block, usize),
    /// Mark before an answer, with the marks that end it, and its length in bytes.
    Answer(&'static [&'static str], usize),
    /// Mark without meaning, and its length in bytes.
    Skipped(usize),
    /// Words that reasoning begins with, but an answer may too.
    Words,
    /// More text is needed to decide.
    Perhaps,
    /// No mark and no such words.
    Never,
}

/// Meaning of a mark within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingMark {
    /// Start of a block.
    Open(&'static Block),
    /// End of a block.
    Close,
    /// Start of an answer, with the marks that end it.
    Answer(&'static [&'static str]),
    /// End of an answer.
    End,
}

type MarkPattern = (&'static str, ThinkingMark);

impl Block {
    /// Returns `true` if its marks can only mean reasoning, even within an answer.
    pub(super) fn is_plain(&self) -> bool {
        self.open.contains("think")
    }

    /// Returns the length of its opening mark, in bytes.
    pub(super) const fn open_len(&self) -> usize {
        self.open.len()
    }

    /// Returns the marks that end it within an answer.
    pub(super) fn own_marks(&self) -> Vec<MarkPattern> {
        self.close.iter().map(|close| (*close, ThinkingMark::Close)).collect()
    }

    /// Returns the marks that end it: its own, or the start of an answer.
    pub(super) fn marks(&self) -> Vec<MarkPattern> {
        let answers = ANSWERS.iter().map(|(open, ends)| (*open, ThinkingMark::Answer(ends)));
        self.own_marks().into_iter().chain(answers).collect()
    }
}

/// Returns the marks to look for within an answer that ends with one of `ends`. `is_worded` is `true` if it began
/// with words of reasoning.
pub(super) fn of_answer(ends: &'static [&'static str], is_worded: bool) -> Vec<MarkPattern> {
    let spoken_of = || TAGGED.iter().chain(MARKED.iter().take(4));
    let opens = spoken_of().map(|block| (block.open, ThinkingMark::Open(block)));
    let closes = spoken_of().flat_map(|block| block.close).chain(ENDS_WORDED.iter().filter(|_| is_worded));
    let final_answer = ANSWERS.iter().take(FINAL).map(|(open, ends)| (*open, ThinkingMark::Answer(ends)));
    let ends = ends.iter().map(|end| (*end, ThinkingMark::End));
    ends.chain(opens).chain(closes.map(|close| (*close, ThinkingMark::Close))).chain(final_answer).collect()
}

/// Returns the beginning of a text. `is_behind` is `true` after a block.
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

/// Returns the block of a tag with attributes, and the tag's length once it is complete.
fn with_attributes(lower: &str) -> Option<(&'static Block, Option<usize>)> {
    let inner = lower.strip_prefix('<')?;
    let (name, _) = inner.split_once(char::is_whitespace)?;
    let end = inner.find('>').map(|end| end + 2);
    let is_open = end.is_some() || lower.len() < MAX_TAG_BYTES;
    let tag =
        |block: &&Block| block.open.strip_prefix('<').and_then(|open| open.strip_suffix('>')) == Some(name);
    TAGGED.iter().find(tag).filter(|_| is_open).map(|block| (block, end))
}

/// Returns the first of these marks in a text: its position, its length, and its meaning.
pub(super) fn find(text: &str, marks: &[MarkPattern]) -> Option<(usize, usize, ThinkingMark)> {
    let lower = text.to_ascii_lowercase();
    let found = marks.iter().filter_map(|(word, mark)| Some((lower.find(word)?, word.len(), *mark)));
    found.min_by_key(|(at, ..)| *at)
}

/// Returns the number of bytes at the end of a text that may be the start of one of these marks.
pub(super) fn held_back(text: &str, marks: &[MarkPattern]) -> usize {
    let longest = marks.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(longest));
    let tail = text.get(from..).unwrap_or_default().to_ascii_lowercase();
    let mut ends = tail.char_indices().filter_map(|(at, _)| tail.get(at..));
    ends.find(|end| marks.iter().any(|(word, _)| word.starts_with(end))).map_or(0, str::len)
}
