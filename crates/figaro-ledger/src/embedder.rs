//! Paid embeddings: all limits apply to them and their cost is booked, as for any call.

use std::sync::Arc;

use async_trait::async_trait;

use super::bill::Bill;
use super::call::BudgetSource;
use super::{Ledger, LedgerError};
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{self, Payer, Usage};
use figaro_policy::budget::CallEstimate;
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedded, Embedder, texts_of_a_call};

/// An embedder whose calls are booked on a payer. Cheap to create; make one per payer.
#[derive(Debug, Clone)]
pub struct MeteredEmbedder {
    inner: Arc<dyn Embedder>,
    ledger: Arc<Ledger>,
    payer: Payer,
}

impl MeteredEmbedder {
    /// Wraps an embedder so that its calls are booked on this payer. A local embedder costs nothing and is not booked.
    #[must_use]
    pub const fn new(inner: Arc<dyn Embedder>, ledger: Arc<Ledger>, payer: Payer) -> Self {
        Self { inner, ledger, payer }
    }

    /// Sends one request of the service, so that each is booked even if a later one fails.
    async fn call(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let name = self.inner.name();
        let model =
            name.parse().unwrap_or_else(|_| ModelName { provider: name.to_owned(), model: String::new() });
        // A person waits for the vector of a question; vectors of messages are background work.
        let paid_for = match purpose {
            EmbedPurpose::Question => usage::Purpose::Turn,
            EmbedPurpose::Passage => usage::Purpose::Background,
        };
        let tokens = texts.iter().map(|text| estimate_tokens(text).max(1)).sum::<usize>();
        // There is no text answer, but a call with 0 output tokens would be granted all of them.
        let estimate = Usage { input: u64::try_from(tokens).unwrap_or(u64::MAX), cached: 0, output: 1 };
        let mut bill =
            self.ledger.bill_for(BudgetSource::Alone(paid_for), model, estimate, self.payer.clone()).await?;
        bill.ask();
        let embedded = self.inner.embed(purpose, texts).await;
        match &embedded {
            Ok(embedded) => {
                let usage = Usage { input: embedded.tokens, ..Usage::default() };
                if let Some(booked) = bill.settle(Some(usage)) {
                    // A booking that failed is in the log already.
                    drop(booked.await);
                }
            }
            Err(EmbedError::Provider(error)) => bill.fail(error),
            // The service did answer, though the answer is unusable.
            Err(_) => {}
        }
        embedded
    }
}

#[async_trait]
impl Embedder for MeteredEmbedder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        if self.is_local() {
            return self.inner.embed(purpose, texts).await;
        }
        let mut embedded = Embedded::default();
        let mut rest = texts;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(texts_of_a_call(rest));
            let part = self.call(purpose, now).await?;
            embedded.vectors.extend(part.vectors);
            embedded.tokens += part.tokens;
            rest = later;
        }
        Ok(embedded)
    }
}

impl Ledger {
    /// Creates the bill of a call that gives no answer of a model, and reserves its maximum cost: in the tree of a turn, or
    /// by itself.
    pub(super) async fn bill_for(
        self: &Arc<Self>,
        source: BudgetSource<'_>,
        model: ModelName,
        estimate: Usage,
        payer: Payer,
    ) -> Result<Bill, LedgerError> {
        let limits = self.accounts().limits(&payer, source.purpose(), &[]);
        let order = self.affordable(std::slice::from_ref(&model), &limits)?;
        let Usage { input, output, .. } = estimate;
        let price = self.highest_price(&order);
        let mut bill = Bill::new(Arc::clone(self), payer, source.purpose(), model, input);
        let wanted = CallEstimate { input, output, is_whole: true, search: false, price };
        match source {
            BudgetSource::Within(drawing) => _ = self.draw(drawing, wanted, &mut bill).await?,
            BudgetSource::Alone(_) if limits.is_empty() => {}
            BudgetSource::Alone(_) => _ = self.set_aside(wanted, &mut bill).await?,
        }
        if limits.is_empty() { Ok(bill) } else { self.keep(bill).await }
    }
}

impl From<LedgerError> for EmbedError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Model(error) => Self::Provider(error),
            LedgerError::OverBudget(_) => Self::OverBudget,
            LedgerError::Unpriced(model) => Self::Unpriced(model),
            LedgerError::Store | LedgerError::Slow | LedgerError::Busy => Self::Store,
        }
    }
}
