//! `/stop`: ends the turn of a conversation, which works also where there is no room; where none runs, it gives up the one that
//! waits for a person there. And the buttons under the questions of such turns.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Choose, Family};
use figaro_agent::turn::parked::{Choice, Parked};
use figaro_agent::turn::queue::{Job, Mailboxes};
use figaro_domain::message::Inbound;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Ends the turn of a conversation, and takes the answers that turns wait for.
#[derive(Debug)]
pub(super) struct Stop {
    cards: Cards,
    mailboxes: Mailboxes,
    parked: Parked,
}

impl Stop {
    pub(super) fn new(handles: &Handles) -> Self {
        let (cards, mailboxes) = (handles.cards.clone(), handles.mailboxes.clone());
        Self { cards, mailboxes, parked: handles.parked.clone() }
    }
}

#[async_trait]
impl Command for Stop {
    fn name(&self) -> &'static str {
        "stop"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_stop()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Chat)
    }

    /// A question that follows is not stopped.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    fn run_without_room(&self, message: &Inbound) -> bool {
        self.mailboxes.stop(message.place.conversation()).is_some()
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let conversation = request.asker.place.conversation();
        if let Some(turn) = self.mailboxes.stop(conversation) {
            return Ok(Outcome::Stopped(Card::text(texts.stop_done()), turn));
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

    fn families(&self) -> &'static [&'static str] {
        &[Choose::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let Choose { turn, option } = press.data.parse()?;
        let asker = press.asker;
        let Some(chosen) = self.parked.choice(turn, option.into(), &asker.speaker.user) else {
            return Ok(Pressed::Stale);
        };
        let Choice::Answer { question, answer } = chosen else {
            return Ok(Pressed::toast(self.cards.texts(asker).question_not_asked()));
        };
        let Some(part) = press.ask(&answer, self.cards.now()).parts.into_iter().next() else {
            return Ok(Pressed::Stale);
        };
        let Some(conversation) = self.parked.choose(turn, &part).await? else {
            return Ok(Pressed::Stale);
        };
        // It is stored: no bound on what waits may turn it away any more.
        self.mailboxes.post(conversation, Job::GoOn(turn));
        Ok(Pressed::card(Card::text(format!("{question}\n\n✓ {answer}"))))
    }
}
