//! Paid work of models that do not chat: transcription, speech, pictures. The caps of the day apply to it and its cost is
//! booked, as for any call.

use std::sync::Arc;

use super::{Ledger, LedgerError};
use figaro_domain::model::ModelName;
use figaro_domain::tool::ToolSpent;
use figaro_domain::usage::{Payer, Purpose, Usage};
use figaro_provider::ProviderError;
use figaro_provider::paint::{Painter, Picture, PictureOrder};
use figaro_provider::speech::{SpeechModel, SpokenText};
use figaro_provider::transcribe::{Sound, Transcriber};

impl Ledger {
    /// Returns the words in a sound; empty if there are none. The payer waits for them.
    ///
    /// # Errors
    /// If the caps leave no room for it, or the service fails.
    pub async fn transcribe(
        self: &Arc<Self>,
        transcriber: &dyn Transcriber,
        sound: Sound,
        payer: Payer,
    ) -> Result<String, LedgerError> {
        let estimate = sound.estimate();
        let asking = async { transcriber.transcribe(sound).await.map(|heard| (heard.text, heard.usage)) };
        Ok(self.pay(transcriber.model(), estimate, payer, asking).await?.0)
    }

    /// Returns a drawn picture, and what it has cost.
    ///
    /// # Errors
    /// Like [`Self::transcribe`].
    pub async fn paint(
        self: &Arc<Self>,
        painter: &dyn Painter,
        order: PictureOrder,
        payer: Payer,
    ) -> Result<(Picture, ToolSpent), LedgerError> {
        let estimate = order.estimate();
        let asking = async {
            let picture = painter.paint(order).await?;
            let usage = picture.usage;
            Ok((picture, usage))
        };
        self.pay(painter.model(), estimate, payer, asking).await
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
        Ok(self.pay(speech.model(), words.estimate(), payer, asking).await?.0)
    }

    /// Makes a call of at most this usage, which is reserved before it, and books what the service counted or, if it counts
    /// nothing, the estimate.
    async fn pay<T>(
        self: &Arc<Self>,
        model: &ModelName,
        estimate: Usage,
        payer: Payer,
        asking: impl Future<Output = Result<(T, Option<Usage>), ProviderError>>,
    ) -> Result<(T, ToolSpent), LedgerError> {
        let mut bill = self.bill_for(Purpose::Turn, model.clone(), estimate, payer).await?;
        bill.ask();
        match asking.await {
            Ok((given, usage)) => {
                let usage = usage.unwrap_or(estimate);
                if let Some(booked) = bill.settle(Some(usage)) {
                    // A booking that failed is in the log already.
                    drop(booked.await);
                }
                Ok((given, ToolSpent { usage, nano_usd: self.cost(model, usage, 0) }))
            }
            Err(error) => {
                bill.fail(&error);
                Err(error.into())
            }
        }
    }
}
