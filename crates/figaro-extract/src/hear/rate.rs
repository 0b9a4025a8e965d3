//! Measures of the sounds that Whisper models hear.

/// Samples a second.
pub(super) const RATE: u32 = 16_000;
/// Samples that a model hears at once: 30 s.
pub(super) const WINDOW_SAMPLES: usize = RATE as usize * 30;
