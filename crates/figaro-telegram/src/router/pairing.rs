//! Pairing codes that owners give to people: a stranger who sends a code in private, or opens its link, gets access.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::{Asker, Card, named};
use crate::inbound::CommandLine;
use figaro_agent::outbound::NoticeRoom;
use figaro_base::ids::UserId;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::code::PairingCode;
use figaro_domain::message::Inbound;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

impl Router {
    /// Handles a private message of a stranger: a valid code gives access, anything else is refused.
    pub(super) async fn stranger(
        self: &Arc<Self>,
        part: Inbound,
        line: Option<&CommandLine>,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let presented = self.presented(&part, line);
        let is_mistyped = presented.is_some_and(PairingCode::is_mistyped);
        match presented.and_then(PairingCode::read) {
            Some(code) => self.pair(part, &code).await,
            None if is_mistyped => Ok(self.mistyped(part)),
            None => {
                if line.is_none() {
                    self.keep_first(&part);
                }
                self.refuse_unknown(part, arrival)
            }
        }
    }

    /// Returns a possible code: the text of a message or the argument of a link; `None` if codes are disabled.
    fn presented<'a>(&'a self, part: &'a Inbound, line: Option<&'a CommandLine>) -> Option<&'a str> {
        let words = match line {
            Some(line) => self.commands.find(&line.name)?.invitation(&line.argument)?,
            None if part.forwarded_from.is_none() => &part.text,
            None => return None,
        };
        Some(words).filter(|_| self.requests.asks())
    }

    async fn pair(self: &Arc<Self>, part: Inbound, code: &str) -> Result<UpdateFate, StoreError> {
        let (user, now) = (part.speaker.user.clone(), self.clock.now());
        let room = match self.room_to_guess(&user) {
            Ok(room) => room,
            Err(fate) => return Ok(fate),
        };
        let change =
            AccessChange::Pair { code: self.requests.code_key.hash(code), user: user.clone(), at: now };
        if !self.settings.change_access(change, AuditActor::Person(user.clone())).await? {
            return Ok(self.tell_wrong(part, room, Texts::code_wrong));
        }
        tracing::info!(%user, "somebody came in with a code");
        let this = Arc::clone(self);
        self.background.spawn("pairing", async move {
            let _room = room;
            let asker = Asker::new(&part, Standing::Member);
            this.tell_who_came_in(&asker).await;
            let words = this.commands.cards.texts(&asker).access_greeting();
            this.show(part.origin.update(), &asker, Card::text(words)).await;
            this.answer_first().await;
        });
        Ok(UpdateFate::Pending)
    }

    /// Handles a mistyped code. It counts as a wrong one, which limits the number of answers.
    fn mistyped(self: &Arc<Self>, part: Inbound) -> UpdateFate {
        match self.room_to_guess(&part.speaker.user) {
            Ok(room) => self.tell_wrong(part, room, Texts::code_mistyped),
            Err(fate) => fate,
        }
    }

    /// Returns room for the answer to a code, unless the person has sent too many wrong ones.
    fn room_to_guess(&self, user: &UserId) -> Result<NoticeRoom, UpdateFate> {
        if !self.guesses.lock().may_guess(user, self.clock.now()) {
            return Err(UpdateFate::Dropped("too_many_codes"));
        }
        self.commands.cards.sender.limiter.notice_room().ok_or(UpdateFate::Dropped("too_many_notices"))
    }

    /// Counts a wrong code and tells the person that it is wrong.
    fn tell_wrong(
        self: &Arc<Self>,
        part: Inbound,
        room: NoticeRoom,
        words: fn(&Texts) -> &str,
    ) -> UpdateFate {
        let has_more = self.guesses.lock().note_wrong(part.speaker.user.clone(), self.clock.now());
        let this = Arc::clone(self);
        self.background.spawn("pairing", async move {
            let _room = room;
            let asker = Asker::new(&part, Standing::Member);
            let texts = this.commands.cards.texts(&asker);
            let words = if has_more { words(texts) } else { texts.code_wrong_last() };
            let words = fill(words, &[("hours", &PairingCode::HOURS.to_string())]);
            this.show(part.origin.update(), &asker, Card::text(words)).await;
        });
        UpdateFate::Pending
    }

    async fn tell_who_came_in(&self, asker: &Asker) {
        let who = named(&asker.speaker.name, asker.speaker.username.as_deref());
        let words = |texts: &Texts| fill(texts.code_used(), &[("who", &who)]);
        self.owners.tell(self.commands.cards.languages.locales.map(words)).await;
    }
}
