//! Collects the stored data of a chat or a person for an export.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use figaro_base::ids::{ChatId, SessionId, UserId};
use figaro_domain::business::{BusinessAccount, CustomerChat};
use figaro_domain::catch_up::KEPT_BACKGROUND;
use figaro_domain::chat::ChatConfig;
use figaro_domain::conversation::{ConversationId, Message, MessageRole, Session};
use figaro_domain::document::{Document, Passage};
use figaro_domain::memory::Memory;
use figaro_domain::message::Inbound;
use figaro_domain::note::Note;
use figaro_domain::persona::OwnPersona;
use figaro_domain::pin::Pin;
use figaro_domain::profile::UserProfile;
use figaro_domain::record::Record;
use figaro_domain::summary::Summary;
use figaro_domain::task::Task;
use figaro_store::{Store, StoreError};

/// Maximum size of a file, in bytes; Telegram accepts 50 MB from a bot.
pub(super) const MAX_BYTES: usize = 45 * 1000 * 1000;

/// Number of messages in one read of the store.
const PART: usize = 256;

/// Stored data of a chat or a person, for an export.
#[derive(Debug, Default, Serialize)]
pub(super) struct ExportData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<UserProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) settings: Option<ChatConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) personas: Vec<OwnPersona>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<Note>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) records: Vec<Record>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<Pin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) documents: Vec<KeptDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) memories: Vec<Memory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<Task>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sessions: Vec<KeptSession>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<Inbound>,
    /// Account that the person connected the bot to, and its chats with customers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<BusinessAccount>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) customers: Vec<CustomerChat>,
}

/// Document with its text.
#[derive(Debug, Serialize)]
pub(super) struct KeptDocument {
    pub(super) document: Document,
    pub(super) text: Vec<Passage>,
}

/// Session with its messages and summaries.
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

impl ExportData {
    /// Returns `true` if there is nothing to export.
    pub(super) fn is_nothing(&self) -> bool {
        let has_said =
            self.sessions.iter().any(|kept| !kept.messages.is_empty()) || !self.background.is_empty();
        let has_lists = !(self.notes.is_empty()
            && self.records.is_empty()
            && self.tasks.is_empty()
            && self.personas.is_empty()
            && self.documents.is_empty());
        let has_more = has_lists || !(self.pins.is_empty() && self.memories.is_empty());
        let has_settings = self.settings.is_some() || self.account.is_some();
        !has_said && !has_more && self.profile.is_none() && !has_settings
    }
}

/// Reason why the data could not be collected.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotGathered {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data does not fit a file of [`MAX_BYTES`].
    #[error("it is too long")]
    TooLong,
}

/// Collects the messages and summaries of one session.
pub(super) async fn of_session(store: &Store, id: SessionId) -> Result<ExportData, NotGathered> {
    let mut kept = ExportData::default();
    // What members edited away is nothing for admins.
    kept.sessions.extend(session(store, id, &mut room(), |message| !message.replaced).await?);
    Ok(kept)
}

/// Collects all data of a private chat and its person.
pub(super) async fn of_chat(store: &Store, chat: ChatId, user: &UserId) -> Result<ExportData, NotGathered> {
    let (mut kept, mut room) = (beside_messages(store, chat, user)?, room());
    for end in store.messages().session_ends(chat)? {
        kept.sessions.extend(session(store, end.session, &mut room, |_| true).await?);
    }
    kept.documents = documents(store, chat, &mut room, |_| true).await?;
    kept.account = store.business().of_person(user)?;
    if let Some(account) = &kept.account {
        for customer in store.business().customers(&account.connection)? {
            let bytes: usize = customer.lines.iter().map(|line| line.text.len()).sum();
            room = room.checked_sub(bytes).ok_or(NotGathered::TooLong)?;
            kept.customers.push(customer);
        }
    }
    Ok(kept)
}

/// Collects the data of a chat and a person except messages.
fn beside_messages(store: &Store, chat: ChatId, user: &UserId) -> Result<ExportData, StoreError> {
    let (profile, settings) = (store.profiles().find(user)?, store.settings().chat_config(chat)?);
    Ok(ExportData {
        profile,
        settings: Some(settings).filter(|settings| *settings != ChatConfig::default()),
        personas: store.personas().of_chat(chat)?,
        notes: store.notes().of_chat(chat)?,
        records: store.records().of_chat(chat)?,
        pins: store.pins().of_chat(chat)?,
        memories: memories(store, chat, user)?,
        tasks: store.tasks().of_chat(chat)?,
        ..ExportData::default()
    })
}

