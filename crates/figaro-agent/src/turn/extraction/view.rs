//! Messages of a person, formatted for fact extraction.

use figaro_base::ids::UserId;
use figaro_base::text::cut_middle;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::memory::{Memory, label};
use figaro_prompts::{LabelledText, UnreadView};
use figaro_store::UnreadBatch;

/// Maximum length of a message in the prompt, in characters.
const MESSAGE_CHARS: usize = 1_500;
/// Maximum length of an earlier message in the prompt, in characters.
const BEFORE_CHARS: usize = 300;

/// Returns the view for the prompt: the writer, their known memories, the chat's records, the earlier messages and the
/// new ones.
pub(super) fn view(user: &UserId, batch: &UnreadBatch, known: &[Memory], records: Vec<String>) -> UnreadView {
    let about = batch.messages.iter().find_map(|(_, message)| message.speaker.as_ref());
    UnreadView {
        about: about.map(|speaker| speaker.name.clone()).unwrap_or_default(),
        known: (1..)
            .zip(known)
            .map(|(at, memory)| labelled(label(at), &memory.content, usize::MAX))
            .collect(),
        records,
        before: batch.before.iter().map(|message| said_before(user, message)).collect(),
        new: (1..)
            .zip(&batch.messages)
            .map(|(at, (_, message))| labelled(format!("N{at}"), &message.text, MESSAGE_CHARS))
            .collect(),
    }
}

fn labelled(label: String, text: &str, chars: usize) -> LabelledText {
    let half = chars / 2;
    let text = if chars == usize::MAX { text.to_owned() } else { cut_middle(text, half, half, " … ") };
    LabelledText { label, text }
}

fn said_before(user: &UserId, message: &Message) -> LabelledText {
    let is_theirs = message.speaker.as_ref().is_some_and(|speaker| speaker.user == *user);
    let who = match message.role {
        MessageRole::User if message.forwarded_from.is_some() => "somebody whose words were passed on",
        MessageRole::User if is_theirs => "them",
        MessageRole::User => "another person",
        MessageRole::Assistant | MessageRole::Tool | MessageRole::System => "the bot",
    };
    labelled(who.to_owned(), &message.text, BEFORE_CHARS)
}
