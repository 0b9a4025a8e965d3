//! The pixels that a chart is drawn on, and its letters.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, RGBColor};

/// The pixels of a picture.
pub(super) type Canvas<'a> = BitMapBackend<'a>;
/// Why they could not be drawn on.
pub(super) type Failure = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

/// The height of letters in pixels.
pub(super) const HEIGHT: i32 = 24;
const SIZE: RasterHeight = RasterHeight::Size24;
const WEIGHT: FontWeight = FontWeight::Regular;
/// Stands for a letter that cannot be drawn.
const UNKNOWN: char = '?';

/// Whether all letters of a text can be drawn.
pub(super) fn is_drawn(text: &str) -> bool {
    text.chars().all(|c| get_raster(c, WEIGHT, SIZE).is_some())
}

/// The width of a text in pixels: all letters are equally wide.
pub(super) fn width(text: &str) -> i32 {
    let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    letters.saturating_mul(i32::try_from(get_raster_width(WEIGHT, SIZE)).unwrap_or_default())
}

/// Writes a text, whose upper left corner is there.
pub(super) fn write(
    area: &DrawingArea<Canvas<'_>, Shift>,
    text: &str,
    at: (i32, i32),
    colour: RGBColor,
) -> Result<(), DrawingAreaErrorKind<Failure>> {
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

/// The pixels as a PNG.
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
