//! Messages other than commands: questions, answers to questions of the bot, and background.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::{Asker, Zones};
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, QueuedJob};
use figaro_domain::catch_up::KEPT_BACKGROUND;
use figaro_domain::chat::{AnswerWhen, ChatConfig};
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_store::StoreError;

impl Router {
    /// Handles a message that is not a command: a question, an answer to a question of the bot, or background.
    pub(super) async fn talk(
        self: &Arc<Self>,
        part: Inbound,
        standing: Standing,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        // An answer to a question of the bot is not refused for a full queue or by a setting.
        if let Some(fate) = self.asked_of_writer(&part, standing, arrival).await? {
            return Ok(fate);
        }
        let config = match self.settings.chat_config(part.place.chat) {
            // The settings will not be readable later either, and the question must still be answered.
            Err(error @ StoreError::Record { .. }) => {
                tracing::error!(%error, chat = %part.place.chat, "settings cannot be read; those of a new chat hold");
                ChatConfig::default()
            }
            config => config?,
        };
        let unmeant = match config.answer_when {
            _ if !part.place.is_group() => None,
            AnswerWhen::Always => None,
            AnswerWhen::Mention => (!part.is_addressed()).then_some(Reception::NotAddressed),
            AnswerWhen::Off => Some(Reception::Off),
        };
        let continues = self.mailboxes.continues(&part);
        if let Some(why) = unmeant.filter(|_| !continues) {
            return self.add_background(&part, why);
        }
        let slot = match self.slot(&part, arrival) {
            Ok(slot) => slot,
            Err(refusal) => {
                let refused = self.refuse(&part, refusal);
                return match part.place.is_group() {
                    true => self.add_background(&part, Reception::NoRoom),
                    false => Ok(refused),
                };
            }
        };
        if !continues && let Some(card) = self.zones.answered(&config, &part, standing).await {
            if !Zones::is_statement(&part) {
                return Ok(self.answer(&part, standing, card, Some(slot)));
            }
            let (this, asker) = (Arc::clone(self), Asker::new(&part, standing));
            // The turn settles the update.
            self.background.spawn("zone", async move { this.show(None, &asker, card).await });
        }
        let conversation = part.place.conversation();
        let part = self.about_task(part)?;
        self.newest.note(&part.place, part.origin.message());
        let job = Job::Ask(Question::new(part, standing));
        self.mailboxes.post(conversation, QueuedJob::new(job, Some(slot)));
        Ok(UpdateFate::Asked)
    }

    /// Handles an answer to a question by a turn or a card; `None` for any other message.
    async fn asked_of_writer(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        arrival: Arrival,
    ) -> Result<Option<UpdateFate>, StoreError> {
        if let Some(card) = self.personas.answered(part, standing).await? {
            return Ok(Some(self.answer(part, standing, card, None)));
        }
        if let Some(run) = self.parked.answered_by(part).await
            && let Some(conversation) = self.parked.answer(run, part).await?
        {
            self.mailboxes.post(conversation, Job::GoOn(run));
            return Ok(Some(UpdateFate::Settled));
        }
        self.words_asked_for(part, standing, arrival).await
    }

    pub(super) fn add_background(&self, part: &Inbound, why: Reception) -> Result<UpdateFate, StoreError> {
        self.conversations.add_background(part.place.conversation(), part, KEPT_BACKGROUND)?;
        Ok(UpdateFate::Kept(why))
    }
}
