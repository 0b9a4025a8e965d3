//! The messages of a person as a model reads them for facts.

use figaro_base::ids::UserId;
use figaro_base::text::cut_middle;
use figaro_domain::conversation::{Message, Role};
use figaro_domain::memory::{Memory, label};
use figaro_prompts::{LabelledText, UnreadView};
use figaro_store::UnreadBatch;

/// So much of each message is read.
const MESSAGE_CHARS: usize = 1_500;
/// So much of each message before it.
const BEFORE_CHARS: usize = 300;

/// What is told of messages: who says them, what is known of that person, the records of the chat, and what was said before.
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
        Role::User if message.forwarded_from.is_some() => "somebody whose words were passed on",
        Role::User if is_theirs => "them",
        Role::User => "another person",
        Role::Assistant | Role::Tool | Role::System => "the bot",
    };
    labelled(who.to_owned(), &message.text, BEFORE_CHARS)
}
