//! Check of the transcriber.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::finding::Finding;
use crate::app::transcriber::transcriber;
use figaro_config::Settings;
use figaro_provider::transcribe::Sound;
use figaro_provider::{ProviderError, Providers};

/// Timeout of the request. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);
/// Samples a second of the sound that is sent.
const RATE: u32 = 16_000;

/// Has a second of silence heard; `None` if the transcriber is off.
pub(super) async fn probe(
    settings: &Settings,
    providers: &Providers,
    http: reqwest::Client,
) -> Option<Finding> {
    let result = match transcriber(settings, providers, &http) {
        Ok(None) => return None,
        Ok(Some(transcriber)) => {
            let begun = Instant::now();
            let asked = timeout(ANSWER, transcriber.transcribe(silence())).await;
            match asked.unwrap_or(Err(ProviderError::Stalled(ANSWER))) {
                Ok(_) => Ok(format!("{} hears, in {} ms", transcriber.model(), begun.elapsed().as_millis())),
                Err(error) => Err(format!("{}: {error}; see TRANSCRIBER", transcriber.model())),
            }
        }
        Err(refusal) => Err(refusal.0),
    };
    Some(Finding::new("transcriber", result))
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
