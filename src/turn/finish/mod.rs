//! Writes the end of a turn, then lets the courier carry the words out. Called by `turn` when its agent is done.

pub mod error;
pub(in crate::turn) mod words;

use tokio_util::sync::CancellationToken;

use self::error::Trouble;
use self::words::Said;
use super::pipeline::{End, Turns, is_group};
use super::question::Question;
use super::queue::Job;
use crate::delivery::Outcome;
use crate::domain::delivery::PendingDelivery;
use crate::domain::turn::ActiveTurn;
use crate::store::TurnEnd;
use crate::turn::run::Answer;

/// What a turn that is over leaves behind.
#[derive(Default)]
pub(in crate::turn) struct Closing {
    pub(in crate::turn) answer: Answer,
    pub(in crate::turn) said: Said,
    pub(in crate::turn) trouble: Option<Trouble>,
    pub(in crate::turn) is_stopped: bool,
}

impl Turns {
    pub(in crate::turn) async fn finish(
        &self,
        run: &ActiveTurn,
        question: &Question,
        end: End,
        cancel: &CancellationToken,
    ) -> Option<Job> {
        match self.close(run, question, end).await {
            Ok(closing) => self.end(run, question, closing, cancel).await,
            Err(next) => return next.map(|job| *job),
        }
        None
    }

    /// What is to be written and said; or, where the turn does not end now, what comes instead.
    async fn close(
        &self,
        run: &ActiveTurn,
        question: &Question,
        end: End,
    ) -> Result<Closing, Option<Box<Job>>> {
        Ok(match end {
            End::Abandon => return Err(None),
            End::Again(question) => {
                if let Err(error) = self.conversations.retract_turn(run).await {
                    self.report(&error, "a turn could not be taken back");
                    return Err(None);
                }
                return Err(Some(Box::new(Job::Ask(question))));
            }
            End::Say { answer, outcome } => {
                let said = match outcome {
                    Outcome::Stopped => self.stopped(run, &answer, question).await,
                    _ => self.words(&answer, outcome, question),
                };
                Closing { answer, said, trouble: None, is_stopped: outcome == Outcome::Stopped }
            }
            End::Tell(said) => Closing { said, ..Closing::default() },
            End::Trouble { trouble, written } => {
                let said = self.apology(run, question, &trouble, &written).await;
                Closing { answer: written, said, trouble: Some(trouble), is_stopped: false }
            }
        })
    }

    async fn end(&self, run: &ActiveTurn, question: &Question, closing: Closing, cancel: &CancellationToken) {
        // What a task had written when it failed is no answer, and it may be tried again.
        let is_void = question.task.is_some() && closing.trouble.is_some();
        let message = if is_void { None } else { self.stored(run, &closing.answer) };
        let known = &closing.answer.addresses;
        let delivery = self.delivery(run, question, message.as_ref(), (&closing.said, known));
        let early = closing.is_stopped || closing.trouble.is_some();
        let delivery = delivery.map(|delivery| PendingDelivery { early, ..delivery });
        let change = self.settled(run, question, &closing, delivery.is_some()).await;
        let cards = self.cards(run, question, &closing.answer.tasks).await;
        let end = TurnEnd {
            messages: message.into_iter().collect(),
            delivery: delivery.clone(),
            cards: cards.clone(),
            task: change.map(|change| (change, self.now())),
        };
        if let Err(error) = self.conversations.end_turn(run, end).await {
            // Not written, so not sent either: the next start runs the turn again.
            self.report(&error, "an answer could not be stored");
            return self.hold(question).await;
        }
        let declines = closing.trouble.is_some() && (delivery.is_none() || is_group(question));
        self.carry(run, delivery, cancel).await;
        for card in cards {
            self.courier.deliver(card, &CancellationToken::new()).await;
        }
        if declines {
            self.decline(question, &self.texts(question).trouble_internal).await;
        }
    }

    async fn carry(&self, run: &ActiveTurn, delivery: Option<PendingDelivery>, cancel: &CancellationToken) {
        match delivery {
            // A stop that ended the turn does not stop what it left from being delivered.
            Some(delivery) if cancel.is_cancelled() => {
                self.courier.deliver(delivery, &CancellationToken::new()).await;
            }
            Some(delivery) => self.courier.deliver(delivery, cancel).await,
            None => self.courier.withdraw(run.id).await,
        }
    }

    /// Says that a question stays in the inbox, so that nobody sends it again and gets two answers.
    pub(in crate::turn) async fn hold(&self, question: &Question) {
        self.decline(question, &self.texts(question).trouble_kept).await;
    }

    async fn decline(&self, question: &Question, words: &str) {
        // Of a task, its creator is told.
        if let Some(part) = question.parts.first().filter(|_| question.task.is_none()) {
            let words = format!("⚠️ {words}");
            self.courier.decline(&part.place, part.message, &words).await;
        }
    }
}
