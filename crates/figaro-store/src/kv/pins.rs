//! [`PinStore`].

use async_trait::async_trait;

use super::fault::Fault;
use super::records::{pins, session_list};
use super::tables::Tables;
use super::{KvStore, key};
use crate::{PinAdded, PinStore, Result};
use figaro_base::ids::{ChatId, MessageId, PinId, SessionId};
use figaro_domain::conversation::{Conversation, Message};
use figaro_domain::pin::Pin;

/// So many messages of a conversation are looked through for the one that a Telegram message carries.
const LOOKED_THROUGH: usize = 3_000;

#[async_trait]
impl PinStore for KvStore {
    async fn pins(&self, chat: ChatId) -> Result<Vec<Pin>> {
        self.read("read the pins", move |tables| {
            let mut pins = tables.pins.list(&key::chat(chat))?;
            pins.sort_by_key(|pin| (pin.created_at, pin.id));
            Ok(pins)
        })
        .await
    }

    async fn add_pin(&self, pin: &Pin) -> Result<PinAdded> {
        let pin = pin.clone();
        self.change_durably("store a pin", move |tables, changes| pins::add(tables, changes, &pin)).await
    }

    async fn remove_pin(&self, chat: ChatId, pin: PinId) -> Result<Option<Pin>> {
        self.change_durably("remove a pin", move |tables, changes| {
            let pin = pins::of_people(tables, chat, pin)?;
            pin.iter().for_each(|pin| changes.remove(&tables.pins, key::pin(chat, pin.id)));
            Ok(pin)
        })
        .await
    }

    async fn restore_pin(&self, pin: &Pin) -> Result<()> {
        let pin = pin.clone();
        self.change_durably("put a pin back", move |tables, changes| pins::put(tables, changes, &pin)).await
    }

    async fn weigh_pin(&self, chat: ChatId, pin: PinId, importance: f32) -> Result<Option<Pin>> {
        self.change_durably("change a pin", move |tables, changes| {
            let Some(pin) = pins::of_people(tables, chat, pin)? else { return Ok(None) };
            let pin = Pin { importance: importance.clamp(0.0, 10.0), ..pin };
            pins::put(tables, changes, &pin)?;
            Ok(Some(pin))
        })
        .await
    }

    async fn follow_edit(&self, chat: ChatId, message: MessageId, words: &str) -> Result<()> {
        let is_pinned = self.read("read the pins", move |tables| {
            let pins = tables.pins.list(&key::chat(chat))?;
            Ok(pins.iter().any(|pin| pin.telegram == Some(message)))
        });
        // Most edits are of messages that nobody has pinned.
        if !is_pinned.await? {
            return Ok(());
        }
        let words = words.to_owned();
        self.change_durably("change the pins of a message", move |tables, changes| {
            let rules = self.0.pack_rules.in_chat(tables, chat)?;
            pins::follow(tables, changes, chat, pins::Edit { message, words: &words, rules: &rules })
        })
        .await
    }

    async fn keep_pin(&self, pin: &Pin) -> Result<()> {
        let pin = pin.clone();
        self.change_durably("store a pin", move |tables, changes| pins::keep(tables, changes, pin)).await
    }

    async fn carried_by(&self, conversation: Conversation, message: MessageId) -> Result<Option<Message>> {
        self.read("find a message", move |tables| carried_by(tables, conversation, message)).await
    }
}

/// The newest stored message that a Telegram message of a conversation carries: first of the current session, then of the others,
/// the newest first.
fn carried_by(
    tables: &Tables<'_>,
    conversation: Conversation,
    message: MessageId,
) -> Result<Option<Message>, Fault> {
    let current = tables.current.find(&key::conversation(conversation))?;
    let mut sessions: Vec<SessionId> =
        session_list::all(tables, conversation)?.into_iter().map(|session| session.id).collect();
    sessions.sort_by_key(|session| Some(*session) != current);
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
