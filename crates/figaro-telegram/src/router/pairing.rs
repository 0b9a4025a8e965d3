//! Codes that owners give to people: a stranger who sends one in private, or opens its link, is let in.

use std::sync::Arc;

use super::{Arrival, Fate, Router};
use crate::commands::{Asker, Card, named};
use crate::inbound::CommandLine;
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::code::PairingCode;
use figaro_domain::message::Inbound;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

impl Router {
    /// Someone who may not talk to the bot writes to it in private: a code lets them in, anything else is refused.
    pub(super) async fn stranger(
        self: &Arc<Self>,
        part: Inbound,
        line: Option<&CommandLine>,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        match self.presented(&part, line) {
            Some(code) => self.pair(part, &code).await,
            None => {
                if line.is_none() {
                    self.keep_first(&part);
                }
                self.refuse_unknown(part, arrival).await
            }
        }
    }

    /// The code that a message is, or that its link has; none where codes let nobody in.
    fn presented(&self, part: &Inbound, line: Option<&CommandLine>) -> Option<String> {
        let words = match line {
            Some(line) => self.commands.find(&line.name)?.invitation(&line.argument)?,
            None if part.forwarded_from.is_none() => &part.text,
            None => return None,
        };
        PairingCode::read(words).filter(|_| self.requests.asks())
    }

    async fn pair(self: &Arc<Self>, part: Inbound, code: &str) -> Result<Fate, StoreError> {
        let (user, now) = (part.speaker.user.clone(), self.clock.now());
        let may_guess = self.guesses.lock().may_guess(&user, now);
        if !may_guess {
            return Ok(Fate::Dropped("too_many_codes"));
        }
        let Some(room) = self.commands.cards.sender.limiter.notice_room() else {
            return Ok(Fate::Dropped("too_many_notices"));
        };
        let change =
            AccessChange::Pair { code: self.requests.code_key.hash(code), user: user.clone(), at: now };
        let is_good = self.settings.change_access(change, AuditActor::Person(user.clone())).await?;
        let asker = Asker::new(&part, Standing::Member);
        let texts = self.commands.cards.texts(&asker);
        let words = if is_good {
            tracing::info!(%user, "somebody came in with a code");
            texts.access_greeting().to_owned()
        } else {
            let has_more = self.guesses.lock().note_wrong(user, now);
            let words = if has_more { texts.code_wrong() } else { texts.code_wrong_last() };
            fill(words, &[("hours", &PairingCode::HOURS.to_string())])
        };
        let this = Arc::clone(self);
        self.background.spawn("pairing", async move {
            let _room = room;
            if is_good {
                this.tell_who_came_in(&asker).await;
            }
            this.show(part.origin.update(), &asker, Card::text(words)).await;
            this.answer_first().await;
        });
        Ok(Fate::Pending)
    }

    async fn tell_who_came_in(&self, asker: &Asker) {
        let who = named(&asker.speaker.name, asker.speaker.username.as_deref());
        let words = |texts: &Texts| fill(texts.code_used(), &[("who", &who)]);
        self.owners.tell(self.commands.cards.languages.locales.map(words)).await;
    }
}
