//! Checks of the models that hear, speak and draw.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::finding::Finding;
use crate::app::services::ServiceModels;
use figaro_agent::speech::Voice;
use figaro_config::Settings;
use figaro_provider::speech::SpokenText;
use figaro_provider::transcribe::{Sound, Transcriber};
use figaro_provider::{ProviderError, Providers};

/// Timeout of a request. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);
/// Samples a second of the sound that is sent.
const RATE: u32 = 16_000;

/// Has a second of silence heard and a word spoken. Nothing is drawn: a picture costs too much for a check. Models that are
/// off are left out.
pub(super) async fn probe(settings: &Settings, providers: &Providers, http: reqwest::Client) -> Vec<Finding> {
    let services = match ServiceModels::new(settings, providers, &http) {
        Ok(services) => services,
        Err(refusal) => return vec![Finding::new("services", Err(refusal.0))],
    };
    let ServiceModels { transcriber, voice, painter } = services;
    let mut found = Vec::new();
    if let Some(transcriber) = transcriber {
        found.push(Finding::new("transcriber", hears(&*transcriber).await));
    }
    if let Some(voice) = voice {
        found.push(Finding::new("speaker", speaks(&voice).await));
    }
    if let Some(painter) = painter {
        let words = format!("{} is not tried, since a picture costs", painter.model());
        found.push(Finding::new("painter", Ok(words)));
    }
    found
}

async fn hears(transcriber: &dyn Transcriber) -> Result<String, String> {
    let (begun, model) = (Instant::now(), transcriber.model());
    match in_time(transcriber.transcribe(silence())).await {
        Ok(_) => Ok(format!("{model} hears, in {} ms", begun.elapsed().as_millis())),
        Err(error) => Err(format!("{model}: {error}; see TRANSCRIBER")),
    }
}

async fn speaks(voice: &Voice) -> Result<String, String> {
    let (begun, model) = (Instant::now(), voice.model.model());
    let words = SpokenText { text: "Yes.".to_owned(), voice: voice.name.clone() };
    match in_time(voice.model.speak(&words)).await {
        Ok(_) => Ok(format!("{model} speaks as {}, in {} ms", voice.name, begun.elapsed().as_millis())),
        Err(error) => Err(format!("{model}: {error}; see SPEAKER and SPEAKER_VOICE")),
    }
}

async fn in_time<T>(asking: impl Future<Output = Result<T, ProviderError>>) -> Result<T, ProviderError> {
    timeout(ANSWER, asking).await.unwrap_or(Err(ProviderError::Stalled(ANSWER)))
}

/// Makes a second of silence as WAV, 16 bits in one channel (<http://soundfile.sapp.org/doc/WaveFormat>).
fn silence() -> Sound {
    let length = RATE * 2;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + length).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    for short in [1_u16, 1] {
        bytes.extend(short.to_le_bytes());
    }
    bytes.extend(RATE.to_le_bytes());
    bytes.extend((RATE * 2).to_le_bytes());
    for short in [2_u16, 16] {
        bytes.extend(short.to_le_bytes());
    }
    bytes.extend(b"data");
    bytes.extend(length.to_le_bytes());
    bytes.resize(bytes.len() + length as usize, 0);
    Sound { name: "silence.wav".to_owned(), mime: "audio/wav".to_owned(), seconds: 1, bytes }
}
