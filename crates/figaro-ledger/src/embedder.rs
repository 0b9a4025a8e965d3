//! Vectors that are paid for: the caps of the day hold for them, and what they come to is booked, as for any call.

use std::sync::Arc;

use async_trait::async_trait;

use super::bill::Bill;
use super::{Ledger, LedgerError};
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::{self, Payer, Usage};
use figaro_policy::budget::Wanted;
use figaro_provider::embed::{EmbedError, Embedded, Embedder, Purpose, texts_of_a_call};

/// An embedder whose calls are booked on somebody. Cheap to make: whoever asks makes one for whom it asks.
#[derive(Debug, Clone)]
pub struct MeteredEmbedder {
    inner: Arc<dyn Embedder>,
    ledger: Arc<Ledger>,
    payer: Payer,
}

impl MeteredEmbedder {
    /// Books the calls of an embedder on this payer. One that runs in this process costs nothing and is not booked.
    #[must_use]
    pub const fn new(inner: Arc<dyn Embedder>, ledger: Arc<Ledger>, payer: Payer) -> Self {
        Self { inner, ledger, payer }
    }

    /// One request of the service, so that each is booked, also when a later one fails.
    async fn call(&self, purpose: Purpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let name = self.inner.name();
        let model =
            name.parse().unwrap_or_else(|_| ModelName { provider: name.to_owned(), model: String::new() });
        // For the vector of a question somebody waits, for those of messages nobody does.
        let paid_for = match purpose {
            Purpose::Question => usage::Purpose::Turn,
            Purpose::Passage => usage::Purpose::Background,
        };
        let mut bill = self.ledger.bill_for(paid_for, model, texts, self.payer.clone()).await?;
        bill.ask();
        let embedded = self.inner.embed(purpose, texts).await;
        match &embedded {
            Ok(embedded) => {
                let usage = Usage { input: embedded.tokens, ..Usage::default() };
                if let Some(booked) = bill.settle(Some(usage)) {
                    // Whether it was or could not be, the log has it.
                    drop(booked.await);
                }
            }
            Err(EmbedError::Provider(error)) => bill.fail(error),
            // There was an answer, if none that can be used.
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

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
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
    /// The bill of a call for vectors of these texts, for which what it may come to is set aside.
    async fn bill_for(
        self: &Arc<Self>,
        purpose: usage::Purpose,
        model: ModelName,
        texts: &[&str],
        payer: Payer,
    ) -> Result<Bill, LedgerError> {
        let order = self.affordable(std::slice::from_ref(&model))?;
        let tokens = texts.iter().map(|text| estimate_tokens(text).max(1)).sum::<usize>();
        let input = u64::try_from(tokens).unwrap_or(u64::MAX);
        let price = self.highest_price(&order);
        let mut bill = Bill::new(Arc::clone(self), payer, purpose, model, input);
        if self.caps().is_set() {
            // There is no answer in words; without a token of one, all would be granted.
            let wanted = Wanted { input, output: 1, search: false, price };
            self.set_aside(wanted, &mut bill).await?;
            bill = self.keep(bill).await?;
        }
        Ok(bill)
    }
}

impl From<LedgerError> for EmbedError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Model(error) => Self::Provider(error),
            LedgerError::OverBudget => Self::OverBudget,
            LedgerError::Unpriced(model) => Self::Unpriced(model),
            LedgerError::Store | LedgerError::Slow | LedgerError::Busy => Self::Store,
        }
    }
}
