//! Index entry of a stored message.

use figaro_base::tz::Tz;

use super::index::{IndexEntry, Remembered, TermCount};
use super::wishes::StatedWish;
use super::words::{self, StemmerLanguage};
use figaro_base::ids::EntryId;
use figaro_base::text::{estimate_tokens, first_tokens};
use figaro_domain::conversation::{Message, MessageRole};

/// Maximum context tokens of a message: a longer one is shown as an excerpt.
pub(super) const MAX_TOKENS: usize = 200;
/// Approximate tokens of a line besides its text: the name, and the line end.
pub(super) const LINE_TOKENS: usize = 4;
/// Maximum tokens of a message, including its line, that is never cut for its length alone.
pub(super) const WHOLE: usize = MAX_TOKENS + LINE_TOKENS;
/// Tokens of a text that are embedded: all-MiniLM-L6-v2 and similar models read no more, and a service charges for more.
const PASSAGE_TOKENS: usize = 256;

/// Returns the index entry of a message in a chat of this zone, where a text of unknown language counts as `usual`.
/// `None` for a message nobody would look for: tool results, Figaro's notes about a turn, prompts of tasks, and messages
/// that a later try replaced.
pub(super) fn remembered(message: &Message, zone: Tz, usual: Option<StemmerLanguage>) -> Option<Remembered> {
    let text = words_of(message)?;
    let language = words::detect(&text);
    let speaker = message.speaker.as_ref().map_or("", |speaker| speaker.name.as_str());
    let day = message.created_at.with_timezone(&zone).date_naive();
    let terms = words::of_message(&text, language.or(usual), speaker, day);
    let tokens = estimate_tokens(&text);
    let entry = IndexEntry {
        index: message.index,
        check: check(message.id),
        at: message.created_at.timestamp(),
        cost: u16::try_from(tokens + LINE_TOKENS).unwrap_or(u16::MAX),
        importance: message.importance.clamp(0.0, 10.0).round() as u8,
        // A longer message would be shown as other sentences.
        wish: Some(&text)
            .filter(|_| message.role == MessageRole::User && tokens <= MAX_TOKENS)
            .and_then(|text| StatedWish::of(text, tokens)),
        language,
    };
    Some(Remembered { session: message.session, entry, terms: TermCount::of(&terms) })
}

/// Returns the text of a message with the names of its attachments.
pub(super) fn words_of(message: &Message) -> Option<String> {
    let is_said = match message.role {
        MessageRole::User => message.task.is_none(),
        MessageRole::Assistant => true,
        MessageRole::Tool | MessageRole::System => false,
    };
    if !is_said || message.replaced {
        return None;
    }
    let labels = message.attachments.iter().map(|attachment| match &attachment.label {
        Some(label) => format!("[{}: {label}]", attachment.word()),
        None => format!("[{}]", attachment.word()),
    });
    let text = message.text.trim();
    let parts: Vec<String> =
        Some(text.to_owned()).filter(|text| !text.is_empty()).into_iter().chain(labels).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns the text to embed: the writer, and the beginning of the message, as much as the usual models read. `None` for
/// a message nobody would look for.
pub(super) fn passage(message: &Message) -> Option<String> {
    let text = words_of(message)?;
    let speaker = message.speaker.as_ref().map(|speaker| speaker.name.as_str());
    let said = speaker.map_or_else(|| text.clone(), |speaker| format!("{speaker}: {text}"));
    Some(first_tokens(&said, PASSAGE_TOKENS).to_owned())
}

/// Returns the part of a message's id that the index stores.
pub(super) fn check(id: EntryId) -> u32 {
    let [.., a, b, c, d] = id.to_bytes();
    u32::from_le_bytes([a, b, c, d])
}
