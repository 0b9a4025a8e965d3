//! Messages of other bots: those that an owner allowed in a group are answered when they speak to this one, within bounds.

use std::sync::Arc;

use super::{Arrival, Fate, Router};
use crate::commands::Card;
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_policy::bots::Ruling;
use figaro_prompts::texts::fill;
use figaro_store::StoreError;

impl Router {
    /// The message of a bot that is allowed in its group; `None` for any other message.
    pub(super) async fn read_bot(
        &self,
        id: UpdateId,
        view: &MessageView,
    ) -> Result<Option<Inbound>, StoreError> {
        let Some(part) = inbound::read_bot(id, view, &self.me).filter(|part| part.place.is_group()) else {
            return Ok(None);
        };
        let list = self.settings.access().await?;
        let is_heard =
            part.speaker.username.as_ref().is_some_and(|name| list.hears_bot(part.place.chat, name));
        Ok(Some(part).filter(|_| is_heard))
    }

    /// A message of a bot that is allowed here. It gives no commands, and is answered only where it speaks to this one, whatever
    /// the settings of the chat.
    pub(super) async fn bot_spoke(
        self: &Arc<Self>,
        part: Inbound,
        is_command: bool,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        if is_command {
            return Ok(Fate::Dropped("command_of_a_bot"));
        }
        if !part.is_addressed() {
            return self.add_background(&part, Reception::NotAddressed).await;
        }
        let (chat, bot) = (part.place.chat, part.speaker.user.clone());
        let ruling = self.heard(&part);
        match ruling {
            Ruling::Answer => self.talk(part, Standing::Borrowed, arrival).await,
            Ruling::Stop { is_first: false } => Ok(Fate::Dropped("bots_loop")),
            Ruling::Stop { is_first: true } => {
                tracing::info!(%chat, %bot, "a bot is not answered for now: it and this one had only each other to answer");
                let language = self.commands.language(chat, None).await;
                let name = part.speaker.username.as_deref().unwrap_or_default();
                let locales = &self.commands.cards.languages.locales;
                let words = fill(locales.of(language.as_deref()).bots_loop(), &[("bot", name)]);
                Ok(self.answer(&part, Standing::Borrowed, Card::text(words), None))
            }
        }
    }

    fn heard(&self, part: &Inbound) -> Ruling {
        let mut exchanges = self.exchanges.lock();
        exchanges.heard(part.place.chat, &part.speaker.user, &part.text, self.clock.now())
    }

    /// A person writes in a chat: bots may be answered there again.
    pub(super) fn person_spoke(&self, part: &Inbound) {
        self.exchanges.lock().person_spoke(part.place.chat);
    }
}
