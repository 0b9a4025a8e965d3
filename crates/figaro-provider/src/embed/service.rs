//! Embedding model of a service. Texts go in batches, passing failures are retried, and results are checked. The
//! [`Wire`] sends the requests.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::time::sleep;
use tracing::info;

use super::{EmbedError, EmbedPurpose, Embedded, Embedder, MAX_TEXTS, texts_of_a_call, unit};
use crate::ProviderError;
use crate::retry::RetryPolicy;
use figaro_base::text::{estimate_tokens, first_tokens};

/// Minimum number of tokens that texts are cut to if a service finds them too long.
const MIN_TOKENS: usize = 128;
/// Replacement for a text without letters. Services refuse empty texts.
const BLANK: &str = ".";

/// Request for vectors in the dialect of a service.
#[async_trait]
pub(crate) trait Wire: Debug + Send + Sync {
    /// Sends one request. The texts are few enough, and none is empty.
    async fn ask(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<EmbeddingResponse, ProviderError>;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EmbeddingResponse {
    /// Vectors in the order of the texts, not normalised.
    pub(crate) vectors: Vec<Vec<f32>>,
    /// Tokens of the texts, if the service reports them.
    pub(crate) tokens: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct EmbedService {
    name: String,
    wire: Box<dyn Wire>,
    policy: RetryPolicy,
    /// Maximum length of a text, in tokens. Lowered once the service has found texts too long.
    max_tokens: AtomicUsize,
    /// Number of dimensions of the vectors, once known.
    dimensions: OnceLock<usize>,
}

impl EmbedService {
    /// Creates the model of this name. `max_tokens` is the maximum length of a text as far as known.
    pub(crate) fn new(name: String, wire: impl Wire + 'static, max_tokens: usize) -> Self {
        Self {
            name,
            wire: Box::new(wire),
            policy: RetryPolicy::default(),
            max_tokens: AtomicUsize::new(max_tokens),
            dimensions: OnceLock::new(),
        }
    }

    async fn ask(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<EmbeddingResponse, ProviderError> {
        let mut backoff = self.policy.backoff();
        loop {
            let error = match self.wire.ask(purpose, texts).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(pause) = backoff.pause(&error) else { return Err(error) };
            let (model, error) = (&self.name, error.label());
            info!(model, error, pause_ms = pause.as_millis(), "a call for vectors failed and is sent again");
            sleep(pause).await;
        }
    }

    /// Lowers the maximum length of texts. Returns `false` if they are already short.
    fn shorten(&self, batch: &EmbeddingBatch<'_>) -> bool {
        let half = batch.longest / 2;
        if half < MIN_TOKENS {
            return false;
        }
        self.max_tokens.fetch_min(half, Ordering::Relaxed);
        info!(
            model = self.name,
            tokens = half,
            "texts are too long for the model; of longer ones the beginning counts"
        );
        true
    }

    /// Checks the vectors of a batch.
    fn checked(
        &self,
        batch: &EmbeddingBatch<'_>,
        vectors: Vec<Vec<f32>>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (given, wanted) = (vectors.len(), batch.texts.len());
        if given != wanted {
            return Err(EmbedError::Unusable(format!("{given} for {wanted} texts")));
        }
        let checked = vectors.into_iter().map(|vector| {
            let (given, wanted) = (vector.len(), *self.dimensions.get_or_init(|| vector.len()));
            if given != wanted {
                let told = format!("one of {given} numbers among others of {wanted}");
                return Err(EmbedError::Unusable(told));
            }
            unit(vector).ok_or_else(|| EmbedError::Unusable("one that has no direction".to_owned()))
        });
        checked.collect()
    }
}

#[async_trait]
impl Embedder for EmbedService {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        false
    }

    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let mut embedded = Embedded::default();
        let mut rest = texts;
        while !rest.is_empty() {
            let batch = EmbeddingBatch::first(rest, self.max_tokens.load(Ordering::Relaxed));
            let answer = match self.ask(purpose, &batch.texts).await {
                Err(ProviderError::TooLong(_)) if self.shorten(&batch) => continue,
                answer => answer?,
            };
            embedded.vectors.extend(self.checked(&batch, answer.vectors)?);
            embedded.tokens += answer.tokens.filter(|told| *told > 0).unwrap_or(batch.tokens());
            rest = rest.get(batch.texts.len()..).unwrap_or_default();
        }
        Ok(embedded)
    }
}

struct EmbeddingBatch<'a> {
    texts: Vec<&'a str>,
    /// Tokens of all texts.
    sum: usize,
    /// Tokens of the longest text.
    longest: usize,
}

impl<'a> EmbeddingBatch<'a> {
    /// Takes as many of the first texts as fit into a call, each cut to `max_tokens`.
    fn first(texts: &[&'a str], max_tokens: usize) -> Self {
        let cut =
            |text: &&'a str| if text.trim().is_empty() { BLANK } else { first_tokens(text, max_tokens) };
        let mut texts: Vec<&str> = texts.iter().take(MAX_TEXTS).map(cut).collect();
        texts.truncate(texts_of_a_call(&texts));
        let tokens = texts.iter().map(|text| estimate_tokens(text).max(1));
        let (sum, longest) =
            tokens.fold((0, 0), |(sum, longest), tokens| (sum + tokens, longest.max(tokens)));
        Self { texts, sum, longest }
    }

    fn tokens(&self) -> u64 {
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }
}
