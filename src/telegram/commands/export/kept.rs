//! What is kept of a chat or a person, gathered to be exported.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::domain::chat::ChatConfig;
use crate::domain::conversation::{Conversation, KEPT_BACKGROUND, Message, Role, Session};
use crate::domain::memory::Memory;
use crate::domain::message::Inbound;
use crate::domain::note::Note;
use crate::domain::persona::OwnPersona;
use crate::domain::pin::Pin;
use crate::domain::profile::UserProfile;
use crate::domain::summary::Summary;
use crate::domain::task::Task;
use crate::ids::{ChatId, SessionId, UserId};
use crate::store::{Store, StoreError};

/// All that is kept and asked for.
#[derive(Debug, Default, Serialize)]
pub(super) struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<UserProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) settings: Option<ChatConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) personas: Vec<OwnPersona>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<Note>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<Pin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) memories: Vec<Memory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<Task>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sessions: Vec<KeptSession>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<Inbound>,
}

/// A session with what was said in it.
#[derive(Debug)]
pub(super) struct KeptSession {
    pub(super) session: Session,
    pub(super) summaries: Vec<Summary>,
    pub(super) messages: Vec<Arc<Message>>,
}

impl Serialize for KeptSession {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("KeptSession", 3)?;
        object.serialize_field("session", &self.session)?;
        object.serialize_field("summaries", &self.summaries)?;
        let messages: Vec<&Message> = self.messages.iter().map(AsRef::as_ref).collect();
        object.serialize_field("messages", &messages)?;
        object.end()
    }
}

impl Kept {
    /// Whether nothing is.
    pub(super) fn is_nothing(&self) -> bool {
        let has_said =
            self.sessions.iter().any(|kept| !kept.messages.is_empty()) || !self.background.is_empty();
        let has_lists = !(self.notes.is_empty() && self.tasks.is_empty() && self.personas.is_empty());
        let has_more = has_lists || !(self.pins.is_empty() && self.memories.is_empty());
        !has_said && !has_more && self.profile.is_none() && self.settings.is_none()
    }
}

/// One session.
pub(super) async fn of_session(store: &dyn Store, id: SessionId) -> Result<Kept, StoreError> {
    let sessions = session(store, id).await?.into_iter().collect();
    Ok(Kept { sessions, ..Kept::default() })
}

/// All of a private chat and the person it is with.
pub(super) async fn of_chat(store: &dyn Store, chat: ChatId, user: &UserId) -> Result<Kept, StoreError> {
    let (profile, settings) = (store.profile(user).await?, store.chat_config(chat).await?);
    let mut kept = Kept {
        profile,
        settings: Some(settings).filter(|settings| *settings != ChatConfig::default()),
        personas: store.personas(chat).await?,
        notes: store.notes(chat).await?,
        pins: store.pins(chat).await?,
        memories: memories(store, chat, user).await?,
        tasks: store.tasks(chat).await?,
        ..Kept::default()
    };
    for end in store.session_ends(chat).await? {
        kept.sessions.extend(session(store, end.session).await?);
    }
    Ok(kept)
}

/// What one person said in a group, and what is kept of them there.
pub(super) async fn of_person(store: &dyn Store, chat: ChatId, user: &UserId) -> Result<Kept, StoreError> {
    let all = of_chat(store, chat, user).await?;
    let mut kept = Kept { settings: None, personas: Vec::new(), ..all };
    kept.notes.retain(|note| note.author.as_ref() == Some(user));
    kept.pins.retain(|pin| pin.author.as_ref() == Some(user));
    kept.tasks.retain(|task| task.creator.user == *user);
    let mut conversations: Vec<Conversation> = Vec::new();
    for one in &mut kept.sessions {
        conversations.push(one.session.conversation);
        let is_theirs = |message: &Arc<Message>| {
            message.role == Role::User
                && message.speaker.as_ref().is_some_and(|speaker| speaker.user == *user)
        };
        one.messages.retain(is_theirs);
        one.summaries.clear();
    }
    kept.sessions.retain(|one| !one.messages.is_empty());
    conversations.push(Conversation { chat, topic: None });
    conversations.sort_unstable();
    conversations.dedup();
    for conversation in conversations {
        let beside = store.background(conversation, chrono::DateTime::UNIX_EPOCH, KEPT_BACKGROUND).await?;
        kept.background.extend(beside.into_iter().filter(|message| message.speaker.user == *user));
    }
    Ok(kept)
}

async fn session(store: &dyn Store, id: SessionId) -> Result<Option<KeptSession>, StoreError> {
    let Some(session) = store.session_by_id(id).await? else { return Ok(None) };
    let messages = store.recent(id, usize::MAX).await?;
    let summaries = store.summaries(id).await?;
    Ok((!messages.is_empty()).then_some(KeptSession { session, summaries, messages }))
}

/// The memories of a person that are used in a chat.
async fn memories(store: &dyn Store, chat: ChatId, user: &UserId) -> Result<Vec<Memory>, StoreError> {
    let mut memories = store.memories(user).await?;
    memories.retain(|memory| memory.is_active() && memory.is_used_in(chat));
    Ok(memories)
}
