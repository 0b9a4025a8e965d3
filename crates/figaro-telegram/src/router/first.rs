//! The first questions of people who are not let in yet. They are answered once an owner lets them in, so that nobody has to
//! ask again. They are in memory alone: of a stranger nothing is stored.

use std::sync::Arc;

use chrono::TimeDelta;

use super::{Arrival, Router};
use figaro_domain::message::Inbound;
use figaro_policy::access::{Verdict, judge};
use figaro_store::StoreError;

/// So many people's questions wait, the newest.
const MAX_WAITING: usize = 20;
/// An older question is not answered.
const MAX_AGE: TimeDelta = TimeDelta::hours(24);

impl Router {
    /// Has what a stranger wrote wait, if nothing of theirs does.
    pub(super) fn keep_first(&self, part: &Inbound) {
        let mut waiting = self.first_questions.lock();
        if waiting.iter().any(|one| one.speaker.user == part.speaker.user) {
            return;
        }
        if waiting.len() >= MAX_WAITING {
            waiting.remove(0);
        }
        waiting.push(part.clone());
    }

    /// Puts the questions of those who were let in meanwhile into their queues.
    pub(super) async fn answer_first(self: &Arc<Self>) {
        if let Err(error) = self.take_first().await {
            tracing::error!(%error, label = error.label(), "the first question of somebody is not answered");
        }
    }

    async fn take_first(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.first_questions.lock().is_empty() {
            return Ok(());
        }
        let list = self.settings.access().await?;
        let verdict =
            |part: &Inbound| judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now());
        let is_settled = |part: &mut Inbound| !matches!(verdict(part), Verdict::Stranger);
        let settled: Vec<Inbound> = self.first_questions.lock().extract_if(.., is_settled).collect();
        for part in settled {
            let Verdict::Allow(standing) = verdict(&part) else { continue };
            // Nobody waits for the answer to a question of last week.
            if self.clock.now() - part.sent_at > MAX_AGE {
                continue;
            }
            if let Err(error) = self.talk(part.clone(), standing, Arrival::New).await {
                tracing::error!(%error, label = error.label(), "the first question of somebody is not answered yet");
                self.first_questions.lock().push(part);
            }
        }
        Ok(())
    }
}
