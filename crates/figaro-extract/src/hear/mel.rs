//! Spectrogram of a sound as Whisper models take it: 30 s in 3,000 steps, with the loudness of each band of tones.
//!
//! It follows `log_mel_spectrogram` of <https://github.com/openai/whisper/blob/main/whisper/audio.py>. The bands are those of
//! `librosa.filters.mel` (<https://librosa.org/doc/latest/generated/librosa.filters.mel.html>): even steps on the mel scale of
//! Slaney's Auditory Toolbox, triangles of equal area.

use std::f32::consts::PI;
use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::rate::{RATE, WINDOW_SAMPLES};

/// Samples that one step looks at, and samples from one step to the next: 25 and 10 ms.
const LENGTH: usize = 400;
const HOP: usize = 160;
/// Steps of a window.
pub(super) const STEPS: usize = WINDOW_SAMPLES / HOP;
/// Number of tones that a step tells apart.
const TONES: usize = LENGTH / 2 + 1;

/// Makes spectrograms with a number of bands.
pub(super) struct MelSpectrogram {
    fft: Arc<dyn Fft<f32>>,
    window: Vec<f32>,
    bands: Vec<MelBand>,
}

/// Weights of the tones of a band, from the first on.
#[derive(Debug)]
struct MelBand {
    first: usize,
    weights: Vec<f32>,
}

impl fmt::Debug for MelSpectrogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MelSpectrogram").field("bands", &self.bands.len()).finish_non_exhaustive()
    }
}

impl MelSpectrogram {
    pub(super) fn new(bands: usize) -> Self {
        let hann = |at: usize| 0.5 - 0.5 * (2.0 * PI * at as f32 / LENGTH as f32).cos();
        Self {
            fft: FftPlanner::new().plan_fft_forward(LENGTH),
            window: (0..LENGTH).map(hann).collect(),
            bands: mel_bands(bands),
        }
    }

    /// Returns the spectrogram of a window, band after band. A shorter sound is filled up with silence.
    pub(super) fn of(&self, samples: &[f32]) -> Vec<f32> {
        let mut spectrogram = vec![0.0; self.bands.len() * STEPS];
        let mut step = vec![Complex::default(); LENGTH];
        let mut scratch = vec![Complex::default(); self.fft.get_inplace_scratch_len()];
        for at in 0..STEPS {
            for (place, (tone, weight)) in step.iter_mut().zip(&self.window).enumerate() {
                // The middle of a step is at its time; before the beginning the sound is mirrored.
                let sample = (at * HOP + place).abs_diff(LENGTH / 2);
                *tone = Complex::new(samples.get(mirrored(sample)).copied().unwrap_or(0.0) * weight, 0.0);
            }
            self.fft.process_with_scratch(&mut step, &mut scratch);
            for (row, band) in spectrogram.chunks_exact_mut(STEPS).zip(&self.bands) {
                let tones = step.iter().skip(band.first).zip(&band.weights);
                let power: f32 = tones.map(|(tone, weight)| tone.norm_sqr() * weight).sum();
                if let Some(cell) = row.get_mut(at) {
                    *cell = power.max(1e-10).log10();
                }
            }
        }
        let loudest = spectrogram.iter().copied().fold(f32::MIN, f32::max);
        spectrogram.iter_mut().for_each(|cell| *cell = (cell.max(loudest - 8.0) + 4.0) / 4.0);
        spectrogram
    }
}

/// Mirrors the number of a sample past the end of the window.
const fn mirrored(sample: usize) -> usize {
    if sample < WINDOW_SAMPLES { sample } else { 2 * (WINDOW_SAMPLES - 1) - sample }
}

fn mel_bands(count: usize) -> Vec<MelBand> {
    let top = mel_of(RATE as f32 / 2.0);
    let edges: Vec<f32> = (0..count + 2).map(|at| hertz_of(top * at as f32 / (count + 1) as f32)).collect();
    let band = |edges: &[f32]| {
        let &[low, middle, high] = edges else { return MelBand { first: 0, weights: Vec::new() } };
        let weight = |tone: usize| {
            let hertz = tone as f32 * RATE as f32 / LENGTH as f32;
            let triangle = ((hertz - low) / (middle - low)).min((high - hertz) / (high - middle));
            triangle.max(0.0) * 2.0 / (high - low)
        };
        let first = (0..TONES).find(|tone| weight(*tone) > 0.0).unwrap_or(0);
        MelBand { first, weights: (first..TONES).map(weight).take_while(|weight| *weight > 0.0).collect() }
    };
    edges.windows(3).map(band).collect()
}

/// Hertz of a mel below 1,000 Hz, where the scale is even, and the growth of a mel above.
const EVEN: f32 = 200.0 / 3.0;
const KNEE: f32 = 1_000.0;
const GROWTH: f32 = 0.068_751_78;

fn mel_of(hertz: f32) -> f32 {
    if hertz < KNEE { hertz / EVEN } else { KNEE / EVEN + (hertz / KNEE).ln() / GROWTH }
}

fn hertz_of(mel: f32) -> f32 {
    if mel < KNEE / EVEN { mel * EVEN } else { KNEE * ((mel - KNEE / EVEN) * GROWTH).exp() }
}
