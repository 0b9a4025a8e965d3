//! Sound of any rate at the rate that the model hears.

use std::f64::consts::PI;

use super::rate::RATE;

/// Zero crossings of the sinc on each side. More keep higher tones, which speech has little of.
const CROSSINGS: f64 = 16.0;
/// Part of the band that is kept: the rest lets the filter fall off.
const KEPT: f64 = 0.94;

/// Changes the rate of a sound, piece by piece: a windowed sinc, with a row of weights for each place that an output may have
/// between two inputs (<https://ccrma.stanford.edu/~jos/resample/>).
#[derive(Debug)]
pub(super) struct Resampler {
    /// Rows of `width` weights.
    weights: Vec<f32>,
    width: usize,
    /// Number of rows: places between two inputs.
    places: usize,
    /// Places from one output to the next.
    step: usize,
    /// Inputs that are still needed.
    inputs: Vec<f32>,
    /// Place of the next output, counted from the first of `inputs`.
    next: usize,
}

impl Resampler {
    /// Makes a resampler from this rate.
    pub(super) fn new(rate: u32) -> Self {
        let divisor = greatest_common_divisor(rate, RATE);
        let [places, step] = [RATE / divisor, rate / divisor].map(|part| part as usize);
        let band = (f64::from(RATE) / f64::from(rate)).min(1.0) * KEPT;
        let half = (CROSSINGS / band).ceil();
        let width = half as usize * 2;
        let row = |place: usize| {
            let between = place as f64 / places as f64;
            (0..width).map(move |tap| weight(between + half - 1.0 - tap as f64, band, half))
        };
        let weights = if places == step { Vec::new() } else { (0..places).flat_map(row).collect() };
        Self { weights, width, places, step, inputs: vec![0.0; width / 2 - 1], next: 0 }
    }

    /// Adds inputs, and appends the outputs that they complete.
    pub(super) fn push(&mut self, inputs: &[f32], outputs: &mut Vec<f32>) {
        if self.weights.is_empty() {
            outputs.extend_from_slice(inputs);
            return;
        }
        self.inputs.extend_from_slice(inputs);
        loop {
            let (first, place) = (self.next / self.places, self.next % self.places);
            let Some(inputs) = self.inputs.get(first..first + self.width) else { break };
            let weights = self.weights.iter().skip(place * self.width);
            outputs.push(inputs.iter().zip(weights).map(|(input, weight)| input * weight).sum());
            self.next += self.step;
        }
        let done = (self.next / self.places).min(self.inputs.len());
        self.inputs.drain(..done);
        self.next -= done * self.places;
    }

    /// Appends the outputs at the end of the sound.
    pub(super) fn finish(&mut self, outputs: &mut Vec<f32>) {
        if !self.weights.is_empty() {
            self.push(&vec![0.0; self.width / 2], outputs);
        }
    }
}

/// Returns the weight of an input so far from the output: a sinc within a Hann window.
fn weight(distance: f64, band: f64, half: f64) -> f32 {
    let window = (distance * PI / (2.0 * half)).cos().powi(2);
    let angle = PI * distance * band;
    let sinc = if angle == 0.0 { 1.0 } else { angle.sin() / angle };
    (band * sinc * window) as f32
}

const fn greatest_common_divisor(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, hertz: f64, seconds: f64) -> Vec<f32> {
        let count = (f64::from(rate) * seconds) as usize;
        (0..count).map(|at| (2.0 * PI * hertz * at as f64 / f64::from(rate)).sin() as f32).collect()
    }

    fn resampled(rate: u32, hertz: f64) -> Vec<f32> {
        let (mut resampler, mut outputs) = (Resampler::new(rate), Vec::new());
        for piece in tone(rate, hertz, 1.0).chunks(997) {
            resampler.push(piece, &mut outputs);
        }
        resampler.finish(&mut outputs);
        outputs
    }

    #[test]
    fn a_tone_stays_the_same_tone_at_every_rate() {
        for rate in [8_000, 11_025, 16_000, 22_050, 44_100, 44_099, 48_000, 96_000] {
            let outputs = resampled(rate, 1_000.0);
            assert!(outputs.len().abs_diff(16_000) <= 2, "{rate}: {}", outputs.len());
            let wanted = tone(RATE, 1_000.0, 1.0);
            let worst = (200..15_800).map(|at| (outputs[at] - wanted[at]).abs()).fold(0.0, f32::max);
            assert!(worst < 0.01, "{rate}: {worst}");
        }
    }

    #[test]
    fn tones_above_the_band_are_left_out() {
        for (rate, hertz) in [(48_000, 9_000.0), (44_100, 12_000.0), (48_000, 20_000.0)] {
            let loudest =
                resampled(rate, hertz)[200..15_800].iter().fold(0.0_f32, |most, one| most.max(one.abs()));
            assert!(loudest < 0.01, "{rate} {hertz}: {loudest}");
        }
    }
}
