//! Messages to erase, and their ids elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, RangeInclusive};

use chrono::{DateTime, TimeDelta, Utc};

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::{pins, session_list, vectors};
use super::exchange::{self, ErasureExchange};
use super::parts::{self, Looks};
use figaro_base::ids::{ChatId, EntryId, MessageId, RunId, SessionId};
use figaro_domain::conversation::{EntryKey, Message, MessageRole, Session};
use figaro_domain::erasure::{Erased, Erasure, SaidAt};
use figaro_domain::message::Inbound;
use figaro_domain::session::SessionName;

/// Maximum difference between Telegram's clock and that of this machine.
const CLOCKS: TimeDelta = TimeDelta::minutes(5);

/// Messages and sessions to erase.
#[derive(Debug)]
pub(super) struct ToErase {
    pub(super) chat: ChatId,
    messages: BTreeMap<SessionId, Vec<Message>>,
    /// Places of these messages.
    places: BTreeSet<(SessionId, u32)>,
    /// Background messages, with their keys.
    background: Vec<(Vec<u8>, Inbound)>,
    /// Messages given by their Telegram ids, stored or not.
    named: BTreeSet<MessageId>,
    /// Sessions to erase as a whole.
    sessions: Vec<Session>,
    /// Turns whose questions or answers are erased.
    pub(super) turns: BTreeSet<RunId>,
    /// Turns whose questions are erased.
    pub(super) asked: BTreeSet<RunId>,
}

/// Finds the data to erase, among these sessions of the chat.
pub(super) fn find(store: &impl Looks, what: &Erasure, sessions: &[Session]) -> Result<ToErase, StoreFault> {
    let mut to_erase = ToErase::new(what);
    match what {
        Erasure::Said(_, places) => {
            to_erase.named = places.iter().filter_map(SaidAt::background).collect();
            to_erase.take_said(store, places, sessions)?;
        }
        Erasure::Session(conversation, session) => {
            let found = store.look(|tables| session_list::one(tables, *conversation, *session))?;
            found.into_iter().try_for_each(|session| to_erase.take_session(store, session))?;
        }
        Erasure::Chat(..) => {
            sessions.iter().try_for_each(|session| to_erase.take_session(store, session.clone()))?;
        }
        Erasure::Person(_, user) => {
            let is_theirs = |message: &Message| {
                message.role == MessageRole::User
                    && message.speaker.as_ref().is_some_and(|speaker| speaker.user == *user)
            };
            sessions.iter().try_for_each(|session| to_erase.take(store, session.id, is_theirs))?;
        }
    }
    to_erase.background = store.look(|tables| background(tables, what))?;
    Ok(to_erase)
}

/// Returns the background messages to erase, with their keys.
pub(super) fn background(tables: &Tables<'_>, what: &Erasure) -> Result<Vec<(Vec<u8>, Inbound)>, StoreFault> {
    let is_wanted = |message: &Inbound| match what {
        Erasure::Said(_, places) => {
            message.origin.message().is_some_and(|id| places.contains(&SaidAt::Background(id)))
        }
        Erasure::Session(..) => false,
        Erasure::Chat(..) => true,
        Erasure::Person(_, user) => message.speaker.user == *user,
    };
    let all = tables.background.scan(&key::chat(what.chat()))?;
    all.filter(|item| item.as_ref().map_or(true, |(_, message)| is_wanted(message))).collect()
}

