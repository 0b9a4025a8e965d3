//! First questions of people without access. They are answered when an owner allows the person, so that nobody has to
//! ask again. They are kept only in memory: nothing by a stranger is stored.

use std::sync::Arc;

use chrono::TimeDelta;

use super::{Arrival, Router};
use figaro_domain::message::Inbound;
use figaro_policy::access::{Verdict, judge};
use figaro_store::StoreError;

/// Maximum number of waiting questions; the oldest is dropped first.
const MAX_WAITING: usize = 20;
/// Maximum age of a question that is answered.
const MAX_AGE: TimeDelta = TimeDelta::hours(24);

impl Router {
    /// Keeps a stranger's message, unless one of theirs already waits.
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

    /// Queues the questions of people who were allowed meanwhile.
    pub(super) async fn answer_first(self: &Arc<Self>) {
        if let Err(error) = self.take_first().await {
            tracing::error!(%error, label = error.label(), "the first question of somebody is not answered");
        }
    }

    async fn take_first(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.first_questions.lock().is_empty() {
            return Ok(());
        }
        let list = self.settings.access()?;
        let verdict =
            |part: &Inbound| judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now());
        let is_settled = |part: &mut Inbound| !matches!(verdict(part), Verdict::Stranger);
        let settled: Vec<Inbound> = self.first_questions.lock().extract_if(.., is_settled).collect();
        for part in settled {
            let Verdict::Allow(standing) = verdict(&part) else { continue };
            // The person no longer waits for the answer to an old question.
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
