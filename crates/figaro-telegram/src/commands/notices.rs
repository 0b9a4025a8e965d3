//! Messages without a command: to strangers, to groups that the bot is added to, and when a queue is full.

use super::card::Card;
use crate::inbound::Me;
use figaro_agent::turn::queue::admission::{Full, MAX_IN_CONVERSATION, MAX_OF_PERSON};
use figaro_prompts::texts::{Texts, fill};

/// Reason why a button press has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PressRefusal {
    /// The queue for the question is full.
    Full(Full),
    /// The person who pressed may not talk to the bot.
    Stranger,
    /// The message of the button is missing.
    Gone,
    /// Only the person who asked may press the button.
    Others,
    Failed,
}

/// Returns the toast for a press that has no effect.
#[must_use]
pub(crate) fn refused(texts: &Texts, why: PressRefusal) -> String {
    match why {
        PressRefusal::Full(full) => no_room(texts, full),
        PressRefusal::Stranger => texts.press_not_allowed().to_owned(),
        PressRefusal::Gone => texts.gone().to_owned(),
        PressRefusal::Others => texts.inline_others().to_owned(),
        PressRefusal::Failed => texts.error_internal().to_owned(),
    }
}

/// Returns the card for a stranger with this Telegram user id; `is_asked` if owners were asked about them.
#[must_use]
pub(crate) fn private(texts: &Texts, number: Option<i64>, is_asked: bool) -> Card {
    if is_asked {
        return Card::text(texts.private_bot_asked());
    }
    let id = number.unwrap_or_default().to_string();
    Card::text(fill(texts.private_bot(), &[("id", &id)]))
}

/// Returns the card for a group that no owner has allowed; `is_asked` if owners were asked about it.
#[must_use]
pub(crate) fn group_waits(texts: &Texts, is_asked: bool) -> Card {
    Card::text(if is_asked { texts.group_waits_asked() } else { texts.group_waits() })
}

/// Returns the card for a group that the bot has just been added to.
#[must_use]
pub(crate) fn joined(texts: &Texts, me: &Me, is_admin: bool) -> Card {
    let values = [("name", me.name.as_str()), ("username", &me.username)];
    let words = fill(texts.joined(), &values);
    // A bot that is an admin gets all messages, whatever its privacy mode.
    if me.reads_all || is_admin {
        return Card::text(words);
    }
    Card::text(format!("{words}\n\n{}", texts.privacy_hint()))
}

/// Returns the message for a full queue: the reason and what to do.
#[must_use]
pub(crate) fn no_room(texts: &Texts, full: Full) -> String {
    match full {
        Full::Person => fill(texts.no_room_person(), &[("count", &MAX_OF_PERSON.to_string())]),
        Full::Conversation => fill(texts.no_room_chat(), &[("count", &MAX_IN_CONVERSATION.to_string())]),
        Full::All => texts.no_room_all().to_owned(),
    }
}