impl ToErase {
    fn new(what: &Erasure) -> Self {
        Self {
            chat: what.chat(),
            messages: BTreeMap::new(),
            places: BTreeSet::new(),
            background: Vec::new(),
            named: BTreeSet::new(),
            sessions: Vec::new(),
            turns: BTreeSet::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Adds the messages at these places, and what has to be erased with them. Places may not exist.
    fn take_said(
        &mut self,
        store: &impl Looks,
        places: &[SaidAt],
        sessions: &[Session],
    ) -> Result<(), StoreFault> {
        let mut wanted: BTreeMap<SessionId, BTreeSet<u32>> = BTreeMap::new();
        for place in places {
            if let SaidAt::Session(EntryKey { session, index }) = place {
                wanted.entry(*session).or_default().insert(*index);
            }
        }
        for session in sessions {
            if let Some(indexes) = wanted.get(&session.id) {
                self.take(store, session.id, |message| indexes.contains(&message.index))?;
            }
        }
        Ok(())
    }

    /// Adds the exchanges of a session whose question matches, with every attempt at it, and matching answers of other
    /// exchanges, with those of every attempt at their questions. These questions stay.
    fn take(
        &mut self,
        store: &impl Looks,
        session: SessionId,
        is_wanted: impl Fn(&Message) -> bool,
    ) -> Result<(), StoreFault> {
        let is_asked = |exchange: &ErasureExchange| exchange.question.iter().any(&is_wanted);
        let (mut asked_in, mut answered_in) = (BTreeSet::new(), BTreeSet::new());
        let mut wanted = Vec::new();
        // Questions and start indexes of the others: a long session is not held in memory.
        let mut others: Vec<(BTreeSet<MessageId>, u32)> = Vec::new();
        exchange::each(store, session, |exchange| {
            if is_asked(&exchange) {
                asked_in.extend(exchange.asked_in());
                wanted.push(exchange);
            } else if exchange.rest.iter().any(&is_wanted) {
                answered_in.extend(exchange.asked_in());
                wanted.push(exchange);
            } else if let Some(first) = exchange.question.first() {
                others.push((exchange.asked_in(), first.index));
            }
            Ok(())
        })?;
        let is_other =
            |other: &BTreeSet<MessageId>| !other.is_disjoint(&asked_in) || !other.is_disjoint(&answered_in);
        for (_, first) in others.iter().filter(|(other, _)| is_other(other)) {
            wanted.push(exchange::at(store, session, *first)?);
        }
        for exchange in wanted {
            let is_attempt = !exchange.asked_in().is_disjoint(&asked_in);
            let is_whole = is_asked(&exchange) || is_attempt;
            self.turns.extend(exchange.turn());
            self.asked.extend(exchange.turn().filter(|_| is_whole));
            let question = exchange.question.into_iter().filter(|_| is_whole);
            question.chain(exchange.rest).for_each(|message| self.take_message(message));
        }
        Ok(())
    }

    fn take_message(&mut self, message: Message) {
        self.places.insert((message.session, message.index));
        self.messages.entry(message.session).or_default().push(message);
    }

    fn take_session(&mut self, store: &impl Looks, session: Session) -> Result<(), StoreFault> {
        parts::each(store, session.id, 0, |tables, (key, bytes)| {
            if let Some(message) = tables.messages.decode(&key, bytes) {
                self.turns.extend(message.turn);
                self.asked.extend(message.turn);
                self.take_message(message);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.sessions.push(session);
        Ok(())
    }

    /// Adds the turns that wait for a person in erased sessions.
    pub(super) fn take_waiting(&mut self, tables: &Tables<'_>) -> Result<(), StoreFault> {
        if self.sessions.is_empty() {
            return Ok(());
        }
        let waiting = tables.parked.list(&[])?;
        let gone = waiting.into_iter().filter(|parked| self.has_session(parked.turn.session));
        let gone: Vec<RunId> = gone.map(|parked| parked.turn.id).collect();
        self.turns.extend(gone);
        Ok(())
    }

    /// Returns `true` if the background messages to erase are unchanged.
    pub(super) fn is_background_as(&self, now: &[(Vec<u8>, Inbound)]) -> bool {
        self.background == now
    }

    /// Returns `true` if a turn is in progress in the chat: it may have read the data, and would write it again.
    pub(super) fn is_busy(&self, tables: &Tables<'_>) -> Result<bool, StoreFault> {
        Ok(tables.turns.keys_of(&key::chat(self.chat))?.next().transpose()?.is_some())
    }

    /// Erases the messages and sessions. Returns their numbers as people count them.
    pub(super) fn remove(
        &self,
        tables: &Tables<'_>,
        changes: &mut Changes<'_>,
    ) -> Result<Erased, StoreFault> {
        let mut erased = Erased { sessions: self.sessions.len(), ..Erased::default() };
        for message in self.messages.values().flatten() {
            vectors::remove_message(tables, changes, key::message(message.session, message.index));
            match message.role {
                _ if message.replaced => {}
                MessageRole::User if message.task.is_none() => erased.messages += 1,
                MessageRole::Assistant if !message.text.trim().is_empty() => erased.answers += 1,
                MessageRole::User | MessageRole::Assistant | MessageRole::Tool | MessageRole::System => {}
            }
        }
        for (key, _) in &self.background {
            changes.remove(&tables.background, key);
            erased.messages += 1;
        }
        for session in &self.sessions {
            self.remove_session(tables, changes, session)?;
        }
        for (session, messages) in &self.messages {
            if !self.has_session(*session) {
                self.leave_gap(tables, changes, *session, messages)?;
            }
        }
        Ok(erased)
    }

    fn remove_session(
        &self,
        tables: &Tables<'_>,
        changes: &mut Changes<'_>,
        session: &Session,
    ) -> Result<(), StoreFault> {
        // Unreadable messages are erased as well.
        for key in tables.messages.keys_of(&key::id(session.id))? {
            vectors::remove_message(tables, changes, key?);
        }
        let place = key::conversation(session.conversation);
        if tables.current.find(&place)? == Some(session.id) {
            changes.remove(&tables.current, place);
        }
        changes.remove(&tables.sessions, key::id(session.id));
        changes.remove(&tables.sessions_of, key::session_of(session.conversation, session.id));
        Ok(())
    }

    /// Reserves the places of erased messages, so that they are not reused, and drops a session name made of them.
    fn leave_gap(
        &self,
        tables: &Tables<'_>,
        changes: &mut Changes<'_>,
        id: SessionId,
        messages: &[Message],
    ) -> Result<(), StoreFault> {
        let Some(mut session) = tables.sessions.find(&key::id(id))? else { return Ok(()) };
        let before = session.clone();
        let next = tables.messages.next_index(&key::id(id))?;
        if messages.iter().any(|message| message.index + 1 == next) {
            session.erased_to = next.max(session.erased_to);
        }
        let is_gone = |name: &SessionName| {
            name.made_of.iter().any(|index| messages.iter().any(|message| message.index == *index))
                || name.turn.is_some_and(|turn| self.turns.contains(&turn))
        };
        if session.name.take_if(|name| is_gone(name)).is_some() {
            let current = tables.current.find(&key::conversation(session.conversation))?;
            if current == Some(id) {
                // The pin of its start contains the name too.
                pins::session_began(tables, changes, &session)?;
            }
        }
        if session != before {
            changes.put(&tables.sessions, key::id(id), &session)?;
        }
        Ok(())
    }

    /// Returns `true` if a message is to be erased.
    pub(super) fn has(&self, place: EntryKey) -> bool {
        self.places.contains(&(place.session, place.index)) || self.has_session(place.session)
    }

    /// Returns `true` if one of these messages of a session is to be erased.
    pub(super) fn has_any_of(&self, session: SessionId, indexes: RangeInclusive<u32>) -> bool {
        self.places.range((session, *indexes.start())..=(session, *indexes.end())).next().is_some()
    }

    /// Returns the sessions that lose messages.
    pub(super) fn touched(&self) -> BTreeSet<SessionId> {
        self.messages.keys().copied().chain(self.whole_sessions()).collect()
    }

    /// Returns `true` if a whole session is to be erased.
    pub(super) fn has_session(&self, id: SessionId) -> bool {
        self.sessions.iter().any(|session| session.id == id)
    }

    /// Returns the sessions to erase as a whole.
    pub(super) fn whole_sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().map(|session| session.id)
    }

    /// Returns `true` if a background message is to be erased, by its key.
    pub(super) fn has_background(&self, key: &[u8]) -> bool {
        self.background.iter().any(|(gone, _)| gone == key)
    }

    /// Returns the messages to erase in sessions.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.values().flatten()
    }

    /// Returns the ids of the messages to erase in sessions.
    pub(super) fn entries(&self) -> BTreeSet<EntryId> {
        self.messages.values().flatten().map(|message| message.id).collect()
    }

    /// Returns the Telegram messages with erased contents.
    pub(super) fn telegram(&self) -> BTreeSet<MessageId> {
        let said = self.messages.values().flatten().flat_map(|message| message.telegram.iter().copied());
        let beside = self.background.iter().filter_map(|(_, message)| message.origin.message());
        said.chain(beside).chain(self.named.iter().copied()).collect()
    }

    /// Returns the time, UTC, before which no stored data can contain the erased messages; `None` if no message is
    /// erased.
    pub(super) fn since(&self) -> Option<DateTime<Utc>> {
        let written = self.messages().map(|message| message.created_at);
        let first = written.chain(self.background.iter().map(|(_, message)| message.sent_at)).min();
        first.map(|first| first - CLOCKS)
    }

    /// Returns `true` if there is nothing to erase.
    pub(super) fn is_empty(&self) -> bool {
        let has_none = self.background.is_empty() && self.named.is_empty();
        self.messages.is_empty() && has_none && self.sessions.is_empty()
    }
}
