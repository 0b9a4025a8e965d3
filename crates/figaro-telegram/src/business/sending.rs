//! Sends a draft in the name of the person, once: the attempt is stored before the call, and one of unknown outcome is told
//! and not repeated.

use serde_json::json;

use super::content::{sent_card, signed};
use super::{CustomerKey, Desk, SendCause, SendEnd};
use crate::api::{ReadBusinessMessage, SendMessage};
use crate::error::ApiError;
use crate::outgoing::{PREVIEW, no_preview, sent_id};
use figaro_agent::outbound::Urgency;
use figaro_base::ids::ChatId;
use figaro_domain::business::{BusinessAccount, CustomerChat, CustomerLine, ReplyDraft, SendingStart};
use figaro_store::StoreError;

impl Desk {
    /// Sends the draft with this number.
    ///
    /// # Errors
    /// If the store fails. A draft whose call may have begun is then not sent again.
    pub(crate) async fn send(
        &self,
        account: &BusinessAccount,
        to: ChatId,
        number: u32,
        cause: SendCause,
    ) -> Result<SendEnd, StoreError> {
        if !account.can_reply {
            return Ok(SendEnd::NoRight);
        }
        let Some(_sending) = self.drafts.sending(&CustomerKey::of(account, to)) else {
            return Ok(SendEnd::Busy);
        };
        let now = self.sender.clock.now();
        loop {
            let begun = self.store.change(&account.connection, to, None, |chat| {
                // A press may be faster than the record of the card.
                if let (Some(draft), SendCause::Press(card)) = (chat.draft_mut(number), cause) {
                    draft.card = draft.card.or(Some(card));
                }
                (chat.begin_sending(number, cause == SendCause::Rule, now), chat.clone())
            });
            match begun.await? {
                // The bot stopped before the card said so.
                Some((SendingStart::Gone, chat))
                    if chat.sent.as_ref().is_some_and(|sent| sent.number == number) =>
                {
                    self.show_earlier(account, &chat).await?;
                    return Ok(SendEnd::Sent);
                }
                None | Some((SendingStart::Gone, _)) => return Ok(SendEnd::Gone),
                Some((SendingStart::Held, _)) => return Ok(SendEnd::Held),
                Some((SendingStart::Unclear(draft), chat)) => {
                    let note = self.texts(account).business_unclear();
                    self.edit_sent(account, &chat, &draft, note).await;
                    if draft.number == number {
                        return Ok(SendEnd::Unclear);
                    }
                }
                Some((SendingStart::Begun(draft), chat)) => {
                    return self.send_begun(account, &chat, &draft, cause).await;
                }
            }
        }
    }

    async fn send_begun(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
        cause: SendCause,
    ) -> Result<SendEnd, StoreError> {
        let texts = self.texts(account);
        // The customer reads the mark.
        let theirs = self.languages.locales.of(chat.language.as_deref());
        let text = signed(theirs, &self.name, &draft.markdown);
        let body = json!({
            "business_connection_id": account.connection, "chat_id": chat.chat, "text": text.text,
            "entities": text.entities, PREVIEW: no_preview(),
        });
        match self.sender.call_once(chat.chat, SendMessage(body), Urgency::Answer).await {
            Ok(sent) => {
                let (message, now) = (sent_id(&sent), self.sender.clock.now());
                let line = CustomerLine { message, is_own: true, text: text.text, attachments: Vec::new() };
                self.change(account, chat, |chat| chat.end_sending(line, now)).await?;
                self.mark_read(account, chat.chat, draft).await;
                let by_rule = cause == SendCause::Rule;
                let note = if by_rule { texts.business_sent_by_rule() } else { texts.business_sent() };
                self.show_sent(account, chat, draft, note).await?;
                Ok(SendEnd::Sent)
            }
            Err(Some(ApiError::Unclear(words))) => {
                tracing::warn!(words, "it is unclear whether a reply to a customer was sent");
                self.change(account, chat, |chat| chat.sending = None).await?;
                self.edit_sent(account, chat, draft, texts.business_unclear()).await;
                Ok(SendEnd::Unclear)
            }
            Err(error) => {
                let is_open = self.change(account, chat, CustomerChat::not_sent).await?;
                let Some(error) = error else { return Ok(SendEnd::Stopping) };
                tracing::warn!(%error, "a reply to a customer was not sent");
                if is_open != Some(true) {
                    self.edit_sent(account, chat, draft, texts.business_refused()).await;
                }
                Ok(SendEnd::Refused)
            }
        }
    }

    /// Says on the card of a draft that was sent before a restart that it was.
    pub(super) async fn show_earlier(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
    ) -> Result<(), StoreError> {
        let Some(sent) = &chat.sent else { return Ok(()) };
        let note = self.texts(account).business_sent();
        self.show_sent(account, chat, sent, note).await
    }

    async fn show_sent(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
        note: &str,
    ) -> Result<(), StoreError> {
        self.edit_sent(account, chat, draft, note).await;
        let number = draft.number;
        let shown = self.change(account, chat, |chat| drop(chat.sent.take_if(|sent| sent.number == number)));
        shown.await.map(drop)
    }

    async fn change<T>(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        change: impl FnOnce(&mut CustomerChat) -> T,
    ) -> Result<Option<T>, StoreError> {
        self.store.change(&account.connection, chat.chat, None, change).await
    }

    /// Sends a draft without a press, as the standing rule of its chat says. If that fails, its card says why, and it waits for
    /// the person. Returns `false` if the bot is stopping.
    pub(super) async fn send_by_rule(
        &self,
        account: &BusinessAccount,
        chat: ChatId,
        number: u32,
    ) -> Result<bool, StoreError> {
        let known = self.store.customer(&account.connection, chat)?;
        // Nothing is sent that the person cannot see.
        if known.and_then(|chat| chat.draft?.card).is_none() {
            return Ok(true);
        }
        let texts = self.texts(account);
        let why = match self.send(account, chat, number, SendCause::Rule).await? {
            SendEnd::Sent | SendEnd::Unclear | SendEnd::Busy | SendEnd::Gone => return Ok(true),
            SendEnd::Stopping => return Ok(false),
            SendEnd::Held => texts.business_bound(),
            SendEnd::NoRight => texts.business_no_right(),
            SendEnd::Refused => texts.business_refused(),
        };
        let Some(chat) = self.store.customer(&account.connection, chat)? else { return Ok(true) };
        match chat.draft.as_ref().filter(|draft| draft.number == number && chat.is_for_rule(draft)) {
            Some(draft) => self.show(account, &chat, draft, Some(why)).await,
            None => Ok(true),
        }
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

    async fn edit_sent(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
        note: &str,
    ) {
        let Some(message) = draft.card else { return };
        let card = sent_card(self.texts(account), chat, draft, note);
        self.sender.edit(account.chat, message, &card).await;
    }
}
