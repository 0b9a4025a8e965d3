//! Plots: bars over days, as the figures of an SVG. The template draws them.

use serde::Serialize;

/// Size of a plot in its own units. The page scales it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 120.0;
/// Part of a step that its bar takes.
const FILLED: f64 = 0.8;
/// Smallest height of a bar that is not zero.
const LEAST: f64 = 1.5;

/// Bars over days.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Plot {
    /// Name of the plot on its page.
    id: &'static str,
    width: f64,
    height: f64,
    /// Highest value, in words.
    highest: String,
    bars: Vec<PlotBar>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PlotBar {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Day as the person reads it, such as `4 Jan`.
    label: String,
    /// Value as the person reads it, with its unit.
    value: String,
}

/// Value of a day.
#[derive(Debug, Clone)]
pub(crate) struct PlotPoint {
    /// Day as the person reads it, such as `4 Jan`.
    pub(crate) label: String,
    pub(crate) value: u64,
    /// Value as the person reads it, with its unit.
    pub(crate) words: String,
}

impl Plot {
    /// Draws a bar for each point.
    pub(crate) fn of(id: &'static str, points: Vec<PlotPoint>) -> Self {
        let highest = points.iter().max_by_key(|point| point.value);
        let (most, words) = highest.map_or((0, String::new()), |point| (point.value, point.words.clone()));
        let step = WIDTH / points.len().max(1) as f64;
        let bars = (0_u32..).zip(points).map(|(at, point)| {
            let part = if most == 0 { 0.0 } else { point.value as f64 / most as f64 };
            let height = if point.value == 0 { 0.0 } else { (part * HEIGHT).max(LEAST) };
            let x = step.mul_add(f64::from(at), step * (1.0 - FILLED) / 2.0);
            PlotBar {
                x: tenths(x),
                y: tenths(HEIGHT - height),
                width: tenths(step * FILLED),
                height: tenths(height),
                label: point.label,
                value: point.words,
            }
        });
        Self { id, width: WIDTH, height: HEIGHT, highest: words, bars: bars.collect() }
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_values() {
        let point = |value: u64| PlotPoint { label: String::new(), value, words: value.to_string() };
        let plot = Plot::of("p", [0, 50, 100, 1].map(point).to_vec());
        let heights: Vec<f64> = plot.bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [0.0, 60.0, 120.0, LEAST]);
        assert!(plot.bars.iter().all(|bar| (bar.y + bar.height - HEIGHT).abs() < 0.11));
        assert_eq!((plot.highest.as_str(), Plot::of("p", Vec::new()).bars.len()), ("100", 0));
        assert!(Plot::of("p", vec![point(0), point(0)]).bars.iter().all(|bar| bar.height == 0.0));
    }
}
