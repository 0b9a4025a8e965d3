//! Measures of the sounds that Whisper models hear.

/// Sampling rate of the model, in samples per second.
pub(super) const RATE: u32 = 16_000;
/// Samples that a model hears at once: 30 s.
pub(super) const WINDOW_SAMPLES: usize = RATE as usize * 30;
