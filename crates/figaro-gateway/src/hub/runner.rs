//! Runs the turns of the gateway: with the bot's own stages and store, or with stateless stages if nothing is to be
//! stored.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::counters::BotCounters;
use super::{Hub, HubTurn, TurnCutoff, last, unnamed};
use figaro_agent::delivery::OutsideEvent;
use figaro_agent::eraser::Eraser;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::pipeline::Turns;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_base::ids::UserId;
use figaro_store::Store;

/// Runs the turns of the gateway.
#[derive(Debug)]
pub struct GatewayRunner {
    /// Turns that can be followed.
    pub hub: Hub,
    /// Runs turns that belong to a session.
    pub kept: Turns,
    /// Store of the sessions.
    pub store: Store,
    /// Eraser of conversations that no longer have a name.
    pub eraser: Eraser,
    /// Runs stateless turns.
    pub stateless: Arc<dyn Runner>,
    /// Counters of outcomes.
    pub counters: BotCounters,
}

/// Ends a turn for its followers on drop, even after a panic.
struct TurnEndGuard<'a> {
    hub: &'a Hub,
    turn: Arc<HubTurn>,
}

impl Drop for TurnEndGuard<'_> {
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
        // If there is no turn, nobody waits for it any longer.
        let over = TurnEndGuard { hub: &self.hub, turn: self.hub.begin(requested.id, &control)? };
        let next = if requested.is_stateless {
            self.stateless.run(job, control).await
        } else if self.may_resume(&over.turn) {
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
    /// Returns `true` if a turn brings no results, or those that its session waits for. Checked once the turn is the
    /// only one running there: another question may come first until then.
    fn may_resume(&self, turn: &HubTurn) -> bool {
        let Some(mark) = turn.resumes() else { return true };
        match last::has_left(&self.store, turn.conversation(), mark) {
            Ok(true) => true,
            Ok(false) => {
                turn.cut_off(TurnCutoff::Foreign);
                false
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), "the last question of a session cannot be read");
                turn.tell(OutsideEvent::Declined(String::new()));
                false
            }
        }
    }

    async fn erase_unnamed(&self, turn: &HubTurn, user: UserId) {
        if let Err(error) = unnamed::erase(&self.eraser, &self.hub, turn.conversation(), user).await {
            tracing::error!(%error, label = error.label(), "what is left of an erased session stays");
        }
    }

    /// Counts the outcome and the usage of a turn.
    fn account(&self, turn: &HubTurn) {
        let closing = turn.closing();
        let tokens = closing.as_ref().map_or(0, |closing| closing.usage.total());
        self.counters.turn(turn.client(), closing.as_ref().map(|closing| &closing.ending), tokens);
    }
}

/// Returns the question of a job. Other jobs have no caller who waits for them.
fn asked(job: &Job) -> Option<&Question> {
    match job {
        Job::Ask(question) | Job::Resume(_, question) => Some(question),
        Job::Again(again) => Some(&again.asked),
        Job::GoOn(_) | Job::Task(_) | Job::Deliver(_) | Job::Show(_) => None,
    }
}
