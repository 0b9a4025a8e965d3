//! Bounds of an answer, whatever the provider enforces.

use tokio::time::Instant;

use figaro_policy::budget::{MAX_ASKED_OUTPUT, MAX_OUTPUT};
use figaro_provider::Event;

/// Bytes of an answer allowed per token of its limit, whatever the provider enforces. Text has three to five bytes per
/// token in most languages; tables, rulers and indented code have up to a dozen.
const BYTES_PER_TOKEN: usize = 16;
/// Limit of answer bytes that are not text for people, such as web pages or opaque parts like encrypted reasoning.
const MAX_OTHER_BYTES: usize = 1024 * 1024;
/// Minimum number of bytes counted for an event of that kind.
const OTHER_EVENT_BYTES: usize = 256;

/// Bytes and time that an answer may still take.
#[derive(Debug)]
pub(super) struct AnswerAllowance {
    pub(super) written: usize,
    other: usize,
    /// Set when the answer is first polled.
    pub(super) until: Option<Instant>,
}

impl AnswerAllowance {
    /// Creates the allowance for an answer of at most `max_tokens` tokens; `None` means the default limit.
    pub(super) fn new(max_tokens: Option<u32>) -> Self {
        let tokens = max_tokens.map_or(MAX_OUTPUT, u64::from).min(MAX_ASKED_OUTPUT);
        let written = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
        Self { written, other: MAX_OTHER_BYTES, until: None }
    }

    /// Counts an event. Returns `false` once the allowance is used up.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        let (room, bytes) = match event {
            Event::TextDelta(text) => (&mut self.written, text.len()),
            Event::ToolCall(call) => {
                (&mut self.written, call.id.len() + call.name.len() + call.arguments.len())
            }
            Event::Source(source) => {
                (&mut self.other, OTHER_EVENT_BYTES + source.title.len() + source.url.len())
            }
            Event::Found(search) => (&mut self.other, OTHER_EVENT_BYTES + search.size()),
            Event::Private(part) => (&mut self.other, OTHER_EVENT_BYTES + part.data.to_string().len()),
            Event::Answering(_) | Event::Searched | Event::Reasoned => (&mut self.other, OTHER_EVENT_BYTES),
            Event::Lost(_) | Event::Unseen(_) | Event::Completed { .. } => return true,
        };
        let left = room.checked_sub(bytes);
        if let Some(left) = left {
            *room = left;
        }
        left.is_some()
    }
}
