//! Groups that no owner has allowed: owners are asked about each group once, and the group is told once.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::{Asker, notices};
use crate::inbound::{CommandLine, CommandTarget};
use figaro_base::ids::{UpdateId, UserId};
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_store::StoreError;

/// Question to the owners about a group.
#[derive(Debug)]
pub(super) struct GroupAsk {
    /// Person who wants the bot in the group, with the place.
    pub(super) asker: Asker,
    /// `true` if the person has just added the bot, `false` if they wrote to it.
    pub(super) is_added: bool,
}

impl Router {
    /// Handles a message in a group that no owner has allowed. Owners are asked if the message addresses the bot,
    /// which may be in the group since before access was required.
    pub(super) fn refuse_group(
        self: &Arc<Self>,
        part: Inbound,
        command: Option<&CommandLine>,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let is_meant = part.is_addressed() || command.is_some_and(|line| line.target == CommandTarget::Me);
        if !is_meant {
            return Ok(UpdateFate::Dropped("group_not_allowed"));
        }
        let asker = Asker::new(&part, Standing::Member);
        self.ask_about_group(part.origin.update(), GroupAsk { asker, is_added: false }, arrival)
    }

    /// Asks the owners about a group and tells the group, once. If too many such notices are pending, the update is
    /// dropped, and the next one counts as the first.
    pub(super) fn ask_about_group(
        self: &Arc<Self>,
        id: Option<UpdateId>,
        ask: GroupAsk,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else {
            return Ok(UpdateFate::Dropped("too_many_notices"));
        };
        // A group is recorded under the id of those who speak in its name.
        let group = UserId::telegram(ask.asker.place.chat.0);
        let is_new = self.settings.greet_stranger(&group, self.clock.now())?;
        // An update that a stop left open was marked as told, but the notice was not sent.
        if !is_new && arrival == Arrival::New {
            return Ok(UpdateFate::Dropped("group_not_allowed"));
        }
        let this = Arc::clone(self);
        self.background.spawn("group", async move {
            let _room = room;
            let cards = &this.commands.cards;
            let is_asked = this.requests.ask_about_group(&ask.asker, ask.is_added).await;
            let card = notices::group_waits(cards.texts(&ask.asker), is_asked);
            if cards.notify(&ask.asker, card).await {
                this.settle(id.as_slice()).await;
            }
        });
        Ok(UpdateFate::Refused(Reception::GroupNotAllowed))
    }
}
