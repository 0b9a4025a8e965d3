//! Admission: a slot in the queue for each message, command and press, the message when there is none, and the
//! message to strangers.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::notices::{self, PressRefusal};
use crate::commands::{Asker, Card, CommandOutcome};
use crate::inbound::{self, CommandLine};
use crate::views::CallbackView;
use figaro_agent::turn::queue::admission::{AdmissionRefusal, Full, WaitingSlot};
use figaro_base::ids::UpdateId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::code::CodeHash;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

impl Router {
    /// Returns a slot in the queue for a message or a command.
    pub(super) fn slot(&self, part: &Inbound, arrival: Arrival) -> Result<WaitingSlot, AdmissionRefusal> {
        let (user, conversation) = (&part.speaker.user, part.place.conversation());
        match arrival {
            Arrival::New => self.mailboxes.admit(Some(user), conversation),
            Arrival::Accepted => Ok(self.mailboxes.readmit(user, conversation)),
        }
    }

    /// Tells the author of a message that the queue is full, once: by a card in a private chat, by a reaction in a
    /// group. If a stop prevents that, the next start handles the message again.
    pub(super) fn refuse(self: &Arc<Self>, part: &Inbound, refusal: AdmissionRefusal) -> UpdateFate {
        tracing::debug!(origin = ?part.origin, full = ?refusal.full, "there is no room for a message");
        if !refusal.is_first {
            return UpdateFate::Dropped("no_room");
        }
        let (this, asker) = (Arc::clone(self), Asker::new(part, Standing::Member));
        let (place, message, update) = (part.place.clone(), part.origin.message(), part.origin.update());
        self.background.spawn("no_room", async move {
            if let Some(message) = message.filter(|_| place.is_group()) {
                this.commands.cards.sender.shrug(&place, message).await;
                return this.settle(update.as_slice()).await;
            }
            let cards = &this.commands.cards;
            let card = Card::text(notices::no_room(cards.texts(&asker), refusal.full));
            match refusal.full {
                Full::Person | Full::Conversation => this.show(update, &asker, card).await,
                Full::All if cards.notify(&asker, card).await => this.settle(update.as_slice()).await,
                Full::All => {}
            }
        });
        UpdateFate::Refused(Reception::NoRoom)
    }

    /// Handles a press of a button. Presses count like messages, but an owner's card works even when the queue is
    /// full.
    pub(super) async fn press(
        self: &Arc<Self>,
        id: UpdateId,
        pressed: Box<CallbackView>,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        if pressed.inline_message_id.is_some() {
            return self.press_inline(id, *pressed, arrival).await;
        }
        let user = inbound::speaker_of(&pressed.from).user;
        let Some(place) = pressed.message.as_ref().map(inbound::place) else {
            self.refuse_press(pressed, PressRefusal::Gone);
            return Ok(UpdateFate::Dropped("no_message"));
        };
        let list = self.settings.access()?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &user, self.clock.now()) else {
            self.refuse_press(pressed, PressRefusal::Stranger);
            return Ok(UpdateFate::Dropped("not_allowed"));
        };
        let admitted = match arrival {
            Arrival::New => self.mailboxes.admit(Some(&user), place.conversation()),
            Arrival::Accepted => Ok(self.mailboxes.readmit(&user, place.conversation())),
        };
        let slot = match admitted {
            Err(refusal) if standing != Standing::Owner => {
                self.refuse_press(pressed, PressRefusal::Full(refusal.full));
                return Ok(UpdateFate::Dropped("no_room"));
            }
            admitted => admitted.map_err(|refusal| refusal.full),
        };
        let this = Arc::clone(self);
        self.background.spawn("button", async move {
            if this.commands.press(id, &pressed, &this.mailboxes, slot).await {
                this.settle(&[id]).await;
            }
            this.answer_first().await;
        });
        Ok(UpdateFate::Pending)
    }

    /// Answers a press that has no effect, with the reason. If very many such answers are pending, further ones are
    /// skipped.
    pub(super) fn refuse_press(self: &Arc<Self>, pressed: Box<CallbackView>, why: PressRefusal) {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else { return };
        let this = Arc::clone(self);
        self.background.spawn("no_room", async move {
            let _room = room;
            let _dealt_with = this.commands.refuse_press(&pressed, why).await;
        });
    }

    /// Handles a private message of a stranger: asks the owners and tells the stranger so, once. If too many such
    /// notices are pending, the message is dropped, and the next one counts as the first.
    pub(super) fn refuse_unknown(
        self: &Arc<Self>,
        part: Inbound,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else {
            return Ok(UpdateFate::Dropped("too_many_notices"));
        };
        let is_new = self.settings.greet_stranger(&part.speaker.user, self.clock.now())?;
        // An update that a stop left open was marked as told, but the notice was not sent.
        if !is_new && arrival == Arrival::New {
            return Ok(UpdateFate::Dropped("stranger"));
        }
        let this = Arc::clone(self);
        self.background.spawn("stranger", async move {
            let _room = room;
            let asker = Asker::new(&part, Standing::Member);
            let cards = &this.commands.cards;
            let is_asked = this.requests.ask(&part).await;
            let card = notices::private(cards.texts(&asker), asker.speaker.user.telegram_id(), is_asked);
            if cards.notify(&asker, card).await {
                this.settle(part.origin.update().as_slice()).await;
            }
        });
        Ok(UpdateFate::Refused(Reception::Stranger))
    }

    /// Handles a link that makes its user an owner. Returns `true` if the invite was valid and they are an owner now.
    /// No invite is valid while the settings name the owners.
    pub(super) async fn accept_owner_invite(
        self: &Arc<Self>,
        id: UpdateId,
        part: &Inbound,
        line: &CommandLine,
    ) -> Result<bool, StoreError> {
        let command = self.commands.find(&line.name);
        let Some(code) = command.and_then(|command| command.invitation(&line.argument)) else {
            return Ok(false);
        };
        let user = part.speaker.user.clone();
        let redeem = AccessChange::Redeem { code: CodeHash::of(code), user, at: self.clock.now() };
        if !self.access.owners.is_empty()
            || !self.settings.change_access(redeem, AuditActor::Person(part.speaker.user.clone())).await?
        {
            return Ok(false);
        }
        tracing::info!(user = %part.speaker.user, "the bot has an owner now");
        // Nobody could be asked about those who wrote before.
        self.settings.forget_strangers(self.clock.now())?;
        let (this, part, line) = (Arc::clone(self), part.clone(), line.clone());
        let asker = Asker::new(&part, Standing::Owner);
        self.background.spawn("owner_invite", async move {
            if let CommandOutcome::Card(card) = this.commands.run(&line, &part, &asker).await {
                let title = Some(this.commands.cards.texts(&asker).owner_invite_redeemed().to_owned());
                this.show(id, &asker, Card { title, ..card }).await;
            }
        });
        Ok(true)
    }
}
