//! A stored message as the index remembers it.

use chrono_tz::Tz;

use super::index::{Counted, Entry, Remembered};
use super::wishes::is_wish;
use super::words::{self, Language};
use figaro_base::ids::EntryId;
use figaro_base::text::{estimate_tokens, first_tokens};
use figaro_domain::conversation::{Message, Role};

/// No message takes more tokens of a context: of a longer one those sentences are shown that matter.
pub(super) const MAX_TOKENS: usize = 200;
/// A line takes about so many tokens beside its text: the name, and the line's end.
pub(super) const LINE_TOKENS: usize = 4;
/// What takes no more tokens than this, its line counted, is never shown in part for its length alone.
pub(super) const WHOLE: usize = MAX_TOKENS + LINE_TOKENS;
/// A vector is made of so much of a text: all-MiniLM-L6-v2 and models like it read no more, and a service is paid for more.
const PASSAGE_TOKENS: usize = 256;

/// What the index remembers of a message in a chat of this zone, where a message whose language cannot be told is in `usual`;
/// `None` for one that nobody would look for: results of tools, what Figaro said of a turn, prompts of tasks, and what a
/// later try has replaced.
pub(super) fn remembered(message: &Message, zone: Tz, usual: Option<Language>) -> Option<Remembered> {
    let text = words_of(message)?;
    let language = words::detect(&text);
    let speaker = message.speaker.as_ref().map_or("", |speaker| speaker.name.as_str());
    let day = message.created_at.with_timezone(&zone).date_naive();
    let terms = words::of_message(&text, language.or(usual), speaker, day);
    let tokens = estimate_tokens(&text);
    let entry = Entry {
        index: message.index,
        check: check(message.id),
        at: message.created_at.timestamp(),
        cost: u16::try_from(tokens + LINE_TOKENS).unwrap_or(u16::MAX),
        importance: message.importance.clamp(0.0, 10.0).round() as u8,
        // Of a longer one other sentences are shown.
        is_wish: message.role == Role::User && tokens <= MAX_TOKENS && is_wish(&text, tokens),
        language,
    };
    Some(Remembered { session: message.session, entry, terms: Counted::of(&terms) })
}

/// What a message says: its text, and what its attachments are called.
pub(super) fn words_of(message: &Message) -> Option<String> {
    let is_said = match message.role {
        Role::User => message.task.is_none(),
        Role::Assistant => true,
        Role::Tool | Role::System => false,
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

/// What a vector is made of: who says it, and the beginning of what is said, as much as the usual models read; `None` for one that nobody
/// would look for.
pub(super) fn passage(message: &Message) -> Option<String> {
    let text = words_of(message)?;
    let speaker = message.speaker.as_ref().map(|speaker| speaker.name.as_str());
    let said = speaker.map_or_else(|| text.clone(), |speaker| format!("{speaker}: {text}"));
    Some(first_tokens(&said, PASSAGE_TOKENS).to_owned())
}

/// The part of a message's id that the index keeps.
pub(super) fn check(id: EntryId) -> u32 {
    let [.., a, b, c, d] = id.to_bytes();
    u32::from_le_bytes([a, b, c, d])
}
