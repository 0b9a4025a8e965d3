//! Embedder for the memory of chats: questions within a time limit, messages in batches. Each kind of failure is logged
//! once, and retrieval continues with words alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::timeout;

use figaro_base::clock::Clock;
use figaro_domain::usage::Payer;
use figaro_domain::vector::ByteVector;
use figaro_ledger::{Ledger, MeteredEmbedder};
use figaro_provider::ProviderError;
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedder};

/// Time that a question waits for its vector from a service.
const SERVICE_TIMEOUT: Duration = Duration::from_millis(300);
/// Time that a question waits for its vector from a local model, which may have to be loaded first.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Consecutive questions without a vector after which no more vectors are requested for a while.
const MAX_FAILURES: u32 = 3;
/// Length of that pause.
const PAUSE: Duration = Duration::from_secs(60);

/// Makes vectors of questions and messages at a payer's cost. Cheap to clone; clones share the record of failures.
#[derive(Debug, Clone)]
pub struct Meaning {
    embedder: Arc<dyn Embedder>,
    ledger: Arc<Ledger>,
    clock: Clock,
    failures: Arc<Mutex<Failures>>,
}

#[derive(Debug, Default)]
struct Failures {
    /// Kinds of failures logged since the last success in the background.
    told: HashSet<&'static str>,
    /// Number of consecutive questions without a vector.
    questions: u32,
    /// Time of the last of them, by the steady clock.
    at: Duration,
}

impl Meaning {
    /// Wraps this embedder; its calls are booked in this ledger.
    #[must_use]
    pub fn new(embedder: Arc<dyn Embedder>, ledger: Arc<Ledger>, clock: Clock) -> Self {
        Self { embedder, ledger, clock, failures: Arc::default() }
    }

    /// Returns the name of the model: only vectors of one model can be compared.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        self.embedder.name()
    }

    /// Returns `true` if the bot's limits leave room for background vectors; a local model, which costs nothing, always has
    /// room.
    #[must_use]
    pub(crate) fn has_spare(&self) -> bool {
        self.embedder.is_local() || self.ledger.has_spare()
    }

    /// Returns the vector of a question; `None` if it does not arrive in time.
    pub(super) async fn of_question(&self, text: &str, payer: Payer) -> Option<ByteVector> {
        if text.trim().is_empty() || self.is_pausing() {
            return None;
        }
        let limit = if self.embedder.is_local() { LOCAL_TIMEOUT } else { SERVICE_TIMEOUT };
        let texts = [text];
        let embedder = self.metered(payer);
        let asked = timeout(limit, embedder.embed(EmbedPurpose::Question, &texts)).await;
        let made = asked.unwrap_or(Err(EmbedError::Provider(ProviderError::Stalled(limit))));
        match made {
            Ok(embedded) => {
                self.with_failures(|failures| failures.questions = 0);
                embedded.vectors.first().map(|vector| ByteVector::of(vector))
            }
            Err(error) => {
                // A limit of one payer says nothing about the questions of others.
                if !matches!(error, EmbedError::OverBudget | EmbedError::Unpriced(_)) {
                    let now = self.clock.steady();
                    self.with_failures(|failures| {
                        failures.questions = failures.questions.saturating_add(1);
                        failures.at = now;
                    });
                }
                self.tell(&error);
                None
            }
        }
    }

    /// Returns the vectors of messages, one each, in order.
    pub(super) async fn of_messages(
        &self,
        texts: &[&str],
        payer: Payer,
    ) -> Result<Vec<ByteVector>, EmbedError> {
        let made = self.metered(payer).embed(EmbedPurpose::Passage, texts).await;
        let made = made.inspect_err(|error| self.tell(error))?;
        self.with_failures(|failures| {
            failures.told.clear();
            failures.questions = 0;
        });
        Ok(made.vectors.iter().map(|vector| ByteVector::of(vector)).collect())
    }

    fn metered(&self, payer: Payer) -> MeteredEmbedder {
        MeteredEmbedder::new(self.embedder.clone(), self.ledger.clone(), payer)
    }

    /// Returns `true` during the pause after too many failures, in which questions do not wait for a vector.
    fn is_pausing(&self) -> bool {
        let now = self.clock.steady();
        self.with_failures(|failures| {
            failures.questions >= MAX_FAILURES && now.saturating_sub(failures.at) < PAUSE
        })
    }

    fn tell(&self, error: &EmbedError) {
        let label = error.label();
        if matches!(error, EmbedError::Stopped) || !self.with_failures(|failures| failures.told.insert(label))
        {
            return;
        }
        let model = self.name();
        tracing::warn!(%error, label, model, "there are no vectors; older messages are found by their words alone");
    }

    fn with_failures<T>(&self, work: impl FnOnce(&mut Failures) -> T) -> T {
        work(&mut self.failures.lock())
    }
}
