//! [`SessionStore`]: sessions of conversations as people list, name and delete them.

use super::key;
use super::records::session_list::{ListedSession, Outline, SessionStats};
use super::records::{pins, session_list};
use crate::{Result, SessionStore};
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::{ConversationId, Message, Session};
use figaro_domain::session::SessionChange;

impl SessionStore {
    /// Returns the sessions of a conversation, the one with the newest message first. A session without messages or
    /// settings is left out, unless it is the current one.
    pub fn of_conversation(&self, conversation: ConversationId) -> Result<Vec<Session>> {
        self.0.read("read the sessions", move |tables| session_list::all(tables, conversation))
    }

    /// Returns the sessions with messages of all chats, or of one chat, the one with the newest message first: at most `limit`
    /// after the first `skipped`.
    pub fn newest(&self, of: Option<ChatId>, skipped: usize, limit: usize) -> Result<Vec<ListedSession>> {
        self.0.read("read the sessions", move |tables| session_list::newest(tables, of, skipped, limit))
    }

    /// Returns the chats that have sessions, the one with the newest message first.
    pub fn newest_chats(&self) -> Result<Vec<ChatId>> {
        self.0.read("read the sessions", session_list::newest_chats)
    }

    /// Returns the session that the next question of a conversation belongs to; `None` if the question begins one.
    pub fn current(&self, conversation: ConversationId) -> Result<Option<SessionId>> {
        self.0.read("read the session", move |tables| tables.current.find(&key::conversation(conversation)))
    }

    /// Returns a session by its id; `None` if there is none.
    pub fn find(&self, session: SessionId) -> Result<Option<Session>> {
        self.0.read("read a session", move |tables| tables.sessions.get(&key::id(session)))
    }

    /// Returns the index of the next message of a session; 0 if there is none.
    pub fn next_index(&self, session: SessionId) -> Result<u32> {
        self.0.read("read a session", move |tables| tables.messages.next_index(&key::id(session)))
    }

    /// Returns the outline of a session's messages; empty if there is none.
    pub fn outline(&self, session: SessionId) -> Result<Outline> {
        self.0.read("read a session", move |tables| session_list::outline(tables, session))
    }

    /// Returns the stored amounts of a session of this chat.
    pub fn stats(&self, chat: ChatId, session: SessionId) -> Result<SessionStats> {
        self.0.read("read a session", move |tables| session_list::stats(tables, chat, session))
    }

    /// Makes a session the current one of its conversation, durably, and gives up the turns that wait for a person there;
    /// `false` if it belongs to another conversation.
    pub async fn switch(&self, conversation: ConversationId, session: SessionId) -> Result<bool> {
        self.0
            .change_durably("switch to a session", move |tables, changes| {
                session_list::switch(tables, changes, conversation, session)
            })
            .await
    }

    /// Changes a session, durably, and returns it; `None` if there is none. A name given by a person is kept when the
    /// model names the session.
    pub async fn change(&self, session: SessionId, mut change: SessionChange) -> Result<Option<Session>> {
        self.0
            .change_durably("change a session", move |tables, changes| {
                let mut is_whole = true;
                for index in change.name.iter().flat_map(|name| &name.made_of) {
                    is_whole &= tables.messages.contains(&key::message(session, *index))?;
                }
                change.name.take_if(|_| !is_whole);
                let Some(mut session) = tables.sessions.get(&key::id(session))? else { return Ok(None) };
                let name = session.name.clone();
                if session.change(change) {
                    changes.put(&tables.sessions, key::id(session.id), &session)?;
                    let current = tables.current.find(&key::conversation(session.conversation))?;
                    if session.name != name && current == Some(session.id) {
                        pins::session_began(tables, changes, &session)?;
                    }
                }
                Ok(Some(session))
            })
            .await
    }

    /// Counts an attempt to name a session, and returns its first `limit` messages of people and of the model. `None` if
    /// it has a name, was tried `tries` times, or is gone. Durable a moment later.
    pub fn begin_naming(&self, session: SessionId, tries: u8, limit: usize) -> Result<Option<Vec<Message>>> {
        self.0.change("count a try to name a session", move |tables, changes| {
            let Some(mut session) = tables.sessions.get(&key::id(session))? else { return Ok(None) };
            if session.name.is_some() || session.naming_tries >= tries {
                return Ok(None);
            }
            session.naming_tries += 1;
            changes.put(&tables.sessions, key::id(session.id), &session)?;
            session_list::first_said(tables, session.id, limit).map(Some)
        })
    }

    /// Records that a topic has its automatic title from Telegram, unless somebody is known to have chosen another since.
    /// Durable a moment later.
    pub fn learn_untitled(&self, topic: ConversationId) -> Result<()> {
        let key = key::conversation(topic);
        if self.0.read("look up a topic", |tables| tables.untitled.contains(&key))? {
            return Ok(());
        }
        self.0.change("note a topic", move |tables, changes| changes.put(&tables.untitled, key, &true))
    }

    /// Records that a person or the bot has set the title of a topic. Durable a moment later.
    pub fn title_topic(&self, topic: ConversationId) -> Result<()> {
        let key = key::conversation(topic);
        self.0.change("note the title of a topic", move |tables, changes| {
            changes.put(&tables.untitled, key, &false)
        })
    }

    /// Returns `true` if a topic is known to have its automatic title from Telegram.
    pub fn is_untitled(&self, topic: ConversationId) -> Result<bool> {
        let key = key::conversation(topic);
        let found = self.0.read("look up a topic", move |tables| tables.untitled.find(&key))?;
        Ok(found == Some(true))
    }
}
