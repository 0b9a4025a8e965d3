//! Search for the data to erase: by the message that somebody replies to, or by words.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::{session_list, sessions};
use super::exchange::{self, ErasureExchange};
use super::parts::{self, Looks};
use crate::engine::Keys;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::erasure::{FoundMessage, SaidAt};
use figaro_domain::message::Inbound;

/// Search for messages by words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidSearch {
    /// Chat to search, with all its topics.
    pub chat: ChatId,
    /// Words or parts of words, each of which must occur, in any case and order.
    pub words: String,
    /// Only messages that this person may erase; `None` for everybody's.
    pub of: Option<UserId>,
    /// Maximum number of messages returned, the newest first.
    pub limit: usize,
}

/// Returns the message with this Telegram id; of several tries at a question the last.
pub(crate) fn said(
    store: &impl Looks,
    chat: ChatId,
    message: MessageId,
) -> Result<Option<FoundMessage>, StoreFault> {
    let digits = message.to_string();
    let mut sessions = store.look(|tables| session_list::of_chat(tables, chat))?;
    sessions.sort_by_key(|session| Reverse(session.updated_at));
    for session in sessions {
        // Most sessions do not contain it, and decoding all messages of a long chat takes long.
        let mut has_digits = false;
        parts::each(store, session.id, 0, |_, (_, bytes)| {
            has_digits = bytes.windows(digits.len()).any(|part| part == digits.as_bytes());
            Ok(if has_digits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if !has_digits {
            continue;
        }
        let mut found = None;
        exchange::each(store, session.id, |exchange| {
            let last = visible(&exchange).filter(|said| said.telegram.contains(&message)).last();
            found = last.map(|said| as_said(&exchange, said)).or(found.take());
            Ok(())
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    store.look(|tables| beside(tables, chat, message))
}

/// Returns the message stored at this place, if it belongs to this chat.
pub(crate) fn said_at(
    tables: &Tables<'_>,
    chat: ChatId,
    at: SaidAt,
) -> Result<Option<FoundMessage>, StoreFault> {
    match at {
        SaidAt::Session(place) => {
            let Some(message) = sessions::entry_or_replaced(tables, chat, place)? else { return Ok(None) };
            let before = Keys::before(key::message(place.session, place.index), &key::id(place.session));
            let earlier =
                tables.messages.scan_range(&before)?.rev().map(|item| item.map(|(_, message)| message));
            let asker = match message.speaker {
                Some(_) => None,
                None => asker_before(earlier)?,
            };
            let question = asker.into_iter().collect();
            Ok(Some(as_said(&ErasureExchange { question, rest: Vec::new() }, &message)))
        }
        SaidAt::Background(message) => beside(tables, chat, message),
    }
}

/// Returns the last message of a person among these messages, given newest first.
fn asker_before(
    mut earlier: impl Iterator<Item = Result<Message, StoreFault>>,
) -> Result<Option<Message>, StoreFault> {
    earlier
        .find(|message| message.as_ref().map_or(true, |message| message.role == MessageRole::User))
        .transpose()
}

fn beside(tables: &Tables<'_>, chat: ChatId, message: MessageId) -> Result<Option<FoundMessage>, StoreFault> {
    for item in tables.background.scan(&key::chat(chat))? {
        let (_, beside) = item?;
        if beside.origin.message() == Some(message) {
            return Ok(Some(beside_as_said(beside, message)));
        }
    }
    pinned(tables, chat, message)
}

/// Returns the pinned words of a message that is stored nowhere else, such as a command.
fn pinned(tables: &Tables<'_>, chat: ChatId, message: MessageId) -> Result<Option<FoundMessage>, StoreFault> {
    let pins = tables.pins.scan(&key::chat(chat))?.map(|item| item.map(|(_, pin)| pin));
    let mut pins = pins.filter(|pin| pin.as_ref().map_or(true, |pin| pin.telegram == Some(message)));
    let Some(pin) = pins.next().transpose()? else { return Ok(None) };
    Ok(Some(FoundMessage {
        at: SaidAt::Background(message),
        of: pin.author,
        is_answer: false,
        text: pin.content,
        written_at: pin.created_at,
    }))
}

/// Returns the messages with these words, newest first. One that a later attempt replaced is found if no message in its place
/// has the words.
pub(crate) fn said_with(store: &impl Looks, search: &SaidSearch) -> Result<Vec<FoundMessage>, StoreFault> {
    let words: BTreeSet<String> = search.words.split_whitespace().map(str::to_lowercase).collect();
    let fits = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let is_theirs = |of: Option<&UserId>| search.of.is_none() || search.of.as_ref() == of;
    let (mut found, mut replaced) = (Vec::new(), Vec::new());
    let mut places: BTreeSet<MessageId> = BTreeSet::new();
    for session in store.look(|tables| session_list::of_chat(tables, search.chat))? {
        exchange::each(store, session.id, |exchange| {
            if is_theirs(exchange.asker()) {
                for said in shown(&exchange).filter(|said| fits(&said.text)) {
                    if said.replaced {
                        replaced.push((said.telegram.clone(), as_said(&exchange, said)));
                    } else {
                        places.extend(&said.telegram);
                        found.push(as_said(&exchange, said));
                    }
                }
            }
            Ok(())
        })?;
    }
    // Of several earlier versions the last is found.
    let mut earlier = Vec::new();
    for (telegram, said) in replaced.into_iter().rev() {
        if telegram.iter().all(|id| !places.contains(id)) {
            places.extend(telegram);
            earlier.push(said);
        }
    }
    found.extend(earlier.into_iter().rev());
    store.look(|tables| {
        for item in tables.background.scan(&key::chat(search.chat))? {
            let (_, beside) = item?;
            if is_theirs(Some(&beside.speaker.user)) && fits(&beside.text) {
                let id = beside.origin.message();
                found.extend(id.map(|id| beside_as_said(beside, id)));
            }
        }
        Ok(())
    })?;
    // Within one second the later message comes last: Telegram gives times in seconds.
    found.reverse();
    found.sort_by_key(|said| Reverse(said.written_at.timestamp()));
    found.truncate(search.limit);
    Ok(found)
}

/// Returns the messages of an exchange that people see.
fn visible(exchange: &ErasureExchange) -> impl Iterator<Item = &Message> {
    shown(exchange).filter(|said| !said.replaced)
}

/// Returns the messages of an exchange that people see, or saw before a later attempt at the question.
fn shown(exchange: &ErasureExchange) -> impl Iterator<Item = &Message> {
    let answers = exchange
        .rest
        .iter()
        .filter(|said| said.role == MessageRole::Assistant && !said.text.trim().is_empty());
    exchange.question.iter().filter(|said| said.task.is_none()).chain(answers)
}

fn as_said(exchange: &ErasureExchange, message: &Message) -> FoundMessage {
    let speaker = message.speaker.as_ref().map(|speaker| &speaker.user);
    FoundMessage {
        at: SaidAt::Session(message.key()),
        of: speaker.or_else(|| exchange.asker()).cloned(),
        is_answer: message.role == MessageRole::Assistant,
        text: message.text.clone(),
        written_at: message.created_at,
    }
}

fn beside_as_said(message: Inbound, id: MessageId) -> FoundMessage {
    FoundMessage {
        at: SaidAt::Background(id),
        of: Some(message.speaker.user),
        is_answer: false,
        text: message.text,
        written_at: message.sent_at,
    }
}
