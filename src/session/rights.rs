//! What a question may do, judged when its turn begins: much may have changed while it waited in its lane.

use super::question::Question;
use super::turn::Turns;
use crate::domain::access::AccessList;
use crate::domain::chat::Place;
use crate::domain::task::{Ended, PauseReason, Task, TaskChange};
use crate::ids::{RunId, UserId};
use crate::policy::access::{Verdict, judge};
use crate::store::StoreError;

impl Turns {
    /// Whether whoever asks may still talk to the bot; if not, their updates are settled without an answer.
    pub(super) async fn admits(&self, question: &Question) -> Result<bool, StoreError> {
        let Some(first) = question.parts.first() else { return Ok(false) };
        let list = self.settings.access().await?;
        if self.may_talk(&list, &first.place, &first.speaker.user) {
            return Ok(true);
        }
        tracing::info!(user = %first.speaker.user, "a question that waited is dropped: its writer may not talk any more");
        let updates: Vec<_> = question.parts.iter().map(|part| part.update).collect();
        self.inbox.settle(&updates).await?;
        Ok(false)
    }

    /// Whether a task's creator may still talk to the bot; if not, the run ends unmade and the task is paused.
    pub(super) async fn admits_task(&self, task: &Task, run: RunId) -> Result<bool, StoreError> {
        let list = self.settings.access().await?;
        if self.may_talk(&list, &task.place, &task.creator.user) {
            return Ok(true);
        }
        tracing::info!(task = %task.id, user = %task.creator.user, "a task of someone who may not talk to the bot any more is paused");
        let changes = [TaskChange::Pause(PauseReason::Denied), TaskChange::Settle(run, Ended::Withdrawn)];
        for change in changes {
            self.tasks.change_tasks(vec![(task.id, change)], Vec::new(), self.now()).await?;
        }
        Ok(false)
    }

    fn may_talk(&self, list: &AccessList, place: &Place, user: &UserId) -> bool {
        matches!(judge(&self.access, list, place, user), Verdict::Allow(_))
    }
}
