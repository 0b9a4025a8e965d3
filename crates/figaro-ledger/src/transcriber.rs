//! Paid transcription: the caps of the day apply to it and its cost is booked, as for any call.

use std::sync::Arc;

use super::{Ledger, LedgerError};
use figaro_domain::usage::{Payer, Purpose};
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
        let model = transcriber.model().clone();
        let mut bill = self.bill_for(Purpose::Turn, model, estimate, payer).await?;
        bill.ask();
        match transcriber.transcribe(sound).await {
            Ok(heard) => {
                if let Some(booked) = bill.settle(Some(heard.usage.unwrap_or(estimate))) {
                    // A booking that failed is in the log already.
                    drop(booked.await);
                }
                Ok(heard.text)
            }
            Err(error) => {
                bill.fail(&error);
                Err(error.into())
            }
        }
    }
}
