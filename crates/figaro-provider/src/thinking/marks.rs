//! What models put around their reasoning, and around the answer behind it. Called by [`super`] only.

/// The longest tag with attributes.
const MAX_TAG_BYTES: usize = 80;

/// Reasoning between marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    open: &'static str,
    close: &'static [&'static str],
}

/// Reasoning between tags.
static TAGGED: [Block; 16] = [
    Block { open: "<think>", close: &["</think>"] },
    Block { open: "<thinking>", close: &["</thinking>"] },
    Block { open: "<thought>", close: &["</thought>"] },
    Block { open: "<thoughts>", close: &["</thoughts>"] },
    Block { open: "<reasoning>", close: &["</reasoning>"] },
    Block { open: "<reflection>", close: &["</reflection>"] },
    Block { open: "<scratchpad>", close: &["</scratchpad>"] },
    Block { open: "<seed:think>", close: &["</seed:think>"] },
    Block { open: "<mm:think>", close: &["</mm:think>"] },
    Block { open: "<think:>", close: &["</think:>"] },
    Block { open: "<longcat_think>", close: &["</longcat_think>"] },
    Block { open: "<antthinking>", close: &["</antthinking>"] },
    Block { open: "<ant_thinking>", close: &["</ant_thinking>"] },
    Block { open: "<inner_monologue>", close: &["</inner_monologue>"] },
    Block { open: "<reason>", close: &["</reason>"] },
    Block { open: "<analysis>", close: &["</analysis>"] },
];
/// Reasoning between marks of other kinds.
static MARKED: [Block; 8] = [
    Block { open: "[think]", close: &["[/think]"] },
    Block { open: "◁think▷", close: &["◁/think▷"] },
    Block { open: "<|begin_of_thought|>", close: &["<|end_of_thought|>"] },
    Block { open: "<|start_thinking|>", close: &["<|end_thinking|>"] },
    Block { open: "<unused94>", close: &["<unused95>"] },
    Block { open: "<|channel>thought", close: &["<channel|>"] },
    Block { open: "<|channel|>analysis", close: &["<|end|>", "<|call|>"] },
    Block { open: "<|channel|>commentary", close: &["<|end|>", "<|call|>"] },
];

/// Marks around an answer, with those that end it. All but the first are words where no reasoning went before.
static ANSWERS: [(&str, &[&str]); 7] = [
    ("<|channel|>final<|message|>", &["<|return|>", "<|end|>"]),
    ("<|begin_of_solution|>", &["<|end_of_solution|>"]),
    ("<|start_response|>", &["<|end_response|>"]),
    ("<final>", &["</final>"]),
    ("<final_answer>", &["</final_answer>"]),
    ("<answer>", &["</answer>"]),
    ("<response>", &["</response>"]),
];
/// What says only that a model begins.
const SKIPPED: [&str; 1] = ["<|start|>assistant"];

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// A block, with so many bytes.
    Block(&'static Block, usize),
    /// The marks around an answer, with what ends it.
    Answer(&'static [&'static str], usize),
    /// A mark that says nothing.
    Skipped(usize),
    /// More has to come before that can be said.
    Perhaps,
    /// None of them.
    Never,
}

/// What a mark within a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The start of a block.
    Open,
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
    /// What ends it: its own end, or the start of an answer.
    pub(super) fn marks(&self) -> Vec<Known> {
        let closes = self.close.iter().map(|close| (*close, Mark::Close));
        closes.chain(ANSWERS.iter().map(|(open, ends)| (*open, Mark::Answer(ends)))).collect()
    }
}

/// What is looked at within an answer that ends with one of `ends`.
pub(super) fn of_answer(ends: &'static [&'static str]) -> Vec<Known> {
    let spoken_of = || TAGGED.iter().chain(MARKED.iter().take(4));
    let opens = spoken_of().map(|block| (block.open, Mark::Open));
    let closes = spoken_of().flat_map(|block| block.close);
    let final_answer = ANSWERS.iter().take(1).map(|(open, ends)| (*open, Mark::Answer(ends)));
    let ends = ends.iter().map(|end| (*end, Mark::End));
    ends.chain(opens).chain(closes.map(|close| (*close, Mark::Close))).chain(final_answer).collect()
}

/// What a text begins with; `is_behind` a block.
pub(super) fn begins(text: &str, is_behind: bool) -> Begins {
    let lower = text.get(..text.floor_char_boundary(MAX_TAG_BYTES)).unwrap_or_default().to_ascii_lowercase();
    let blocks = || TAGGED.iter().chain(&MARKED);
    let answers = || ANSWERS.iter().take(if is_behind { ANSWERS.len() } else { 1 });
    if let Some(block) = blocks().find(|block| lower.starts_with(block.open)) {
        return Begins::Block(block, block.open.len());
    }
    if let Some((open, ends)) = answers().find(|(open, _)| lower.starts_with(open)) {
        return Begins::Answer(ends, open.len());
    }
    if let Some(skipped) = SKIPPED.iter().find(|skipped| lower.starts_with(*skipped)) {
        return Begins::Skipped(skipped.len());
    }
    if let Some((block, length)) = with_attributes(&lower) {
        return length.map_or(Begins::Perhaps, |length| Begins::Block(block, length));
    }
    let opens = blocks().map(|block| block.open).chain(answers().map(|(open, _)| *open)).chain(SKIPPED);
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
    if !text.contains(['<', '[', '◁']) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let found = marks.iter().filter_map(|(word, mark)| Some((lower.find(word)?, word.len(), *mark)));
    found.min_by_key(|(at, ..)| *at)
}

/// How many bytes at the end of a text may be the start of one of these marks.
pub(super) fn held_back(text: &str, marks: &[Known]) -> usize {
    let longest = marks.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(longest));
    let tail = text.get(from..).unwrap_or_default().to_ascii_lowercase();
    let starts = tail.char_indices().filter(|(_, c)| matches!(c, '<' | '[' | '◁'));
    let mut ends = starts.filter_map(|(at, _)| tail.get(at..));
    ends.find(|end| marks.iter().any(|(word, _)| word.starts_with(end))).map_or(0, str::len)
}
