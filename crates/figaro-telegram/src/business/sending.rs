//! Sends a draft in the name of the person, once: the attempt is stored before the call, and one of unknown outcome is told
//! and not repeated.

use serde_json::json;

use super::CustomerKey;
use super::Desk;
use super::content::{sent_card, signed};
use crate::api::{ReadBusinessMessage, SendMessage};
use crate::error::ApiError;
use crate::outgoing::{PREVIEW, no_preview, sent_id};
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::business::{BusinessAccount, CustomerChat, CustomerLine, ReplyDraft, SendingStart};
use figaro_store::StoreError;

/// Outcome of sending a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SendEnd {
    Sent,
    /// Another press is sending it.
    Busy,
    /// There is no such draft.
    Gone,
    /// The connection does not give the right to reply.
    NoRight,
    /// It is unknown whether it was sent.
    Unclear,
    /// It was not sent, for this reason. The draft stays.
    Refused(String),
}

impl Desk {
    /// Sends the draft with this number, which `card` shows.
    ///
    /// # Errors
    /// If the store fails. A draft whose call may have begun is then not sent again.
    pub(crate) async fn send(
        &self,
        account: &BusinessAccount,
        to: ChatId,
        number: u32,
        card: Option<MessageId>,
    ) -> Result<SendEnd, StoreError> {
        if !account.can_reply {
            return Ok(SendEnd::NoRight);
        }
        let Some(_sending) = self.drafts.sending(&CustomerKey::of(account, to)) else {
            return Ok(SendEnd::Busy);
        };
        let begun = self.store.change(&account.connection, to, None, |chat| {
            // A press may be faster than the record of the card.
            if let Some(draft) = chat.draft_mut(number) {
                draft.card = draft.card.or(card);
            }
            (chat.begin_sending(number), chat.clone())
        });
        match begun.await? {
            None | Some((SendingStart::Gone, _)) => Ok(SendEnd::Gone),
            Some((SendingStart::Unclear(draft), chat)) => {
                self.show_unclear(account, &chat, &draft).await;
                Ok(SendEnd::Unclear)
            }
            Some((SendingStart::Begun(draft), chat)) => self.send_begun(account, &chat, &draft).await,
        }
    }

    async fn send_begun(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
    ) -> Result<SendEnd, StoreError> {
        let texts = self.texts(account).await;
        let text = signed(texts, &self.name, &draft.markdown);
        let mut body = json!({"business_connection_id": account.connection, "chat_id": chat.chat});
        body["text"] = json!(text.text);
        body["entities"] = json!(text.entities);
        body[PREVIEW] = no_preview();
        let sent = self.sender.call_once(chat.chat, SendMessage(body), Urgency::Answer).await;
        let change = |work: fn(&mut CustomerChat, u32)| {
            let work = move |chat: &mut CustomerChat| work(chat, draft.number);
            self.store.change(&account.connection, chat.chat, None, work)
        };
        match sent {
            Ok(sent) => {
                let line = CustomerLine {
                    message: sent_id(&sent),
                    is_own: true,
                    text: text.text,
                    attachments: Vec::new(),
                };
                let (number, now) = (draft.number, self.sender.clock.now());
                let noted = self.store.change(&account.connection, chat.chat, None, move |chat| {
                    chat.sent(number, line, now);
                });
                noted.await?;
                self.mark_read(account, chat.chat, draft).await;
                let by_rule = chat.is_standing;
                let note = if by_rule { texts.business_sent_by_rule() } else { texts.business_sent() };
                self.edit_sent(account, chat, draft, note).await;
                Ok(SendEnd::Sent)
            }
            Err(Some(ApiError::Unclear(words))) => {
                tracing::warn!(words, "it is unclear whether a reply to a customer was sent");
                change(|chat, number| drop(chat.take_draft(number))).await?;
                self.show_unclear(account, chat, draft).await;
                Ok(SendEnd::Unclear)
            }
            Err(error) => {
                change(|chat, number| {
                    if let Some(draft) = chat.draft_mut(number) {
                        draft.is_sending = false;
                    }
                })
                .await?;
                Ok(SendEnd::Refused(error.map(|error| error.to_string()).unwrap_or_default()))
            }
        }
    }

    /// Sends a draft without a press, as the standing rule of its chat says. If that fails, the draft waits for the person.
    pub(super) async fn send_by_rule(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        number: u32,
    ) -> Result<(), StoreError> {
        let known = self.store.customer(&account.connection, chat.chat).await?;
        // Nothing is sent that the person cannot see.
        if known.and_then(|chat| chat.draft?.card).is_none() {
            return Ok(());
        }
        let end = self.send(account, chat.chat, number, None).await?;
        if !matches!(end, SendEnd::Sent | SendEnd::Unclear) {
            tracing::warn!(?end, "a standing rule could not send its reply");
        }
        Ok(())
    }

    async fn mark_read(&self, account: &BusinessAccount, chat: ChatId, draft: &ReplyDraft) {
        if !account.can_read {
            return;
        }
        let body = json!({
            "business_connection_id": account.connection, "chat_id": chat, "message_id": draft.answers,
        });
        if let Err(error) = self.sender.api.call(ReadBusinessMessage(body)).await {
            tracing::debug!(%error, "a customer's message could not be marked as read");
        }
    }

    async fn show_unclear(&self, account: &BusinessAccount, chat: &CustomerChat, draft: &ReplyDraft) {
        let note = self.texts(account).await.business_unclear();
        self.edit_sent(account, chat, draft, note).await;
    }

    async fn edit_sent(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
        note: &str,
    ) {
        let Some(message) = draft.card else { return };
        let card = sent_card(self.texts(account).await, chat, draft, note);
        self.sender.edit(account.chat, message, &card).await;
    }
}
