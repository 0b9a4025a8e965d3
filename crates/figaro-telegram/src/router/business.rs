//! Updates of accounts that people connected the bot to: the connection itself, and messages, edits and deletions in their
//! chats with customers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::{Arrival, Router, UpdateFate};
use crate::api::GetBusinessConnection;
use crate::business::{CustomerKey, DropReason, PAUSE};
use crate::inbound::{self, speaker_of};
use crate::views::{ConnectionView, DeletedView, MessageView, UpdateView, UserView};
use figaro_base::ids::{ChatId, ConnectionId, MessageId, UpdateId};
use figaro_domain::business::{BusinessAccount, CustomerChat, CustomerLine};
use figaro_store::StoreError;

/// Message in a chat of a connected account.
struct CustomerMessage<'a> {
    update: UpdateId,
    view: &'a MessageView,
    is_edit: bool,
    arrival: Arrival,
}

impl Router {
    /// Handles an update of a connected account; `None` for any other.
    pub(super) async fn business_update(
        self: &Arc<Self>,
        update: UpdateId,
        view: &UpdateView,
        arrival: Arrival,
    ) -> Result<Option<UpdateFate>, StoreError> {
        let message = view.business_message.as_deref().map(|view| (view, false));
        let message = message.or_else(|| view.edited_business_message.as_deref().map(|view| (view, true)));
        Ok(Some(match (message, &view.business_connection, &view.deleted_business_messages) {
            (Some((view, is_edit)), _, _) => {
                self.customer_message(CustomerMessage { update, view, is_edit, arrival }).await?
            }
            (None, Some(connection), _) => self.connection(connection).await?,
            (None, None, Some(deleted)) => self.customer_deleted(update, deleted).await?,
            (None, None, None) => return Ok(None),
        }))
    }

    /// Records a connection or its new rights; erases everything of one that has ended. One of a stranger does not count.
    async fn connection(self: &Arc<Self>, view: &ConnectionView) -> Result<UpdateFate, StoreError> {
        let (connection, owner) = (ConnectionId(view.id.clone()), speaker_of(&view.user));
        if !view.is_enabled {
            self.business.disconnect(&connection).await?;
            return Ok(UpdateFate::Settled);
        }
        if self.standing_of(&owner.user).await?.is_none() {
            self.business.disconnect(&connection).await?;
            return Ok(UpdateFate::Dropped("connection_of_stranger"));
        }
        let account = BusinessAccount {
            connection,
            owner,
            chat: ChatId(view.user_chat_id),
            can_reply: view.rights.can_reply,
            can_read: view.rights.can_read_messages,
            language: view.user.language_code.clone(),
        };
        if self.business.desk.store.connect(account.clone(), self.clock.now()).await? {
            self.business.greet(account);
        }
        Ok(UpdateFate::Settled)
    }

    /// Returns the account of a connection, if its person may still talk to the bot. Asks Telegram for one that was made
    /// before the bot listened, or before its person was let in.
    async fn account(
        self: &Arc<Self>,
        connection: &ConnectionId,
    ) -> Result<Option<BusinessAccount>, StoreError> {
        let store = &self.business.desk.store;
        if store.account(connection).await?.is_none()
            && let Some(view) = self.connection_at_telegram(connection).await
        {
            self.connection(&view).await?;
        }
        let Some(account) = store.account(connection).await? else { return Ok(None) };
        Ok(self.standing_of(&account.owner.user).await?.map(|_| account))
    }

