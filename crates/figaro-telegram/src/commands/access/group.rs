//! Requests for groups that no owner has allowed: every owner is asked and decides with a button.

use serde_json::json;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::named;
use super::super::command::Pressed;
use super::super::notices;
use super::request::AccessRequests;
use crate::api::{GetChatMemberCount, LeaveChat};
use crate::callback::{AdmitGroupButton, GroupDecision};
use crate::send::Button;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::ChatId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{ChatKind, Place};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

impl AccessRequests {
    /// Asks every owner whether a group may talk to the bot, and names the person who wants it there. Returns `false`
    /// if no owner was asked.
    pub(crate) async fn ask_about_group(&self, asker: &Asker, is_added: bool) -> bool {
        if !self.asks() || !self.has_room() {
            return false;
        }
        let chat = asker.place.chat;
        let who = named(&asker.speaker.name, asker.speaker.username.as_deref());
        let group = match asker.place.title.as_deref() {
            Some(title) => named(title, None),
            None => self.cards.name_of(chat).await,
        };
        let count = self.members_of(chat).await;
        let values = [("who", who.as_str()), ("group", &group), ("count", &count)];
        let mut asked = false;
        for place in self.owners() {
            let texts = self.cards.languages.texts(place.chat, None);
            let words = if is_added { texts.group_added() } else { texts.group_request() };
            let buttons = GroupDecision::ALL
                .into_iter()
                .map(|decision| Button::new(label(texts, decision), AdmitGroupButton { decision, chat }));
            let card = Card::text(fill(words, &values)).row(buttons.collect());
            asked |= self.cards.write(&place, card, Urgency::Answer).await;
        }
        asked
    }

    /// Applies an owner's decision about a group: greets the group or leaves it.
    pub(super) async fn decide_group(
        &self,
        press: AdmitGroupButton,
        asker: &Asker,
    ) -> Result<Pressed, StoreError> {
        let (texts, chat) = (self.cards.texts(asker), press.chat);
        let group = self.cards.name_of(chat).await;
        let words = |decision| fill(words(texts, decision), &[("group", &group)]);
        let (decided, is_new) = self.settle_group(press, asker).await?;
        let said = match decided == press.decision {
            true => words(decided),
            false => fill(texts.access_settled(), &[("decided", &words(decided))]),
        };
        match decided {
            GroupDecision::Allow if is_new => self.greet_group(chat).await,
            // Also if the group was denied before: the bot may have been added again.
            GroupDecision::Leave if decided == press.decision => self.leave(chat).await,
            GroupDecision::Allow | GroupDecision::Leave | GroupDecision::Ignore => {}
        }
        Ok(Pressed::both(said.clone(), Card::text(said)))
    }

    /// Returns the decision that applies to a group, and `true` if this press changed it. The first of two owners
    /// decides.
    async fn settle_group(
        &self,
        press: AdmitGroupButton,
        asker: &Asker,
    ) -> Result<(GroupDecision, bool), StoreError> {
        let _one = self.deciding.lock().await;
        let list = self.settings.access()?;
        if list.chats.contains(&press.chat) {
            return Ok((GroupDecision::Allow, false));
        }
        if list.denied_chats.contains(&press.chat) {
            return Ok((GroupDecision::Leave, false));
        }
        let change = match press.decision {
            GroupDecision::Allow => AccessChange::AllowChat(press.chat),
            GroupDecision::Leave => AccessChange::DenyChat(press.chat),
            GroupDecision::Ignore => return Ok((GroupDecision::Ignore, false)),
        };
        let by = AuditActor::Person(asker.speaker.user.clone());
        let changed = self.settings.change_access(change, by).await?;
        Ok((press.decision, changed))
    }

    async fn greet_group(&self, chat: ChatId) {
        let texts = self.cards.languages.texts(chat, None);
        let place = Place { chat, kind: ChatKind::Group, title: None, topic: None };
        self.cards.write(&place, notices::joined(texts, &self.me, false), Urgency::Answer).await;
    }

    async fn leave(&self, chat: ChatId) {
        if let Err(error) = self.cards.sender.api.call(LeaveChat(json!({"chat_id": chat}))).await {
            tracing::warn!(%chat, %error, "a group could not be left; nobody there is answered all the same");
        }
    }

    /// Returns the member count of a chat as text; `?` if Telegram does not tell it.
    async fn members_of(&self, chat: ChatId) -> String {
        let count = self.cards.sender.api.call(GetChatMemberCount(json!({"chat_id": chat}))).await;
        count.ok().and_then(|count| count.as_u64()).map_or("?".to_owned(), |count| count.to_string())
    }
}

/// Returns the text for a decision, with the placeholder `{group}`.
fn words(texts: &Texts, decision: GroupDecision) -> &str {
    match decision {
        GroupDecision::Allow => texts.group_allowed(),
        GroupDecision::Leave => texts.group_left(),
        GroupDecision::Ignore => texts.group_ignored(),
    }
}

fn label(texts: &Texts, decision: GroupDecision) -> &str {
    match decision {
        GroupDecision::Allow => texts.button_allow(),
        GroupDecision::Leave => texts.button_leave_group(),
        GroupDecision::Ignore => texts.button_ignore(),
    }
}
