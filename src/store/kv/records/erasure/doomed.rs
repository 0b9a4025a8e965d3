//! The messages that go, and what they are known by elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::{pins, session_list, vectors};
use super::exchange::{self, Exchange};
use crate::domain::conversation::{Conversation, EntryKey, Message, Role, Session};
use crate::domain::erasure::{Erased, SaidAt};
use crate::domain::message::Inbound;
use crate::domain::session::NamedBy;
use crate::ids::{ChatId, EntryId, MessageId, RunId, SessionId, UserId};

/// So many messages from the first on may have given a session the name that a model made.
const NAMING: usize = 6;
/// Texts with fewer bytes are not looked for elsewhere: they stand everywhere.
const MIN_BYTES: usize = 6;

/// What goes.
#[derive(Debug)]
pub(super) struct Doomed {
    /// The chat.
    pub(super) chat: ChatId,
    /// Whether all goes that is kept of the chat.
    pub(super) is_all: bool,
    /// The messages by their sessions.
    messages: BTreeMap<SessionId, Vec<Message>>,
    /// Messages beside the bot, with their keys.
    background: Vec<(Vec<u8>, Inbound)>,
    /// Sessions that go as a whole.
    sessions: Vec<Session>,
    /// The turns whose questions go, or whose answers.
    pub(super) turns: BTreeSet<RunId>,
}

/// The messages with these places, and what goes with them.
pub(super) fn said(tables: &Tables<'_>, chat: ChatId, places: &[SaidAt]) -> Result<Doomed, Fault> {
    let mut doomed = Doomed::new(chat);
    let mut wanted: BTreeMap<SessionId, BTreeSet<u32>> = BTreeMap::new();
    let mut beside: BTreeSet<MessageId> = BTreeSet::new();
    for place in places {
        match place {
            SaidAt::Session(EntryKey { session, index }) => {
                wanted.entry(*session).or_default().insert(*index);
            }
            SaidAt::Background(message) => {
                beside.insert(*message);
            }
        }
    }
    for (session, indexes) in wanted {
        // Places may be made up.
        let known = tables.sessions.find(&key::id(session))?;
        if known.is_some_and(|known| known.conversation.chat == chat) {
            let is_wanted = |message: &Message| indexes.contains(&message.index);
            doomed.take(exchange::of_session(tables, session)?, is_wanted);
        }
    }
    doomed.take_background(tables, |message| beside.contains(&message.message))?;
    Ok(doomed)
}

/// A session of a conversation; nothing if it is none of it.
pub(super) fn session(
    tables: &Tables<'_>,
    conversation: Conversation,
    session: SessionId,
) -> Result<Doomed, Fault> {
    let mut doomed = Doomed::new(conversation.chat);
    if let Some(session) = session_list::one(tables, conversation, session)? {
        doomed.take_session(tables, session)?;
    }
    Ok(doomed)
}

/// All that was said in a chat.
pub(super) fn chat(tables: &Tables<'_>, chat: ChatId) -> Result<Doomed, Fault> {
    let mut doomed = Doomed { is_all: true, ..Doomed::new(chat) };
    for session in sessions_of(tables, chat)? {
        doomed.take_session(tables, session)?;
    }
    doomed.take_background(tables, |_| true)?;
    Ok(doomed)
}

/// What one person said in a chat, and what was answered to it.
pub(super) fn person(tables: &Tables<'_>, chat: ChatId, user: &UserId) -> Result<Doomed, Fault> {
    let mut doomed = Doomed::new(chat);
    for session in sessions_of(tables, chat)? {
        let is_theirs = |message: &Message| {
            message.role == Role::User
                && message.speaker.as_ref().is_some_and(|speaker| speaker.user == *user)
        };
        doomed.take(exchange::of_session(tables, session.id)?, is_theirs);
    }
    doomed.take_background(tables, |message| message.speaker.user == *user)?;
    Ok(doomed)
}

