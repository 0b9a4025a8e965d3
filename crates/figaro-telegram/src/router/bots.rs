//! Messages of other bots: bots that an owner allowed in a group are answered when they address this bot, within
//! limits.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::Card;
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_policy::bots::BotDecision;
use figaro_prompts::texts::fill;
use figaro_store::StoreError;

impl Router {
    /// Reads the message of a bot that is allowed in its group; `None` for any other message.
    pub(super) fn read_bot(&self, id: UpdateId, view: &MessageView) -> Result<Option<Inbound>, StoreError> {
        let Some(part) = inbound::read_bot(id, view, &self.me).filter(|part| part.place.is_group()) else {
            return Ok(None);
        };
        let list = self.settings.access()?;
        let is_heard =
            part.speaker.username.as_ref().is_some_and(|name| list.hears_bot(part.place.chat, name));
        Ok(Some(part).filter(|_| is_heard))
    }

    /// Handles a message of an allowed bot. It cannot give commands, and is answered only if it addresses this bot,
    /// whatever the chat's settings.
    pub(super) async fn bot_spoke(
        self: &Arc<Self>,
        part: Inbound,
        is_command: bool,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        if is_command {
            return Ok(UpdateFate::Dropped("command_of_a_bot"));
        }
        if !part.is_addressed() {
            return self.add_background(&part, Reception::NotAddressed);
        }
        let (chat, bot) = (part.place.chat, part.speaker.user.clone());
        let ruling = self.heard(&part);
        match ruling {
            BotDecision::Answer => self.talk(part, Standing::Borrowed, arrival).await,
            BotDecision::Stop { is_first: false } => Ok(UpdateFate::Dropped("bots_loop")),
            BotDecision::Stop { is_first: true } => {
                tracing::info!(%chat, %bot, "a bot is not answered for now: it and this one had only each other to answer");
                let language = self.commands.language(chat, None);
                let name = part.speaker.username.as_deref().unwrap_or_default();
                let locales = &self.commands.cards.languages.locales;
                let words = fill(locales.of(language.as_deref()).bots_loop(), &[("bot", name)]);
                Ok(self.answer(&part, Standing::Borrowed, Card::text(words), None))
            }
        }
    }

    fn heard(&self, part: &Inbound) -> BotDecision {
        let mut exchanges = self.exchanges.lock();
        exchanges.heard(part.place.chat, &part.speaker.user, &part.text, self.clock.now())
    }

    /// Records that a person wrote in a chat, so that bots may be answered there again.
    pub(super) fn person_spoke(&self, part: &Inbound) {
        self.exchanges.lock().person_spoke(part.place.chat);
    }
}
