//! `/stop`: stops the running turn of a conversation, also when the queue is full; if none runs, gives up the turn
//! that waits for a person there. Also handles the buttons under the questions of such turns.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{ButtonFamily, ChooseButton};
use figaro_agent::turn::parked::{AnswerChoice, Parked};
use figaro_agent::turn::queue::{Job, Mailboxes};
use figaro_domain::message::Inbound;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Stops turns, and handles the answers that turns wait for.
#[derive(Debug)]
pub(super) struct StopCommand {
    cards: Cards,
    mailboxes: Mailboxes,
    parked: Parked,
}

impl StopCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let (cards, mailboxes) = (handles.cards.clone(), handles.mailboxes.clone());
        Self { cards, mailboxes, parked: handles.parked.clone() }
    }
}

#[async_trait]
impl Command for StopCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("stop", Texts::command_stop).group(Group::Chat).families(&[ChooseButton::NAME])
    }

    /// Questions that follow must not be stopped.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    fn run_without_room(&self, message: &Inbound) -> bool {
        self.mailboxes.stop(message.place.conversation()).is_some()
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let conversation = request.asker.place.conversation();
        if let Some(turn) = self.mailboxes.stop(conversation) {
            return Ok(CommandOutcome::Stopped(Card::text(texts.stop_done()), turn));
        }
        let (by, may_all) = (&request.asker.speaker, self.cards.may_change(request.asker).await);
        let stopped = self.parked.stop(conversation, by, may_all).await?;
        Ok(match stopped {
            Some(question) => Card::markdown(&fill(texts.stop_called_off(), &[("question", &question)])),
            None if self.parked.has_approval_of_others(conversation, &by.user) => {
                Card::text(texts.approval_waits_here())
            }
            None => Card::text(texts.stop_nothing()),
        }
        .into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let ChooseButton { turn, option } = press.data.parse()?;
        let asker = press.asker;
        let Some(chosen) = self.parked.choice(turn, option.into(), &asker.speaker.user) else {
            return Ok(Pressed::Stale);
        };
        let AnswerChoice::Answer { question, answer } = chosen else {
            return Ok(Pressed::toast(self.cards.texts(asker).question_not_asked()));
        };
        let Some(part) = press.ask(&answer, self.cards.now()).parts.into_iter().next() else {
            return Ok(Pressed::Stale);
        };
        let Some(conversation) = self.parked.choose(turn, &part).await? else {
            return Ok(Pressed::Stale);
        };
        // The answer is stored, so limits on waiting jobs must not reject it.
        self.mailboxes.post(conversation, Job::GoOn(turn));
        Ok(Pressed::card(Card::text(format!("{question}\n\n✓ {answer}"))))
    }
}