/// The sessions of a chat, the oldest of each of its conversations first.
pub(super) fn sessions_of(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Session>, Fault> {
    let mut sessions = Vec::new();
    for found in tables.sessions_of.keys_of(&key::chat(chat))? {
        let Some(id) = key::session_in(&found?) else { continue };
        sessions.extend(tables.sessions.find(&key::id(id))?);
    }
    Ok(sessions)
}

impl Doomed {
    fn new(chat: ChatId) -> Self {
        Self {
            chat,
            is_all: false,
            messages: BTreeMap::new(),
            background: Vec::new(),
            sessions: Vec::new(),
            turns: BTreeSet::new(),
        }
    }

    /// Takes the exchanges of a session whose question is wanted, every try of it, and of the others the answers that are.
    fn take(&mut self, exchanges: Vec<Exchange>, is_wanted: impl Fn(&Message) -> bool) {
        let is_asked = |exchange: &&Exchange| exchange.question.iter().any(&is_wanted);
        let asked_in: BTreeSet<MessageId> =
            exchanges.iter().filter(is_asked).flat_map(Exchange::asked_in).collect();
        for exchange in exchanges {
            let is_whole = is_asked(&&exchange) || !exchange.asked_in().is_disjoint(&asked_in);
            if !is_whole && !exchange.rest.iter().any(&is_wanted) {
                continue;
            }
            self.turns.extend(exchange.turn());
            let question = exchange.question.into_iter().filter(|_| is_whole);
            question.chain(exchange.rest).for_each(|message| self.take_message(message));
        }
    }

    fn take_message(&mut self, message: Message) {
        self.messages.entry(message.session).or_default().push(message);
    }

    fn take_session(&mut self, tables: &Tables<'_>, session: Session) -> Result<(), Fault> {
        for item in tables.messages.scan(&key::id(session.id))? {
            let (_, message) = item?;
            self.turns.extend(message.turn);
            self.take_message(message);
        }
        let waiting = tables.parked.list(&[])?.into_iter().filter(|parked| parked.turn.session == session.id);
        self.turns.extend(waiting.map(|parked| parked.turn.id));
        self.sessions.push(session);
        Ok(())
    }

    fn take_background(
        &mut self,
        tables: &Tables<'_>,
        is_wanted: impl Fn(&Inbound) -> bool,
    ) -> Result<(), Fault> {
        for item in tables.background.scan(&key::chat(self.chat))? {
            let (key, message) = item?;
            if is_wanted(&message) {
                self.background.push((key, message));
            }
        }
        Ok(())
    }

    /// Whether a turn is in progress in the chat: it may have read what goes, and would write it down again.
    pub(super) fn is_busy(&self, tables: &Tables<'_>) -> Result<bool, Fault> {
        Ok(tables.turns.keys_of(&key::chat(self.chat))?.next().transpose()?.is_some())
    }

    /// Removes the messages and sessions. Gives how many there were, as people count them.
    pub(super) fn remove(&self, tables: &Tables<'_>, changes: &mut Changes<'_>) -> Result<Erased, Fault> {
        let mut erased = Erased { sessions: self.sessions.len(), ..Erased::default() };
        for message in self.messages.values().flatten() {
            vectors::remove_message(tables, changes, key::message(message.session, message.index));
            match message.role {
                _ if message.replaced => {}
                Role::User if message.task.is_none() => erased.messages += 1,
                Role::Assistant if !message.text.trim().is_empty() => erased.answers += 1,
                Role::User | Role::Assistant | Role::Tool | Role::System => {}
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
            if !self.sessions.iter().any(|whole| whole.id == *session) {
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
    ) -> Result<(), Fault> {
        // What cannot be read is erased with it.
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

    /// The places of erased messages are not given again, and a name that was made of them goes.
    fn leave_gap(
        &self,
        tables: &Tables<'_>,
        changes: &mut Changes<'_>,
        id: SessionId,
        messages: &[Message],
    ) -> Result<(), Fault> {
        let Some(mut session) = tables.sessions.find(&key::id(id))? else { return Ok(()) };
        let before = session.clone();
        let next = tables.messages.next_index(&key::id(id))?;
        if messages.iter().any(|message| message.index + 1 == next) {
            session.erased_to = next.max(session.erased_to);
        }
        let first = session_list::first_said(tables, id, NAMING)?;
        let is_named_after = first.iter().any(|said| messages.iter().any(|message| message.id == said.id));
        if is_named_after {
            session.name = session.name.take().filter(|name| name.by == NamedBy::Person);
            let current = tables.current.find(&key::conversation(session.conversation))?;
            if current == Some(id) && session.name != before.name {
                // The pin of its start has the name too.
                pins::session_began(tables, changes, &session)?;
            }
        }
        if session != before {
            changes.put(&tables.sessions, key::id(id), &session)?;
        }
        Ok(())
    }

    /// Whether a message is among those that go.
    pub(super) fn has(&self, place: EntryKey) -> bool {
        let of_session = self.messages.get(&place.session);
        let is_gone = of_session.is_some_and(|all| all.iter().any(|message| message.index == place.index));
        is_gone || self.has_session(place.session)
    }

    /// Whether one of these messages of a session goes.
    pub(super) fn has_any_of(&self, session: SessionId, indexes: RangeInclusive<u32>) -> bool {
        let of_session = self.messages.get(&session);
        of_session.is_some_and(|all| all.iter().any(|message| indexes.contains(&message.index)))
    }

    /// The sessions that lose something.
    pub(super) fn touched(&self) -> BTreeSet<SessionId> {
        self.messages.keys().copied().chain(self.whole_sessions()).collect()
    }

    /// Whether a whole session goes.
    pub(super) fn has_session(&self, id: SessionId) -> bool {
        self.sessions.iter().any(|session| session.id == id)
    }

    /// The sessions that go as a whole.
    pub(super) fn whole_sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().map(|session| session.id)
    }

    /// Whether a message beside the bot is among them, by its key.
    pub(super) fn has_background(&self, key: &[u8]) -> bool {
        self.background.iter().any(|(gone, _)| gone == key)
    }

    /// The messages that were in sessions.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.values().flatten()
    }

    /// The ids of the messages that were in sessions.
    pub(super) fn entries(&self) -> BTreeSet<EntryId> {
        self.messages.values().flatten().map(|message| message.id).collect()
    }

    /// The messages of Telegram that hold what goes.
    pub(super) fn telegram(&self) -> BTreeSet<MessageId> {
        let said = self.messages.values().flatten().flat_map(|message| message.telegram.iter().copied());
        said.chain(self.background.iter().map(|(_, message)| message.message)).collect()
    }

    /// The texts as they stand inside JSON, by which copies of them are found; short ones are left out.
    pub(super) fn texts(&self) -> Vec<String> {
        let said = self.messages.values().flatten().map(|message| &message.text);
        let all = said.chain(self.background.iter().map(|(_, message)| &message.text));
        let quoted =
            all.filter(|text| text.len() >= MIN_BYTES).filter_map(|text| serde_json::to_string(text).ok());
        quoted.map(|quoted| quoted.trim_matches('"').to_owned()).collect()
    }

    /// Whether nothing goes.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.background.is_empty() && self.sessions.is_empty()
    }
}
