//! Room for what people send: a place for each message, command and press, what is said where there is none, and what
//! strangers are told.

use std::sync::Arc;

use super::{Arrival, Fate, Router};
use crate::commands::notices::{self, Refused};
use crate::commands::{Asker, Card, Outcome};
use crate::inbound::{self, CommandLine};
use crate::views::CallbackView;
use figaro_agent::turn::queue::admission::{Full, Refusal, Slot};
use figaro_base::ids::UpdateId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::code::CodeHash;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

impl Router {
    /// A place for a message or a command.
    pub(super) fn slot(&self, part: &Inbound, arrival: Arrival) -> Result<Slot, Refusal> {
        let (user, conversation) = (&part.speaker.user, part.place.conversation());
        match arrival {
            Arrival::New => self.mailboxes.admit(Some(user), conversation),
            Arrival::Accepted => Ok(self.mailboxes.readmit(user, conversation)),
        }
    }

    /// Tells whoever wrote a message that there is no room for it: in a private chat in words, in a group by a reaction,
    /// and once. A message of which a stop keeps its writer from hearing is taken up by the next start.
    pub(super) fn refuse(self: &Arc<Self>, part: &Inbound, refusal: Refusal) -> Fate {
        tracing::debug!(origin = ?part.origin, full = ?refusal.full, "there is no room for a message");
        if !refusal.is_first {
            return Fate::Dropped("no_room");
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
        Fate::Refused(Reception::NoRoom)
    }

    /// A press of a button. Presses count as messages do; an owner's card works also where there is no room for a
    /// question.
    pub(super) async fn press(
        self: &Arc<Self>,
        id: UpdateId,
        pressed: Box<CallbackView>,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        let user = inbound::speaker_of(&pressed.from).user;
        let Some(place) = pressed.message.as_ref().map(inbound::place) else {
            self.refuse_press(pressed, Refused::Gone);
            return Ok(Fate::Dropped("no_message"));
        };
        let list = self.settings.access().await?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &user, self.clock.now()) else {
            self.refuse_press(pressed, Refused::Stranger);
            return Ok(Fate::Dropped("not_allowed"));
        };
        let admitted = match arrival {
            Arrival::New => self.mailboxes.admit(Some(&user), place.conversation()),
            Arrival::Accepted => Ok(self.mailboxes.readmit(&user, place.conversation())),
        };
        let slot = match admitted {
            Err(refusal) if standing != Standing::Owner => {
                self.refuse_press(pressed, Refused::Full(refusal.full));
                return Ok(Fate::Dropped("no_room"));
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
        Ok(Fate::Pending)
    }

    /// Ends the waiting of a button that nothing is done for, and says why. While very many such answers are under way,
    /// further ones are left out.
    fn refuse_press(self: &Arc<Self>, pressed: Box<CallbackView>, why: Refused) {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else { return };
        let this = Arc::clone(self);
        self.background.spawn("no_room", async move {
            let _room = room;
            let _dealt_with = this.commands.refuse_press(&pressed, why).await;
        });
    }

    /// Someone who may not talk to the bot writes to it in private: its owners are asked, and they are told so, once. While too many such notices
    /// wait, the message is as if it had not come, and the next one counts as the first.
    pub(super) async fn refuse_unknown(
        self: &Arc<Self>,
        part: Inbound,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else {
            return Ok(Fate::Dropped("too_many_notices"));
        };
        let is_new = self.settings.greet_stranger(&part.speaker.user, self.clock.now()).await?;
        // One that a stop left open was marked as told, and was not told.
        if !is_new && arrival == Arrival::New {
            return Ok(Fate::Dropped("stranger"));
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
        Ok(Fate::Refused(Reception::Stranger))
    }

    /// Someone opened a link that makes an owner; `true` if it was good and they own the bot now. None is good while the
    /// settings name the owners.
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
        let (this, part, line) = (Arc::clone(self), part.clone(), line.clone());
        let asker = Asker::new(&part, Standing::Owner);
        self.background.spawn("owner_invite", async move {
            if let Outcome::Card(card) = this.commands.run(&line, &part, &asker).await {
                let title = Some(this.commands.cards.texts(&asker).owner_invite_redeemed().to_owned());
                this.show(id, &asker, Card { title, ..card }).await;
            }
        });
        Ok(true)
    }
}
