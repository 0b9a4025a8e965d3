//! Paid work of models that do not chat: transcription, speech, pictures. All limits apply to it and its cost is
//! booked, as for any call.

use std::sync::Arc;

use super::bill::Bill;
use super::call::BudgetSource;
use super::{Drawing, Ledger, LedgerError};
use figaro_domain::model::ModelName;
use figaro_domain::tool::ToolSpent;
use figaro_domain::usage::{Payer, Purpose, Usage};
use figaro_provider::ProviderError;
use figaro_provider::paint::{PaintAnswer, Painter, PictureOrder};
use figaro_provider::price::TAVILY;
use figaro_provider::speech::{SpeechModel, SpokenText};
use figaro_provider::transcribe::{Sound, Transcriber};

/// A count of more than so many times the estimate is none.
const MOST_TIMES: u64 = 20;
/// Budget of work for a person, outside the reservation of a turn.
const ALONE: BudgetSource<'static> = BudgetSource::Alone(Purpose::Turn);

impl Ledger {
    /// Returns the words in a sound; empty if there are none. The payer waits for them.
    ///
    /// # Errors
    /// If a limit leaves no room for it, or the service fails.
    pub async fn transcribe(
        self: &Arc<Self>,
        transcriber: &dyn Transcriber,
        sound: Sound,
        payer: Payer,
    ) -> Result<String, LedgerError> {
        let estimate = sound.estimate();
        let asking = async { transcriber.transcribe(sound).await.map(|heard| (heard.text, heard.usage)) };
        let bill = self.bill_for(ALONE, transcriber.model().clone(), estimate, payer).await?;
        Ok(self.pay(bill, estimate, asking).await?.0)
    }

    /// Returns a drawn picture or the reason why the model drew none, and what it has cost. `within` is the reservation of the
    /// turn and its agents, if there is one.
    ///
    /// # Errors
    /// Like [`Self::transcribe`].
    pub async fn paint(
        self: &Arc<Self>,
        within: Option<Drawing<'_>>,
        painter: &dyn Painter,
        order: PictureOrder,
        payer: Payer,
    ) -> Result<(Result<Vec<u8>, String>, ToolSpent), LedgerError> {
        let estimate = order.estimate();
        let asking = async {
            let PaintAnswer { picture, usage } = painter.paint(order).await?;
            Ok((picture, usage))
        };
        let source = within.map_or(ALONE, BudgetSource::Within);
        let bill = self.bill_for(source, painter.model().clone(), estimate, payer).await?;
        self.pay(bill, estimate, asking).await
    }

    /// Returns spoken words as a file with sound.
    ///
    /// # Errors
    /// Like [`Self::transcribe`].
    pub async fn speak(
        self: &Arc<Self>,
        speech: &dyn SpeechModel,
        words: &SpokenText,
        payer: Payer,
    ) -> Result<Vec<u8>, LedgerError> {
        let asking = async { Ok((speech.speak(words).await?, None)) };
        let estimate = words.estimate();
        let bill = self.bill_for(ALONE, speech.model().clone(), estimate, payer).await?;
        Ok(self.pay(bill, estimate, asking).await?.0)
    }

    /// Makes a search at Tavily. A search that fails costs nothing. `within` is the reservation of the turn and its agents, if
    /// there is one.
    ///
    /// # Errors
    /// If a limit leaves no room for it; the inner error is that of the search.
    pub async fn search<T, E>(
        self: &Arc<Self>,
        within: Option<Drawing<'_>>,
        payer: Payer,
        searching: impl Future<Output = Result<T, E>>,
    ) -> Result<Result<T, E>, LedgerError> {
        let model = ModelName { provider: TAVILY.to_owned(), model: "search".to_owned() };
        let one = Usage { input: 0, cached: 0, output: 1 };
        let source = within.map_or(ALONE, BudgetSource::Within);
        let mut bill = self.bill_for(source, model, one, payer).await?;
        // A search that is given up may have cost its price.
        bill.search();
        let found = searching.await;
        if found.is_err() {
            bill.spare();
        }
        if let Some(booked) = bill.settle(Some(Usage::default())) {
            // A booking that failed is in the log already.
            drop(booked.await);
        }
        Ok(found)
    }

    /// Makes a call and books what the service counted or, if it counts nothing, the estimate. A call that is given up, or
    /// whose answer cannot be used, is booked with the estimate, too: the service may have done its work.
    async fn pay<T>(
        &self,
        mut bill: Bill,
        estimate: Usage,
        asking: impl Future<Output = Result<(T, Option<Usage>), ProviderError>>,
    ) -> Result<(T, ToolSpent), LedgerError> {
        let model = bill.first().clone();
        bill.ask();
        bill.expect(estimate.output);
        match asking.await {
            Ok((given, usage)) => {
                // A service can count nonsense, and the limits would believe it.
                let most = estimate.total().saturating_mul(MOST_TIMES);
                let usage = usage.filter(|usage| usage.total() <= most).unwrap_or(estimate);
                if let Some(booked) = bill.settle(Some(usage)) {
                    // A booking that failed is in the log already.
                    drop(booked.await);
                }
                Ok((given, ToolSpent { usage, nano_usd: self.cost(&model, usage, 0) }))
            }
            Err(error) => {
                if !matches!(error, ProviderError::Foreign(_)) {
                    bill.fail(&error);
                }
                Err(error.into())
            }
        }
    }
}
