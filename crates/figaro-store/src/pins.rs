//! Pins of chats.

use std::cmp::Reverse;

use super::fault::StoreFault;
use super::key;
use super::records::pins::PinAdded;
use super::records::{pins, session_list};
use super::tables::Tables;
use crate::{PinStore, Result};
use figaro_base::ids::{ChatId, MessageId, PinId, SessionId};
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::pin::Pin;

/// Maximum messages of a conversation searched for the one that a Telegram message carries.
const LOOKED_THROUGH: usize = 3_000;

impl PinStore {
    /// Returns all pins of a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Pin>> {
        self.0.read("read the pins", move |tables| {
            let mut pins = tables.pins.list(&key::chat(chat))?;
            pins.sort_by_key(|pin| (pin.created_at, pin.id));
            Ok(pins)
        })
    }

    /// Adds a pin to its chat, durably.
    pub async fn add(&self, pin: &Pin) -> Result<PinAdded> {
        let pin = pin.clone();
        self.0.change_durably("store a pin", move |tables, changes| pins::add(tables, changes, &pin)).await
    }

    /// Removes a pin, durably, and returns it; `None` if the chat has none with this id, or Figaro itself keeps it.
    pub async fn remove(&self, chat: ChatId, pin: PinId) -> Result<Option<Pin>> {
        self.0
            .change_durably("remove a pin", move |tables, changes| {
                let pin = pins::of_people(tables, chat, pin)?;
                pin.iter().for_each(|pin| changes.remove(&tables.pins, key::pin(chat, pin.id)));
                Ok(pin)
            })
            .await
    }

    /// Restores a removed pin, durably, whatever has been added since.
    pub async fn restore(&self, pin: &Pin) -> Result<()> {
        let pin = pin.clone();
        self.0.change_durably("put a pin back", move |tables, changes| pins::put(tables, changes, &pin)).await
    }

    /// Sets the importance of a pin, from 0 to 10, durably, and returns it; `None` as for [`Self::remove`].
    pub async fn weigh(&self, chat: ChatId, pin: PinId, importance: f32) -> Result<Option<Pin>> {
        self.0
            .change_durably("change a pin", move |tables, changes| {
                let Some(pin) = pins::of_people(tables, chat, pin)? else { return Ok(None) };
                let pin = Pin { importance: importance.clamp(0.0, 10.0), ..pin };
                pins::put(tables, changes, &pin)?;
                Ok(Some(pin))
            })
            .await
    }

    /// Updates the pins of an edited message, durably; removes those pinned for words that are gone.
    pub async fn follow_edit(&self, chat: ChatId, message: MessageId, words: &str) -> Result<()> {
        let is_pinned = self.0.read("read the pins", move |tables| {
            let pins = tables.pins.list(&key::chat(chat))?;
            Ok(pins.iter().any(|pin| pin.telegram == Some(message)))
        });
        // Most edited messages are not pinned.
        if !is_pinned? {
            return Ok(());
        }
        let words = words.to_owned();
        self.0
            .change_durably("change the pins of a message", move |tables, changes| {
                let rules = self.0.shared.pack_rules.in_chat(tables, chat)?;
                pins::follow(tables, changes, chat, pins::Edit { message, words: &words, rules: &rules })
            })
            .await
    }

    /// Stores a pin of Figaro's own, durably, replacing its predecessor.
    pub async fn keep(&self, pin: &Pin) -> Result<()> {
        let pin = pin.clone();
        self.0.change_durably("store a pin", move |tables, changes| pins::keep(tables, changes, pin)).await
    }

    /// Returns the newest stored message that a Telegram message of a conversation carries in whole or in part, searching
    /// the last few thousand of its sessions. `None` if there is none or a later try replaced it.
    pub fn carried_by(&self, conversation: ConversationId, message: MessageId) -> Result<Option<Message>> {
        self.0.read("find a message", move |tables| carried_by(tables, conversation, message))
    }

    /// Returns what a Telegram message of a chat carries, as [`Self::carried_by`], with its conversation: for updates that do
    /// not name the topic.
    pub fn carried_in(&self, chat: ChatId, message: MessageId) -> Result<Option<(ConversationId, Message)>> {
        self.0.read("find a message of a chat", move |tables| {
            let mut sessions = session_list::of_chat(tables, chat)?;
            sessions.sort_by_key(|session| Reverse((session.updated_at, session.id)));
            let found = among(tables, sessions.iter().map(|session| session.id), message)?;
            Ok(found.and_then(|found| {
                let session = sessions.into_iter().find(|session| session.id == found.session)?;
                Some((session.conversation, found))
            }))
        })
    }
}

/// Returns the newest stored message that a Telegram message of a conversation carries: first of the current session,
/// then of the others, newest first.
fn carried_by(
    tables: &Tables<'_>,
    conversation: ConversationId,
    message: MessageId,
) -> Result<Option<Message>, StoreFault> {
    let current = tables.current.find(&key::conversation(conversation))?;
    let mut sessions: Vec<SessionId> =
        session_list::all(tables, conversation)?.into_iter().map(|session| session.id).collect();
    sessions.sort_by_key(|session| Some(*session) != current);
    among(tables, sessions, message)
}

/// Returns the newest message of these sessions that a Telegram message carries, the first sessions first.
fn among(
    tables: &Tables<'_>,
    sessions: impl IntoIterator<Item = SessionId>,
    message: MessageId,
) -> Result<Option<Message>, StoreFault> {
    let mut left = LOOKED_THROUGH;
    for session in sessions {
        for item in tables.messages.scan(&key::id(session))?.rev().take(left) {
            let (_, found) = item?;
            left -= 1;
            if !found.replaced && found.telegram.contains(&message) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}
