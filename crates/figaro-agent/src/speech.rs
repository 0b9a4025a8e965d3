//! Spoken answers: turns the text of an answer into a voice message, and books what it costs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use figaro_base::text::estimate_tokens;
use figaro_domain::usage::Payer;
use figaro_ledger::Ledger;
use figaro_provider::speech::{MAX_CHARS, MAX_TOKENS, SpeechModel, SpokenText};

/// Time for the sound of an answer. The next answers of the conversation wait for it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A model that speaks, with one of its voices.
#[derive(Debug, Clone)]
pub struct Voice {
    /// Model that turns text into speech.
    pub model: Arc<dyn SpeechModel>,
    /// Name of the voice at the service.
    pub name: String,
}

/// Speaks answers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AnswerSpeech {
    /// Voice of the answers.
    pub voice: Voice,
    /// Books what it costs.
    pub ledger: Arc<Ledger>,
}

impl AnswerSpeech {
    /// Returns a plain text as a sound that Telegram plays as a voice message; `None` if it is empty or too long to be
    /// spoken, or nobody can speak it now. Failures are only logged: people have the text.
    pub async fn speak(&self, text: &str, payer: Payer) -> Option<Vec<u8>> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_CHARS || estimate_tokens(text) > MAX_TOKENS {
            return None;
        }
        let words = SpokenText { text: text.to_owned(), voice: self.voice.name.clone() };
        match timeout(TIMEOUT, self.ledger.speak(&*self.voice.model, &words, payer)).await {
            Ok(Ok(sound)) => Some(sound),
            Ok(Err(error)) => {
                tracing::warn!(%error, label = error.label(), "an answer could not be spoken");
                None
            }
            Err(_elapsed) => {
                tracing::warn!("an answer could not be spoken in time");
                None
            }
        }
    }
}
