//! Pixel buffer of a chart, and its font.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, RGBColor};

pub(super) type Canvas<'a> = BitMapBackend<'a>;
/// Error of drawing on a canvas.
pub(super) type CanvasError = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

/// Height of a letter, in pixels.
pub(super) const HEIGHT: i32 = 24;
const SIZE: RasterHeight = RasterHeight::Size24;
const WEIGHT: FontWeight = FontWeight::Regular;
/// Replaces characters that the font lacks.
const UNKNOWN: char = '?';

/// Returns `true` if the font has all characters of a text.
pub(super) fn is_drawn(text: &str) -> bool {
    text.chars().all(|c| get_raster(c, WEIGHT, SIZE).is_some())
}

/// Returns the width of a text in pixels. The font is monospaced.
pub(super) fn width(text: &str) -> i32 {
    let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    letters.saturating_mul(i32::try_from(get_raster_width(WEIGHT, SIZE)).unwrap_or_default())
}

/// Writes a text with its upper left corner at `at`.
pub(super) fn write(
    area: &DrawingArea<Canvas<'_>, Shift>,
    text: &str,
    at: (i32, i32),
    colour: RGBColor,
) -> Result<(), DrawingAreaErrorKind<CanvasError>> {
    let letters = text
        .chars()
        .filter_map(|c| get_raster(c, WEIGHT, SIZE).or_else(|| get_raster(UNKNOWN, WEIGHT, SIZE)));
    let mut left = at.0;
    for letter in letters {
        for (y, row) in (at.1..).zip(letter.rows()) {
            for (x, ink) in (left..).zip(row.iter()).filter(|(_, ink)| **ink > 0) {
                area.draw_pixel((x, y), &colour.mix(f64::from(*ink) / 255.0))?;
            }
        }
        left += i32::try_from(letter.width()).unwrap_or_default();
    }
    Ok(())
}

/// Encodes RGB pixels as a PNG.
pub(super) fn encode(pixels: &[u8], size: (u32, u32)) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(out)
}
