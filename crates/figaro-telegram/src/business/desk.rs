//! Shows drafts to the person whose account is connected, and drops those that are no longer wanted.

use tokio_util::sync::CancellationToken;

use super::content::{dropped_card, open_card};
use super::{DraftEnd, Drafts, EndedDraft, SendCause};
use crate::send::{Edited, Outgoing, Sender, Unsent};
use figaro_agent::languages::Languages;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId, UpdateId};
use figaro_domain::business::{BusinessAccount, CustomerChat, ReplyDraft};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::ConversationId;
use figaro_prompts::texts::Texts;
use figaro_store::{BusinessStore, InboxStore, StoreError};

/// Answer of the model if a message needs no reply.
pub(super) const NO_REPLY: &str = "[no reply]";

/// Drafts of all connected accounts, as their people see them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Desk {
    /// Stored accounts, chats and drafts.
    pub store: BusinessStore,
    /// Store in which updates are settled once their draft stands.
    pub inbox: InboxStore,
    /// Sends within the rate limits.
    pub sender: Sender,
    /// Texts, in the language of each person.
    pub languages: Languages,
    /// Drafts that are being written or sent.
    pub drafts: Drafts,
    /// Name of the bot, with which it marks what it wrote.
    pub name: String,
}

/// Reason why a draft is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// The person answered in the chat.
    Answered,
    /// The customer deleted the message.
    Deleted,
    /// The account is no longer connected, or the chat was forgotten.
    Ended,
    /// The model found that no reply is needed.
    NoReply,
    /// The person does not want it.
    Skipped,
}

impl DropReason {
    fn words(self, texts: &Texts) -> &str {
        match self {
            Self::Answered => texts.business_answered(),
            Self::Deleted => texts.business_deleted(),
            Self::Ended => texts.business_over(),
            Self::NoReply => texts.business_no_reply(),
            Self::Skipped => texts.business_skipped(),
        }
    }
}

impl Desk {
    pub(crate) fn texts(&self, account: &BusinessAccount) -> &Texts {
        self.languages.texts(account.chat, account.language.as_deref())
    }

    /// Shows the draft of a turn that has ended, and settles the updates that wait for it. Does nothing if the draft is no
    /// longer wanted, or the turn goes on at the next start.
    pub async fn ended(&self, conversation: ConversationId) {
        let Some(ended) = self.drafts.ended(conversation) else { return };
        match self.place(&ended).await {
            Ok(true) => self.settle(self.drafts.finish(&ended.key, conversation)).await,
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a draft could not be shown; the next start drafts again");
            }
        }
    }

    /// Settles an update whose draft stands or is not wanted.
    pub(crate) async fn settle(&self, update: Option<UpdateId>) {
        if let Err(error) = self.inbox.settle(update.as_slice()).await {
            tracing::error!(%error, label = error.label(), "a draft may be written again");
        }
    }

    /// Shows a draft, and sends it if a standing rule says so. Returns `false` if the bot is stopping.
    async fn place(&self, EndedDraft { key, answers, end }: &EndedDraft) -> Result<bool, StoreError> {
        let account = self.store.account(&key.connection)?.filter(|account| !account.is_forgotten);
        let Some(account) = account else { return Ok(true) };
        let texts = self.texts(&account);
        let (markdown, failure) = match end {
            DraftEnd::Written(words) if says_no_reply(words) => {
                self.drop_unneeded(&account, key.chat).await?;
                return Ok(true);
            }
            DraftEnd::Written(words) => (words.clone(), None),
            DraftEnd::Failed(words) if words.is_empty() => (String::new(), Some(texts.business_failed())),
            DraftEnd::Failed(words) => (String::new(), Some(words.as_str())),
        };
        let put = self.store.change(&key.connection, key.chat, None, |chat| {
            let draft = chat.put_draft(*answers, markdown)?;
            Some((chat.clone(), draft))
        });
        let Some((chat, draft)) = put.await?.flatten() else { return Ok(true) };
        if !self.show(&account, &chat, &draft, failure).await? {
            return Ok(false);
        }
        match account.can_reply && chat.is_for_rule(&draft) {
            true => self.send_by_rule(&account, key.chat, draft.number).await,
            false => Ok(true),
        }
    }

    /// Sends what a standing rule had not sent before a restart, or tells that it may have been sent. Returns `false` if the
    /// bot is stopping.
    pub(super) async fn take_up(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
    ) -> Result<bool, StoreError> {
        self.show_earlier(account, chat).await?;
        if let Some(sending) = &chat.sending {
            self.send(account, chat.chat, sending.number, SendCause::Rule).await?;
            return Ok(true);
        }
        match chat.draft.as_ref().filter(|draft| account.can_reply && chat.is_for_rule(draft)) {
            Some(draft) => self.send_by_rule(account, chat.chat, draft.number).await,
            None => Ok(true),
        }
    }

    /// Shows an open draft, in the card of the earlier one if there is one. Returns `false` if the bot is stopping.
    pub(super) async fn show(
        &self,
        account: &BusinessAccount,
        chat: &CustomerChat,
        draft: &ReplyDraft,
        note: Option<&str>,
    ) -> Result<bool, StoreError> {
        let card = open_card(self.texts(account), account, chat, draft, note);
        if let Some(message) = draft.card
            && self.sender.edit(account.chat, message, &card).await == Edited::Done
        {
            return Ok(true);
        }
        let card = match self.write(account, &card).await {
            Ok(card) => card,
            Err(Unsent::Stopping) => return Ok(false),
            Err(unsent) => {
                tracing::warn!(?unsent, "a draft could not be shown to the person");
                return Ok(true);
            }
        };
        let noted =
            self.store.change(&account.connection, chat.chat, None, |chat| chat.shown_in(draft.number, card));
        // Sent or dropped meanwhile.
        if noted.await? != Some(true) {
            self.sender.without_buttons(&private(account), card, Urgency::Answer).await;
        }
        Ok(true)
    }

    /// Sends a card to the private chat of the person.
    pub(crate) async fn write(
        &self,
        account: &BusinessAccount,
        card: &Outgoing,
    ) -> Result<MessageId, Unsent> {
        self.sender.send(&private(account), card, &CancellationToken::new()).await
    }

    /// Drops the draft of a chat whose last message needs no reply.
    async fn drop_unneeded(&self, account: &BusinessAccount, chat: ChatId) -> Result<(), StoreError> {
        let taken = self.store.change(&account.connection, chat, None, |chat| {
            chat.draft.take().map(|draft| (chat.name.clone(), draft))
        });
        if let Some((name, draft)) = taken.await?.flatten() {
            self.close(account, &name, &draft, DropReason::NoReply).await;
        }
        Ok(())
    }

    /// Says on the card of a dropped draft why it was dropped.
    pub(crate) async fn close(
        &self,
        account: &BusinessAccount,
        name: &str,
        draft: &ReplyDraft,
        why: DropReason,
    ) {
        let Some(card) = draft.card else { return };
        let texts = self.texts(account);
        self.sender.edit(account.chat, card, &dropped_card(texts, name, why.words(texts))).await;
    }
}

/// Returns the private chat that gets the drafts of an account.
fn private(account: &BusinessAccount) -> Place {
    Place { chat: account.chat, kind: ChatKind::Private, title: None, topic: None }
}

/// Returns `true` if the model says that no reply is needed.
fn says_no_reply(words: &str) -> bool {
    let bare = words.trim_matches(|c: char| c.is_whitespace() || "`*_.\"'".contains(c));
    bare.eq_ignore_ascii_case(NO_REPLY)
}
