//! Runs the turns of the gateway: by the bot's own stages in its store or, where nothing is to be kept, by stages that keep nothing.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::metrics::Meters;
use super::{Cut, Hub, Turn, last, unnamed};
use figaro_agent::delivery::OutsideEvent;
use figaro_agent::eraser::Eraser;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_store::Store;

/// Runs the turns of the gateway.
#[derive(Debug)]
pub struct GatewayRunner {
    /// The turns that can be followed.
    pub hub: Hub,
    /// Runs those that belong to a session.
    pub kept: Turns,
    /// The store of those.
    pub store: Store,
    /// Erases what nobody can name any more.
    pub eraser: Eraser,
    /// Runs those of which nothing is kept.
    pub stateless: Arc<dyn Runner>,
    /// Counts how turns end.
    pub meters: Arc<Meters>,
    /// Gives the current time.
    pub clock: Clock,
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
        let next = if requested.is_stateless {
            self.stateless.run(job, control).await
        } else if self.may_resume(&over.turn).await {
            self.kept.run(job, control).await
        } else {
            return None;
        };
        self.account(&over.turn);
        if let Some(user) = user.filter(|_| !requested.is_stateless) {
            self.erase_unnamed(&over.turn, user).await;
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
                turn.tell(OutsideEvent::Declined(String::new()));
                false
            }
        }
    }

    async fn erase_unnamed(&self, turn: &Turn, user: UserId) {
        if let Err(error) = unnamed::erase(&self.eraser, &self.hub, turn.conversation(), user).await {
            tracing::error!(%error, label = error.label(), "what is left of an erased session stays");
        }
    }

    /// Counts what a turn came to, whoever still follows it.
    fn account(&self, turn: &Turn) {
        let closing = turn.closing();
        let tokens = closing.as_ref().map_or(0, |closing| closing.usage.total());
        turn.account().spend(tokens, self.clock.now().date_naive());
        self.meters.turn(turn.client(), closing.as_ref().map(|closing| &closing.ending), tokens);
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
