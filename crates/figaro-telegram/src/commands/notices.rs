//! What is said without a command: to strangers, to groups that the bot comes into, and where there is no room.

use super::card::Card;
use crate::inbound::Me;
use figaro_agent::turn::queue::admission::{Full, MAX_IN_CONVERSATION, MAX_OF_PERSON};
use figaro_prompts::texts::{Texts, fill};

/// Why nothing is done for a press of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no room for what it asks.
    Full(Full),
    /// Whoever pressed may not talk to the bot.
    Stranger,
    /// There is no message that the button belongs to.
    Gone,
    /// The store failed.
    Failed,
}

/// What is said over a button for which nothing is done.
#[must_use]
pub(crate) fn refused(texts: &Texts, why: Refused) -> String {
    match why {
        Refused::Full(full) => no_room(texts, full),
        Refused::Stranger => texts.press_not_allowed().to_owned(),
        Refused::Gone => texts.gone().to_owned(),
        Refused::Failed => texts.error_internal().to_owned(),
    }
}

/// For a stranger with this Telegram number; owners were asked about them, or not.
#[must_use]
pub(crate) fn private(texts: &Texts, number: Option<i64>, is_asked: bool) -> Card {
    if is_asked {
        return Card::text(texts.private_bot_asked());
    }
    let id = number.unwrap_or_default().to_string();
    Card::text(fill(texts.private_bot(), &[("id", &id)]))
}

/// For a group that no owner has let in; owners were asked about it, or not.
#[must_use]
pub(crate) fn group_waits(texts: &Texts, is_asked: bool) -> Card {
    Card::text(if is_asked { texts.group_waits_asked() } else { texts.group_waits() })
}

/// For a group that the bot has just been added to, as an administrator or not.
#[must_use]
pub(crate) fn joined(texts: &Texts, me: &Me, is_admin: bool) -> Card {
    let values = [("name", me.name.as_str()), ("username", &me.username)];
    let words = fill(texts.joined(), &values);
    // An admin sees everything, whatever the privacy mode.
    if me.reads_all || is_admin {
        return Card::text(words);
    }
    Card::text(format!("{words}\n\n{}", texts.privacy_hint()))
}

/// Why a message was not kept, and what to do.
#[must_use]
pub(crate) fn no_room(texts: &Texts, full: Full) -> String {
    match full {
        Full::Person => fill(texts.no_room_person(), &[("count", &MAX_OF_PERSON.to_string())]),
        Full::Conversation => fill(texts.no_room_chat(), &[("count", &MAX_IN_CONVERSATION.to_string())]),
        Full::All => texts.no_room_all().to_owned(),
    }
}
