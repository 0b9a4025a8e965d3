//! Groups that no owner has let in: owners are asked about each once, and the group is told so, once.

use std::sync::Arc;

use super::{Arrival, Fate, Router};
use crate::commands::{Asker, notices};
use crate::inbound::{CommandLine, Target};
use figaro_base::ids::{UpdateId, UserId};
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_store::StoreError;

/// What owners are asked about a group.
#[derive(Debug)]
pub(super) struct GroupAsk {
    /// Who wants the bot there, and where.
    pub(super) asker: Asker,
    /// Whether they have just added it; else they talk to it.
    pub(super) is_added: bool,
}

impl Router {
    /// Somebody writes in a group that no owner has let in. Owners are asked where the bot is spoken to: it may have been in the
    /// group since before it had to be let in.
    pub(super) async fn refuse_group(
        self: &Arc<Self>,
        part: Inbound,
        command: Option<&CommandLine>,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        let is_meant = part.is_addressed() || command.is_some_and(|line| line.target == Target::Me);
        if !is_meant {
            return Ok(Fate::Dropped("group_not_allowed"));
        }
        let asker = Asker::new(&part, Standing::Member);
        self.ask_about_group(part.origin.update(), GroupAsk { asker, is_added: false }, arrival).await
    }

    /// Asks the owners about a group and tells the group, once. While too many such notices wait, it is as if nothing had
    /// happened, and the next time counts as the first.
    pub(super) async fn ask_about_group(
        self: &Arc<Self>,
        id: Option<UpdateId>,
        ask: GroupAsk,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else {
            return Ok(Fate::Dropped("too_many_notices"));
        };
        // A group is noted as whoever speaks in its name is.
        let group = UserId::telegram(ask.asker.place.chat.0);
        let is_new = self.settings.greet_stranger(&group, self.clock.now()).await?;
        // One that a stop left open was marked as told, and was not told.
        if !is_new && arrival == Arrival::New {
            return Ok(Fate::Dropped("group_not_allowed"));
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
        Ok(Fate::Refused(Reception::GroupNotAllowed))
    }
}
