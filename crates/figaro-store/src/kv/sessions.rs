//! [`SessionStore`]: the sessions of conversations as people list, name and delete them.

use async_trait::async_trait;

use super::records::{pins, session_list};
use super::{KvStore, key};
use crate::{Outline, Result, SessionStats, SessionStore};
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::{Conversation, Message, Session};
use figaro_domain::session::SessionChange;

#[async_trait]
impl SessionStore for KvStore {
    async fn sessions(&self, conversation: Conversation) -> Result<Vec<Session>> {
        self.read("read the sessions", move |tables| session_list::all(tables, conversation)).await
    }

    async fn current_session(&self, conversation: Conversation) -> Result<Option<SessionId>> {
        self.read("read the session", move |tables| tables.current.find(&key::conversation(conversation)))
            .await
    }

    async fn session_by_id(&self, session: SessionId) -> Result<Option<Session>> {
        self.read("read a session", move |tables| tables.sessions.get(&key::id(session))).await
    }

    async fn outline(&self, session: SessionId) -> Result<Outline> {
        self.read("read a session", move |tables| session_list::outline(tables, session)).await
    }

    async fn session_stats(&self, chat: ChatId, session: SessionId) -> Result<SessionStats> {
        self.read("read a session", move |tables| session_list::stats(tables, chat, session)).await
    }

    async fn switch_session(&self, conversation: Conversation, session: SessionId) -> Result<bool> {
        self.change_durably("switch to a session", move |tables, changes| {
            session_list::switch(tables, changes, conversation, session)
        })
        .await
    }

    async fn change_session(&self, session: SessionId, mut change: SessionChange) -> Result<Option<Session>> {
        self.change_durably("change a session", move |tables, changes| {
            for index in &change.made_of {
                if !tables.messages.contains(&key::message(session, *index))? {
                    change.name = None;
                }
            }
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

    async fn begin_naming(
        &self,
        session: SessionId,
        tries: u8,
        limit: usize,
    ) -> Result<Option<Vec<Message>>> {
        self.change("count a try to name a session", move |tables, changes| {
            let Some(mut session) = tables.sessions.get(&key::id(session))? else { return Ok(None) };
            if session.name.is_some() || session.naming_tries >= tries {
                return Ok(None);
            }
            session.naming_tries += 1;
            changes.put(&tables.sessions, key::id(session.id), &session)?;
            session_list::first_said(tables, session.id, limit).map(Some)
        })
        .await
    }

    async fn learn_untitled(&self, topic: Conversation) -> Result<()> {
        let key = key::conversation(topic);
        if self.read("look up a topic", |tables| tables.untitled.contains(&key)).await? {
            return Ok(());
        }
        self.change("note a topic", move |tables, changes| changes.put(&tables.untitled, key, &true)).await
    }

    async fn title_topic(&self, topic: Conversation) -> Result<()> {
        let key = key::conversation(topic);
        self.change("note the title of a topic", move |tables, changes| {
            changes.put(&tables.untitled, key, &false)
        })
        .await
    }

    async fn is_untitled(&self, topic: Conversation) -> Result<bool> {
        let key = key::conversation(topic);
        let found = self.read("look up a topic", move |tables| tables.untitled.find(&key)).await?;
        Ok(found == Some(true))
    }
}