/// Collects a person's messages in a group and the other data about them there.
pub(super) async fn of_person(store: &Store, chat: ChatId, user: &UserId) -> Result<ExportData, NotGathered> {
    let (all, mut room) = (beside_messages(store, chat, user)?, room());
    let mut kept = ExportData { settings: None, personas: Vec::new(), ..all };
    kept.notes.retain(|note| note.author.as_ref() == Some(user));
    for record in &mut kept.records {
        record.fields.retain(|_, filled| filled.origin.user == *user);
        record.fields.values_mut().for_each(|filled| filled.earlier.retain(|origin| origin.user == *user));
    }
    kept.records.retain(|record| !record.fields.is_empty());
    kept.pins.retain(|pin| pin.author.as_ref() == Some(user));
    kept.tasks.retain(|task| task.creator.user == *user);
    let mut conversations: Vec<ConversationId> = Vec::new();
    let is_theirs = |message: &Message| {
        message.role == MessageRole::User
            && message.speaker.as_ref().is_some_and(|speaker| speaker.user == *user)
    };
    for end in store.messages().session_ends(chat)? {
        let Some(known) = store.sessions().find(end.session)? else { continue };
        conversations.push(known.conversation);
        let found = session(store, end.session, &mut room, is_theirs).await?;
        kept.sessions.extend(found.map(|found| KeptSession { summaries: Vec::new(), ..found }));
    }
    conversations.push(ConversationId { chat, topic: None });
    conversations.sort_unstable();
    conversations.dedup();
    for conversation in conversations {
        let beside =
            store.conversations().background(conversation, chrono::DateTime::UNIX_EPOCH, KEPT_BACKGROUND)?;
        kept.background.extend(beside.into_iter().filter(|message| message.speaker.user == *user));
    }
    kept.documents = documents(store, chat, &mut room, |document| document.is_of(user)).await?;
    Ok(kept)
}

/// Returns the number of bytes that may still be collected.
const fn room() -> usize {
    MAX_BYTES
}

/// Collects the wanted documents of a chat with their text.
async fn documents(
    store: &Store,
    chat: ChatId,
    room: &mut usize,
    is_wanted: impl Fn(&Document) -> bool,
) -> Result<Vec<KeptDocument>, NotGathered> {
    let mut kept = Vec::new();
    for document in store.documents().of_chat(chat)?.into_iter().filter(|one| is_wanted(one)) {
        let passages = store.documents().passages(&document, 0, usize::MAX)?;
        let text: Vec<Passage> = passages.into_iter().map(|(_, passage)| passage).collect();
        let bytes = text.iter().map(|passage| passage.text.len()).sum();
        // Of one that does not fit, all but the text.
        let rest = room.checked_sub(bytes);
        *room = rest.unwrap_or(*room);
        kept.push(KeptDocument { document, text: rest.map(|_| text).unwrap_or_default() });
        tokio::task::yield_now().await;
    }
    Ok(kept)
}

/// Collects the wanted messages of a session. Reads them in parts, so that only wanted messages stay in memory and
/// other tasks can use the store in between.
async fn session(
    store: &Store,
    id: SessionId,
    room: &mut usize,
    is_wanted: impl Fn(&Message) -> bool,
) -> Result<Option<KeptSession>, NotGathered> {
    let Some(session) = store.sessions().find(id)? else { return Ok(None) };
    let (mut messages, mut from) = (Vec::new(), 0);
    loop {
        let part = store.messages().messages_from(id, from, PART)?;
        let Some(last) = part.last() else { break };
        from = last.index.saturating_add(1);
        for message in part.into_iter().filter(|message| is_wanted(message)) {
            *room = room.checked_sub(message.text.len()).ok_or(NotGathered::TooLong)?;
            messages.push(message);
        }
        tokio::task::yield_now().await;
    }
    let summaries = store.summaries().of_session(id)?;
    Ok((!messages.is_empty()).then_some(KeptSession { session, summaries, messages }))
}

/// Returns the active memories of a person that are used in a chat.
fn memories(store: &Store, chat: ChatId, user: &UserId) -> Result<Vec<Memory>, StoreError> {
    let mut memories = store.facts().of_person(user)?;
    memories.retain(|memory| memory.is_active() && memory.is_used_in(chat));
    Ok(memories)
}
