//! Updates of accounts that people connected the bot to: the connection itself, and messages, edits and deletions in their
//! chats with customers.

use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::{Arrival, Router, UpdateFate};
use crate::api::GetBusinessConnection;
use crate::business::{CustomerKey, DropReason};
use crate::inbound::{self, speaker_of};
use crate::views::{ConnectionView, DeletedView, MessageView, UpdateView};
use figaro_base::ids::{ChatId, ConnectionId, MessageId, UpdateId};
use figaro_domain::business::{BusinessAccount, CustomerChat, CustomerLine};
use figaro_store::StoreError;

/// Message in a chat of a connected account.
struct CustomerMessage {
    update: UpdateId,
    view: MessageView,
    is_edit: bool,
    arrival: Arrival,
}

/// A message to record.
struct NotedLine {
    /// Name of the customer, which is that of the chat.
    name: String,
    /// IETF tag of the language of the customer's client, if the customer wrote the message.
    language: Option<String>,
    line: CustomerLine,
    is_edit: bool,
    /// `true` if a bot sent it in the name of the account.
    by_bot: bool,
}

/// Account of a connection, as far as the bot knows.
enum ConnectionState {
    /// Its person may talk to the bot.
    Connected(BusinessAccount),
    /// The bot does nothing for it.
    Refused,
    /// Telegram has to be asked.
    Unknown,
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
                let view = view.clone();
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
        if self.standing_of(&owner.user)?.is_none() {
            if self.business.desk.store.account(&connection)?.is_some() {
                self.business.disconnect(&connection).await?;
            }
            self.business.refused.add(connection, Some(owner.user));
            return Ok(UpdateFate::Dropped("connection_of_stranger"));
        }
        let account = BusinessAccount {
            connection,
            owner,
            chat: ChatId(view.user_chat_id),
            can_reply: view.rights.can_reply,
            can_read: view.rights.can_read_messages,
            language: view.user.language_code.clone(),
            is_forgotten: false,
        };
        if self.business.desk.store.connect(account.clone(), self.clock.now()).await? {
            self.business.greet(account);
        }
        Ok(UpdateFate::Settled)
    }

    /// Returns what is known of a connection.
    fn connection_state(&self, connection: &ConnectionId) -> Result<ConnectionState, StoreError> {
        if let Some(account) = self.business.desk.store.account(connection)? {
            let may = !account.is_forgotten && self.standing_of(&account.owner.user)?.is_some();
            return Ok(if may { ConnectionState::Connected(account) } else { ConnectionState::Refused });
        }
        Ok(match self.business.refused.find(connection) {
            // Let in since.
            Some(Some(user)) if self.standing_of(&user)?.is_some() => ConnectionState::Unknown,
            Some(_) => ConnectionState::Refused,
            None => ConnectionState::Unknown,
        })
    }

    /// Asks Telegram in the background for a connection that was made before the bot listened, or before its person was let
    /// in; then handles the message. The update stays open until then.
    fn look_up(self: &Arc<Self>, connection: ConnectionId, message: CustomerMessage) {
        let (this, update) = (Arc::clone(self), message.update);
        let handled: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let known = match this.connection_at_telegram(&connection).await {
                Some(view) => this.connection(&view).await.map(drop),
                None => {
                    this.business.refused.add(connection, None);
                    Ok(())
                }
            };
            let fate = match known {
                Ok(()) => this.customer_message(message).await,
                Err(error) => Err(error),
            };
            match fate {
                Ok(UpdateFate::Pending) => {}
                Ok(_) => this.settle(&[update]).await,
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "a connection could not be stored; the next start tries again");
                }
            }
        });
        self.background.spawn("connection", handled);
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

    async fn customer_message(self: &Arc<Self>, message: CustomerMessage) -> Result<UpdateFate, StoreError> {
        let connection = ConnectionId(message.view.part("business_connection_id"));
        let account = match self.connection_state(&connection)? {
            ConnectionState::Connected(account) => account,
            ConnectionState::Refused => return Ok(UpdateFate::Dropped("unknown_connection")),
            ConnectionState::Unknown => {
                self.look_up(connection, message);
                return Ok(UpdateFate::Pending);
            }
        };
        let CustomerMessage { update, view, is_edit, arrival } = message;
        let Some(from) = view.from.as_ref() else { return Ok(UpdateFate::Dropped("no_person")) };
        let by_bot = view.content.contains_key("sender_business_bot");
        let is_own = by_bot || speaker_of(from).user == account.owner.user;
        // Two bots that answer each other would never end.
        if from.is_bot && !is_own {
            return Ok(UpdateFate::Dropped("another_bot"));
        }
        // Telegram's greetings and away messages are no answer of the person.
        if is_own && view.part("is_from_offline") {
            return Ok(UpdateFate::Dropped("automatic"));
        }
        let read = inbound::read(update, &view, &self.me).filter(|part| !part.is_event());
        let Some(part) = read else { return Ok(UpdateFate::Dropped("no_content")) };
        let id = MessageId(view.message_id);
        let line = CustomerLine { message: id, is_own, text: part.text, attachments: part.attachments };
        let name = view.chat.first_name.iter().chain(&view.chat.last_name).map(String::as_str);
        let name = name.collect::<Vec<_>>().join(" ");
        let name = if name.trim().is_empty() { view.chat.id.to_string() } else { name };
        let language = if is_own { None } else { from.language_code.clone() };
        let noted = NotedLine { name, language, line, is_edit, by_bot };
        let key = CustomerKey { connection, chat: ChatId(view.chat.id) };
        let Some(chat) = self.note_line(&key, noted).await? else {
            return Ok(UpdateFate::Dropped("not_kept"));
        };
        if is_own {
            if !by_bot && !is_edit {
                self.business.drop_draft(&account, &key, DropReason::Answered).await?;
            }
            return Ok(UpdateFate::Settled);
        }
        if chat.needs_draft(id) {
            self.business.draft(key, Some(update));
            return Ok(UpdateFate::Pending);
        }
        if arrival == Arrival::Accepted && chat.is_for(id) {
            self.business.take_up(account, chat, update);
            return Ok(UpdateFate::Pending);
        }
        Ok(UpdateFate::Settled)
    }

    /// Records a message. Returns its chat; `None` for the edit of a message that is not kept, or an account that is gone.
    async fn note_line(
        &self,
        key: &CustomerKey,
        NotedLine { name, language, line, is_edit, by_bot }: NotedLine,
    ) -> Result<Option<CustomerChat>, StoreError> {
        let now = self.clock.now();
        let new = Some(CustomerChat::new(key.chat, name.clone(), now)).filter(|_| !is_edit);
        let noted = self.business.desk.store.change(&key.connection, key.chat, new, |chat| {
            if is_edit && chat.lines.iter().all(|known| known.message != line.message) {
                return None;
            }
            chat.name = name;
            if language.is_some() {
                chat.language = language;
            }
            match by_bot {
                true => chat.note_reply(line, now),
                false => drop(chat.note(line, now)),
            }
            Some(chat.clone())
        });
        noted.await.map(Option::flatten)
    }

    /// Removes deleted messages. A draft that answers one of them is dropped, or written again if others wait.
    async fn customer_deleted(
        self: &Arc<Self>,
        update: UpdateId,
        deleted: &DeletedView,
    ) -> Result<UpdateFate, StoreError> {
        let connection = ConnectionId(deleted.business_connection_id.clone());
        let ConnectionState::Connected(account) = self.connection_state(&connection)? else {
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
                self.business.draft(key, Some(update));
                Ok(UpdateFate::Pending)
            }
            Some((false, _)) | None => Ok(UpdateFate::Settled),
        }
    }
}