    async fn connection_at_telegram(&self, connection: &ConnectionId) -> Option<ConnectionView> {
        let call = GetBusinessConnection(json!({"business_connection_id": connection}));
        match self.business.desk.sender.api.call(call).await.map(ConnectionView::deserialize) {
            Ok(Ok(view)) => Some(view),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the connection of an account is not readable");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "the connection of an account is unknown");
                None
            }
        }
    }

    async fn customer_message(
        self: &Arc<Self>,
        message: CustomerMessage<'_>,
    ) -> Result<UpdateFate, StoreError> {
        let CustomerMessage { update, view, is_edit, arrival } = message;
        let connection = ConnectionId(view.part("business_connection_id"));
        let Some(account) = self.account(&connection).await? else {
            return Ok(UpdateFate::Dropped("unknown_connection"));
        };
        let bot: Option<UserView> = view.part("sender_business_bot");
        let Some(from) = view.from.as_ref() else { return Ok(UpdateFate::Dropped("no_person")) };
        let is_own = bot.is_some() || speaker_of(from).user == account.owner.user;
        // Two bots that answer each other would never end.
        if from.is_bot && !is_own {
            return Ok(UpdateFate::Dropped("another_bot"));
        }
        let key = CustomerKey { connection, chat: ChatId(view.chat.id) };
        let id = MessageId(view.message_id);
        let read = inbound::read(update, view, &self.me).map(|part| (part.text, part.attachments));
        let (text, attachments) = read.unwrap_or_default();
        let line = CustomerLine { message: id, is_own, text, attachments };
        let name = if is_own { None } else { Some(speaker_of(from).name) };
        let Some(chat) = self.note_line(&key, name, line, is_edit).await? else {
            return Ok(UpdateFate::Dropped("not_kept"));
        };
        if is_own {
            if bot.is_none() && !is_edit {
                self.business.drop_draft(&account, &key, DropReason::Answered).await?;
            }
            return Ok(UpdateFate::Settled);
        }
        if chat.needs_draft(id) {
            self.business.draft(key, Some(update), PAUSE);
            return Ok(UpdateFate::Pending);
        }
        // Sent by the standing rule just before a restart: the outcome is unknown, and is told.
        if let Some(draft) = chat.draft.filter(|draft| draft.is_sending && arrival == Arrival::Accepted) {
            self.business.desk.send(&account, key.chat, draft.number, None).await?;
        }
        Ok(UpdateFate::Settled)
    }

    /// Records a message. Returns its chat; `None` for the edit of a message that is not kept, or an account that is gone.
    async fn note_line(
        &self,
        key: &CustomerKey,
        name: Option<String>,
        line: CustomerLine,
        is_edit: bool,
    ) -> Result<Option<CustomerChat>, StoreError> {
        let now = self.clock.now();
        let new = CustomerChat::new(key.chat, name.clone().unwrap_or_default(), now);
        let noted = self.business.desk.store.change(
            &key.connection,
            key.chat,
            Some(new).filter(|_| !is_edit),
            |chat| {
                if is_edit && chat.lines.iter().all(|known| known.message != line.message) {
                    return None;
                }
                if let Some(name) = name {
                    chat.name = name;
                }
                chat.note(line, now);
                Some(chat.clone())
            },
        );
        noted.await.map(Option::flatten)
    }

    /// Removes deleted messages. A draft that answers one of them is dropped, or written again if others wait.
    async fn customer_deleted(
        self: &Arc<Self>,
        update: UpdateId,
        deleted: &DeletedView,
    ) -> Result<UpdateFate, StoreError> {
        let connection = ConnectionId(deleted.business_connection_id.clone());
        let Some(account) = self.account(&connection).await? else {
            return Ok(UpdateFate::Dropped("unknown_connection"));
        };
        let key = CustomerKey { connection, chat: ChatId(deleted.chat.id) };
        let messages: Vec<MessageId> = deleted.message_ids.iter().copied().map(MessageId).collect();
        let changed = self.business.desk.store.change(&key.connection, key.chat, None, |chat| {
            (chat.delete(&messages), chat.unanswered().is_empty())
        });
        match changed.await? {
            Some((true, true)) => {
                self.business.drop_draft(&account, &key, DropReason::Deleted).await?;
                Ok(UpdateFate::Settled)
            }
            Some((true, false)) => {
                self.business.draft(key, Some(update), PAUSE);
                Ok(UpdateFate::Pending)
            }
            Some((false, _)) | None => Ok(UpdateFate::Settled),
        }
    }
}
