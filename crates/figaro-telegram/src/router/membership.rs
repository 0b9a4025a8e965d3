//! Changes of the bot's membership: it is removed from a chat, added to one, blocked or unblocked.

use std::sync::Arc;

use chrono::DateTime;

use super::groups::GroupAsk;
use super::{Arrival, Router, UpdateFate};
use crate::commands::{Asker, notices};
use crate::inbound;
use crate::views::{MemberUpdateView, MessageView, UserView};
use figaro_base::ids::UpdateId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_policy::access::{Standing, Verdict, is_served, judge};
use figaro_store::StoreError;

impl Router {
    /// Handles the removal of the bot from a chat, or its return. Blocking the bot counts as removal from a private
    /// chat.
    pub(super) async fn membership(
        self: &Arc<Self>,
        id: UpdateId,
        member: MemberUpdateView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let is_out = |status: &str| ["left", "kicked", ""].contains(&status);
        let is_in = |status: &str| ["administrator", "member"].contains(&status);
        let (old, new) = (member.old_chat_member.status.as_str(), member.new_chat_member.status.as_str());
        let place = inbound::place_of_chat(&member.chat);
        if !new.is_empty() && is_out(new) {
            self.resting.leave(place.chat).await?;
            return Ok(UpdateFate::Settled);
        }
        match place.kind {
            ChatKind::Group if is_out(old) && is_in(new) => self.joined(id, place, member, arrival).await,
            ChatKind::Private if is_out(old) && is_in(new) => self.unblocked(id, place, member),
            _ => Ok(UpdateFate::Dropped("membership")),
        }
    }

    /// Records people who joined a group that the bot serves, so that they can be named before they write.
    pub(super) fn note_came(&self, view: &MessageView) -> Result<(), StoreError> {
        let people: Vec<UserView> = view.part("new_chat_members");
        let people = people.iter().filter(|user| !user.is_bot);
        let people: Vec<Speaker> = people.map(inbound::speaker_of).collect();
        let place = inbound::place(view);
        let Some(user) = view.from.as_ref().filter(|_| place.is_group() && !people.is_empty()) else {
            return Ok(());
        };
        let list = self.settings.access()?;
        match judge(&self.access, &list, &place, &inbound::speaker_of(user).user, self.clock.now()) {
            Verdict::Allow(_) if is_served(&self.access, &list, &place) => {
                let at = DateTime::from_timestamp(view.date, 0).unwrap_or_default();
                self.people.came(place.chat, people, at)
            }
            Verdict::Allow(_) | Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_) => Ok(()),
        }
    }

    /// Handles an unblock: offers to resume tasks that were paused when the person blocked the bot.
    fn unblocked(
        self: &Arc<Self>,
        id: UpdateId,
        place: Place,
        member: MemberUpdateView,
    ) -> Result<UpdateFate, StoreError> {
        let speaker = inbound::speaker_of(&member.from);
        let list = self.settings.access()?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &speaker.user, self.clock.now())
        else {
            return Ok(UpdateFate::Dropped("membership"));
        };
        let client = member.from.language_code.clone();
        let language = self.commands.language(place.chat, client.as_deref());
        let asker = Asker { place, speaker, language, client, standing, message: None };
        let Some(card) = self.resting.returned(&asker)? else { return Ok(UpdateFate::Settled) };
        let this = Arc::clone(self);
        self.background.spawn("unblocked", async move { this.show(id, &asker, card).await });
        Ok(UpdateFate::Pending)
    }

    /// Handles the addition of the bot to a group. If an owner added it, the group is allowed; if no owner has
    /// allowed the group, owners are asked. In an allowed group, the bot introduces itself and offers to resume tasks
    /// that were paused by its removal.
    async fn joined(
        self: &Arc<Self>,
        id: UpdateId,
        place: Place,
        member: MemberUpdateView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let adder = inbound::speaker_of(&member.from);
        let list = self.settings.access()?;
        let client = member.from.language_code.clone();
        let language = self.commands.language(place.chat, client.as_deref());
        let standing = match judge(&self.access, &list, &place, &adder.user, self.clock.now()) {
            Verdict::Allow(standing) => standing,
            Verdict::Unapproved => {
                tracing::warn!(chat = %place.chat, by = %adder.user, "added to a group that no owner has let in");
                let asker = Asker {
                    place,
                    speaker: adder,
                    language,
                    client,
                    standing: Standing::Member,
                    message: None,
                };
                return self.ask_about_group(Some(id), GroupAsk { asker, is_added: true }, arrival);
            }
            Verdict::Stranger | Verdict::Ignore(_) => return Ok(UpdateFate::Settled),
        };
        if standing == Standing::Owner {
            self.settings
                .change_access(AccessChange::AllowChat(place.chat), AuditActor::Person(adder.user.clone()))
                .await?;
        }
        let is_admin = member.new_chat_member.status == "administrator";
        let asker = Asker { place, speaker: adder, language, client, standing, message: None };
        let offer = self.resting.returned(&asker)?;
        let this = Arc::clone(self);
        self.background.spawn("joined", async move {
            let cards = &this.commands.cards;
            let card = notices::joined(cards.texts(&asker), &this.me, is_admin);
            let Some(offer) = offer else { return this.show(id, &asker, card).await };
            if cards.show(&asker, card).await {
                this.show(id, &asker, offer).await;
            }
        });
        Ok(UpdateFate::Pending)
    }
}
