//! How what is to be forgotten is found: by the message that somebody replies to, or by words.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::sessions;
use super::exchange::{self, Exchange};
use super::parts::{self, Looks};
use super::to_erase::sessions_of;
use crate::engine::Keys;
use figaro_base::ids::{ChatId, MessageId, UserId};
use figaro_domain::conversation::{Message, Role};
use figaro_domain::erasure::{Said, SaidAt};
use figaro_domain::message::Inbound;

/// What words are looked for, and in which messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidSearch {
    /// The chat, with all its topics.
    pub chat: ChatId,
    /// What stands in a message, in any case and order: each word, or a part of one.
    pub words: String,
    /// Only what is this person's to forget; `None` for everybody's.
    pub of: Option<UserId>,
    /// The newest so many are given.
    pub limit: usize,
}

/// The message that Telegram calls so; of several tries at a question the last.
pub(crate) fn said(store: &impl Looks, chat: ChatId, message: MessageId) -> Result<Option<Said>, Fault> {
    let digits = message.to_string();
    let mut sessions = store.look(|tables| sessions_of(tables, chat))?;
    sessions.sort_by_key(|session| Reverse(session.updated_at));
    for session in sessions {
        // Most sessions do not have it, and decoding all messages of a long chat takes long.
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

/// The message that is kept there, if it is of this chat.
pub(crate) fn said_at(tables: &Tables<'_>, chat: ChatId, at: SaidAt) -> Result<Option<Said>, Fault> {
    match at {
        SaidAt::Session(place) => {
            let Some(message) = sessions::entry(tables, chat, place)? else { return Ok(None) };
            let before = Keys::before(key::message(place.session, place.index), &key::id(place.session));
            let earlier =
                tables.messages.scan_range(&before)?.rev().map(|item| item.map(|(_, message)| message));
            let asker = match message.speaker {
                Some(_) => None,
                None => asker_before(earlier)?,
            };
            let question = asker.into_iter().collect();
            Ok(Some(as_said(&Exchange { question, rest: Vec::new() }, &message)))
        }
        SaidAt::Background(message) => beside(tables, chat, message),
    }
}

/// The question that stands last among these messages, newest first.
fn asker_before(mut earlier: impl Iterator<Item = Result<Message, Fault>>) -> Result<Option<Message>, Fault> {
    earlier.find(|message| message.as_ref().map_or(true, |message| message.role == Role::User)).transpose()
}

fn beside(tables: &Tables<'_>, chat: ChatId, message: MessageId) -> Result<Option<Said>, Fault> {
    for item in tables.background.scan(&key::chat(chat))? {
        let (_, beside) = item?;
        if beside.origin.message() == Some(message) {
            return Ok(Some(beside_as_said(beside, message)));
        }
    }
    pinned(tables, chat, message)
}

/// The words that were pinned from a message that is kept nowhere else, such as a command.
fn pinned(tables: &Tables<'_>, chat: ChatId, message: MessageId) -> Result<Option<Said>, Fault> {
    let pins = tables.pins.scan(&key::chat(chat))?.map(|item| item.map(|(_, pin)| pin));
    let mut pins = pins.filter(|pin| pin.as_ref().map_or(true, |pin| pin.telegram == Some(message)));
    let Some(pin) = pins.next().transpose()? else { return Ok(None) };
    Ok(Some(Said {
        at: SaidAt::Background(message),
        of: pin.author,
        is_answer: false,
        text: pin.content,
        written_at: pin.created_at,
    }))
}

/// The messages with some words, the newest first.
pub(crate) fn said_with(store: &impl Looks, search: &SaidSearch) -> Result<Vec<Said>, Fault> {
    let words: BTreeSet<String> = search.words.split_whitespace().map(str::to_lowercase).collect();
    let fits = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let is_theirs = |of: Option<&UserId>| search.of.is_none() || search.of.as_ref() == of;
    let mut found = Vec::new();
    for session in store.look(|tables| sessions_of(tables, search.chat))? {
        exchange::each(store, session.id, |exchange| {
            if is_theirs(exchange.asker()) {
                let fitting = visible(&exchange).filter(|said| fits(&said.text));
                found.extend(fitting.map(|said| as_said(&exchange, said)));
            }
            Ok(())
        })?;
    }
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
    // Of one second the later one stands behind: Telegram tells no more of when somebody wrote.
    found.reverse();
    found.sort_by_key(|said| Reverse(said.written_at.timestamp()));
    found.truncate(search.limit);
    Ok(found)
}

/// What people see of an exchange.
fn visible(exchange: &Exchange) -> impl Iterator<Item = &Message> {
    let answers =
        exchange.rest.iter().filter(|said| said.role == Role::Assistant && !said.text.trim().is_empty());
    exchange.question.iter().filter(|said| said.task.is_none()).chain(answers).filter(|said| !said.replaced)
}

fn as_said(exchange: &Exchange, message: &Message) -> Said {
    let speaker = message.speaker.as_ref().map(|speaker| &speaker.user);
    Said {
        at: SaidAt::Session(message.key()),
        of: speaker.or_else(|| exchange.asker()).cloned(),
        is_answer: message.role == Role::Assistant,
        text: message.text.clone(),
        written_at: message.created_at,
    }
}

fn beside_as_said(message: Inbound, id: MessageId) -> Said {
    Said {
        at: SaidAt::Background(id),
        of: Some(message.speaker.user),
        is_answer: false,
        text: message.text,
        written_at: message.sent_at,
    }
}
