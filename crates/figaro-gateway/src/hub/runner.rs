//! Runs the turns of the gateway: by the bot's own stages, in its store or, where nothing is to be kept, in one that goes with the
//! process.

use std::sync::Arc;

use async_trait::async_trait;
use tempfile::TempDir;

use super::super::lanes::Lane;
use super::super::metrics::Meters;
use super::{Cut, Hub, Turn, last, unnamed};
use figaro_agent::delivery::Told;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_store::ErasureStore;
use figaro_store::kv::KvStore;

/// Runs the turns of the gateway.
#[derive(Debug)]
pub struct GatewayRunner {
    /// The turns that can be followed.
    pub hub: Hub,
    /// Runs those that belong to a session.
    pub kept: Turns,
    /// The store of those.
    pub store: Arc<KvStore>,
    /// Runs those of which nothing is kept.
    pub stateless: Stateless,
    /// Counts how turns end.
    pub meters: Arc<Meters>,
}

/// Runs turns of which nothing is kept.
#[derive(Debug)]
pub struct Stateless {
    /// Their stages, over a store of their own.
    pub turns: Turns,
    /// Clears that store.
    pub store: Arc<dyn ErasureStore>,
    /// Gives the current time.
    pub clock: Clock,
    /// The folder of that store. It goes once the store is closed: fields are dropped in their order.
    pub folder: TempDir,
}

/// Ends a turn for its followers, also by a panic.
struct Over<'a> {
    hub: &'a Hub,
    turn: Arc<Turn>,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.hub.end(&self.turn);
    }
}

#[async_trait]
impl Runner for GatewayRunner {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        let question = asked(&job)?;
        let requested = question.requested.clone()?;
        let user = question.asker().map(|asker| asker.user.clone());
        // Nobody waits for it any more where there is no turn.
        let over = Over { hub: &self.hub, turn: self.hub.begin(requested.id, &control)? };
        if !requested.is_stateless {
            if !self.may_resume(&over.turn).await {
                return None;
            }
            let next = self.kept.run(job, control).await;
            self.account(&over.turn);
            if let Some(user) = user {
                self.erase_unnamed(&over.turn, user).await;
            }
            return next;
        }
        let mut lane = over.turn.take_lane();
        lane.iter_mut().for_each(Lane::mark_used);
        let next = self.stateless.turns.run(job, control).await;
        let conversation = over.turn.conversation();
        self.account(&over.turn);
        drop(over);
        // What could not be cleared is not to be seen by the next one.
        if let Some(user) = user
            && self.stateless.clear(conversation.chat, user).await
        {
            lane.iter_mut().for_each(Lane::mark_cleared);
        }
        next
    }
}

impl GatewayRunner {
    /// Whether a turn brings no results, or those that its session waits for. It is asked once the turn is the only one at work
    /// there: before that, another question may come between.
    async fn may_resume(&self, turn: &Turn) -> bool {
        let Some(mark) = turn.resumes() else { return true };
        match last::has_left(&self.store, turn.conversation(), mark).await {
            Ok(true) => true,
            Ok(false) => {
                turn.cut_off(Cut::Foreign);
                false
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), "the last question of a session cannot be read");
                turn.tell(Told::Declined(String::new()));
                false
            }
        }
    }

    async fn erase_unnamed(&self, turn: &Turn, user: UserId) {
        let now = self.stateless.clock.now();
        if let Err(error) = unnamed::erase(&self.store, &self.hub, turn.conversation(), user, now).await {
            tracing::error!(%error, label = error.label(), "what is left of an erased session stays");
        }
    }

    /// Counts what a turn came to, whoever still follows it.
    fn account(&self, turn: &Turn) {
        let closing = turn.closing();
        let tokens = closing.as_ref().map_or(0, |closing| closing.usage.total());
        turn.account().spend(tokens, self.stateless.clock.now().date_naive());
        self.meters.turn(closing.as_ref().map(|closing| &closing.ending), tokens);
    }
}

impl Stateless {
    async fn clear(&self, chat: ChatId, user: UserId) -> bool {
        match self.store.erase(&Erasure::Chat(chat, user), self.clock.now()).await {
            Ok(Forgotten::Done(_)) => true,
            Ok(Forgotten::Busy) => false,
            Err(error) => {
                tracing::error!(%error, "what a question over HTTP has left could not be cleared");
                false
            }
        }
    }
}

/// The question of a job; what else there is has nobody who waits for it.
fn asked(job: &Job) -> Option<&Question> {
    match job {
        Job::Ask(question) | Job::Resume(_, question) => Some(question),
        Job::Again(again) => Some(&again.asked),
        Job::GoOn(_) | Job::Task(_) | Job::Deliver(_) => None,
    }
}
