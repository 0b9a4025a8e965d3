//! The embedder as the memory of chats asks it: questions within a bound of time, messages in batches. What fails is logged once
//! for each kind, and retrieval goes on with words alone.

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
use figaro_provider::embed::{EmbedError, Embedder, Purpose};

/// A question waits so long for the vector that a service makes of it.
const SERVICE_TIMEOUT: Duration = Duration::from_millis(300);
/// The same for a model of this machine, which may have to be read from its file first.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(2);
/// After so many questions without a vector, one behind the other, no more are asked for a while.
const MAX_FAILURES: u32 = 3;
/// So long.
const PAUSE: Duration = Duration::from_secs(60);

/// Makes vectors of questions and messages, on somebody's bill. Cheap to clone; clones share what they know of failures.
#[derive(Debug, Clone)]
pub struct Meaning {
    embedder: Arc<dyn Embedder>,
    ledger: Arc<Ledger>,
    clock: Clock,
    failures: Arc<Mutex<Failures>>,
}

#[derive(Debug, Default)]
struct Failures {
    /// The kinds that the log has been told of since the last success in the background.
    told: HashSet<&'static str>,
    /// How many questions in a row got no vector.
    questions: u32,
    /// When the last of them failed, by the steady clock.
    at: Duration,
}

impl Meaning {
    /// This embedder, whose calls are booked in these books.
    #[must_use]
    pub fn new(embedder: Arc<dyn Embedder>, ledger: Arc<Ledger>, clock: Clock) -> Self {
        Self { embedder, ledger, clock, failures: Arc::default() }
    }

    /// The name of the model: only vectors of one name can be compared.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        self.embedder.name()
    }

    /// Whether today's caps leave room for vectors that nobody waits for; what costs nothing always does.
    #[must_use]
    pub(crate) fn has_spare(&self) -> bool {
        self.embedder.is_local() || self.ledger.has_spare()
    }

    /// The vector of a question; `None` where none comes in time.
    pub(super) async fn of_question(&self, text: &str, payer: Payer) -> Option<ByteVector> {
        if text.trim().is_empty() || self.is_pausing() {
            return None;
        }
        let limit = if self.embedder.is_local() { LOCAL_TIMEOUT } else { SERVICE_TIMEOUT };
        let texts = [text];
        let embedder = self.metered(payer);
        let asked = timeout(limit, embedder.embed(Purpose::Question, &texts)).await;
        let made = asked.unwrap_or(Err(EmbedError::Provider(ProviderError::Stalled(limit))));
        match made {
            Ok(embedded) => {
                self.with_failures(|failures| failures.questions = 0);
                embedded.vectors.first().map(|vector| ByteVector::of(vector))
            }
            Err(error) => {
                let now = self.clock.steady();
                self.with_failures(|failures| {
                    failures.questions = failures.questions.saturating_add(1);
                    failures.at = now;
                });
                self.tell(&error);
                None
            }
        }
    }

    /// The vectors of messages, one each, in order.
    pub(super) async fn of_messages(
        &self,
        texts: &[&str],
        payer: Payer,
    ) -> Result<Vec<ByteVector>, EmbedError> {
        let made = self.metered(payer).embed(Purpose::Passage, texts).await;
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

    /// Whether so many questions got no vector that the next ones do not wait for one.
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
