//! Draws readings as a chart: a PNG that reads well on a phone. Pure: takes points and labels, returns bytes. The
//! font is built in; text in other scripts is left out and belongs in the caption.

mod canvas;

use chrono::{DateTime, Datelike, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use plotters::coord::Shift;
use plotters::prelude::*;

use self::canvas::{Canvas, is_drawn};
use figaro_domain::record::Point;

/// Width of the picture, in pixels.
const WIDTH: u32 = 900;
const HEIGHT: u32 = 560;
/// Margin left of the plot, in pixels, for the axis labels.
const LEFT: i32 = 84;
const RIGHT: i32 = 28;
const TOP: i32 = 78;
const BOTTOM: i32 = 56;
/// Approximate number of horizontal grid lines.
const STEPS: f64 = 5.0;
/// Maximum number of dates on the time axis.
const DAYS: usize = 6;
/// Maximum number of readings that get a mark; more marks would hide the line.
const MARKS: usize = 60;

const INK: RGBColor = RGBColor(40, 44, 52);
const FAINT: RGBColor = RGBColor(222, 226, 230);
/// Colours that people with colour blindness can tell apart.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChartLine {
    pub(super) label: String,
    /// Label to use if the font lacks characters of `label`.
    pub(super) name: String,
    /// Readings with their times, oldest first.
    pub(super) points: Vec<Point>,
}

/// Chart with lines of one unit over time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) lines: Vec<ChartLine>,
    /// Time zone of the dates on the time axis.
    pub(super) zone: Tz,
}

/// Message about a failed drawing, for the log.
type ChartError = String;

/// Draws a chart as a PNG; `None` if no line has two readings at different times.
///
/// # Errors
/// A message if drawing or encoding fails.
pub(super) fn png(chart: &Chart) -> Result<Option<Vec<u8>>, ChartError> {
    let has_line = |line: &&ChartLine| {
        line.points.first().zip(line.points.last()).is_some_and(|(first, last)| first.at < last.at)
    };
    if !chart.lines.iter().any(|line| has_line(&line)) {
        return Ok(None);
    }
    let mut pixels = vec![0_u8; (WIDTH * HEIGHT * 3) as usize];
    {
        let area = Canvas::with_buffer(&mut pixels, (WIDTH, HEIGHT)).into_drawing_area();
        draw(chart, &area).map_err(|error| error.to_string())?;
        area.present().map_err(|error| error.to_string())?;
    }
    canvas::encode(&pixels, (WIDTH, HEIGHT)).map(Some)
}

type Area<'a> = DrawingArea<Canvas<'a>, Shift>;
type DrawResult = Result<(), DrawingAreaErrorKind<canvas::CanvasError>>;

fn draw(chart: &Chart, area: &Area<'_>) -> DrawResult {
    area.fill(&WHITE)?;
    let frame = PlotArea::of(chart);
    head(chart, area)?;
    frame.draw_values(area)?;
    frame.draw_days(area)?;
    for (line, colour) in chart.lines.iter().zip(COLOURS.iter().cycle()) {
        let places: Vec<(i32, i32)> = line.points.iter().map(|point| frame.place(*point)).collect();
        area.draw(&PathElement::new(places.clone(), colour.stroke_width(3)))?;
        for place in places.into_iter().filter(|_| line.points.len() <= MARKS) {
            area.draw(&Circle::new(place, 5, colour.filled()))?;
        }
    }
    Ok(())
}

/// Draws the title and the legend.
fn head(chart: &Chart, area: &Area<'_>) -> DrawResult {
    let title = if is_drawn(&chart.title) { chart.title.as_str() } else { "" };
    let unit = Some(chart.unit.as_str()).filter(|unit| !unit.is_empty() && is_drawn(unit));
    let title = unit.map_or(title.to_owned(), |unit| format!("{title} ({unit})"));
    canvas::write(area, &title, (LEFT, 14), INK)?;
    let mut x = LEFT;
    for (line, colour) in chart.lines.iter().zip(COLOURS.iter().cycle()) {
        let label = if is_drawn(&line.label) { &line.label } else { &line.name };
        area.draw(&Rectangle::new([(x, 48), (x + 18, 62)], colour.filled()))?;
        canvas::write(area, label, (x + 26, 44), INK)?;
        x += 26 + canvas::width(label) + 28;
    }
    Ok(())
}

/// Plot area: its range of times and values.
struct PlotArea {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    low: f64,
    high: f64,
    step: f64,
    zone: Tz,
}

impl PlotArea {
    fn of(chart: &Chart) -> Self {
        let points = || chart.lines.iter().flat_map(|line| line.points.iter());
        let from = points().map(|point| point.at).min().unwrap_or_default();
        let until = points().map(|point| point.at).max().unwrap_or_default();
        let least = points().map(|point| point.value).fold(f64::INFINITY, f64::min);
        let most = points().map(|point| point.value).fold(f64::NEG_INFINITY, f64::max);
        // Centre a flat line.
        let (least, most) =
            if (most - least).abs() < f64::EPSILON { (least - 1.0, most + 1.0) } else { (least, most) };
        let step = round_step((most - least) / STEPS);
        let low = ((least - (most - least) * 0.05) / step).floor() * step;
        let high = ((most + (most - least) * 0.05) / step).ceil() * step;
        Self { from, until, low, high, step, zone: chart.zone }
    }

    fn place(&self, point: Point) -> (i32, i32) {
        (self.x(point.at), self.y(point.value))
    }

    fn x(&self, at: DateTime<Utc>) -> i32 {
        let whole = (self.until - self.from).num_seconds().max(1) as f64;
        let share = (at - self.from).num_seconds() as f64 / whole;
        LEFT + ((WIDTH as i32 - LEFT - RIGHT) as f64 * share).round() as i32
    }

    fn y(&self, value: f64) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        let (top, bottom) = (TOP, HEIGHT as i32 - BOTTOM);
        bottom - ((bottom - top) as f64 * share).round() as i32
    }

    /// Draws the horizontal grid lines with their values.
    fn draw_values(&self, area: &Area<'_>) -> DrawResult {
        let count = ((self.high - self.low) / self.step).round() as u32;
        for at in 0..=count {
            let value = self.low + self.step * f64::from(at);
            let y = self.y(value);
            area.draw(&PathElement::new(vec![(LEFT, y), (WIDTH as i32 - RIGHT, y)], FAINT.stroke_width(1)))?;
            let digits = if self.step < 1.0 { 1 } else { 0 };
            let label = format!("{value:.digits$}");
            canvas::write(area, &label, (LEFT - 12 - canvas::width(&label), y - canvas::HEIGHT / 2), INK)?;
        }
        Ok(())
    }

    /// Draws the dates of the time axis in the chart's zone, with clock times if the chart spans less than two days.
    fn draw_days(&self, area: &Area<'_>) -> DrawResult {
        let y = HEIGHT as i32 - BOTTOM + 14;
        let mut free_from = 0;
        for (at, label) in self.days() {
            let width = canvas::width(&label);
            let x = (self.x(at) - width / 2).clamp(0, WIDTH as i32 - width);
            if x < free_from {
                continue;
            }
            let tick = vec![(self.x(at), HEIGHT as i32 - BOTTOM), (self.x(at), HEIGHT as i32 - BOTTOM + 8)];
            area.draw(&PathElement::new(tick, INK.stroke_width(1)))?;
            canvas::write(area, &label, (x, y), INK)?;
            free_from = x + width + 16;
        }
        Ok(())
    }

    fn days(&self) -> Vec<(DateTime<Utc>, String)> {
        let span = self.until - self.from;
        if span < TimeDelta::days(2) {
            let part = span / DAYS as i32;
            let times = (0..=DAYS as i32).map(|at| self.from + part * at);
            return times
                .map(|at| (at, at.with_timezone(&self.zone).format("%d.%m. %H:%M").to_string()))
                .collect();
        }
        let (first, last) = (self.from.with_timezone(&self.zone), self.until.with_timezone(&self.zone));
        let has_years = first.year() != last.year();
        let days = span.num_days().max(1);
        let every = (days / DAYS as i64).max(1);
        let start = first.date_naive();
        let of_day = |at: i64| {
            let day = start + TimeDelta::days(at * every);
            let midnight = self.zone.from_local_datetime(&day.and_time(chrono::NaiveTime::MIN)).earliest()?;
            let form = if has_years { "%d.%m.%y" } else { "%d.%m." };
            Some((midnight.with_timezone(&Utc), day.format(form).to_string()))
        };
        let all = (0..=days / every + 1).filter_map(of_day);
        all.filter(|(at, _)| *at >= self.from && *at <= self.until).collect()
    }
}

/// Returns the smallest 1, 2 or 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= least).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64]) -> Vec<Point> {
        let at = |day: usize| DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + day as i64);
        values.iter().enumerate().map(|(day, value)| Point { at: at(day), value: *value }).collect()
    }

    fn chart(lines: &[&[f64]]) -> Chart {
        let line = |values: &&[f64]| ChartLine {
            label: "Sistólica".to_owned(),
            name: "systolic".to_owned(),
            points: points(values),
        };
        Chart {
            title: "Mary Smith".to_owned(),
            unit: "mmHg".to_owned(),
            lines: lines.iter().map(line).collect(),
            zone: "Europe/Riga".parse().unwrap(),
        }
    }

    #[test]
    fn a_chart_is_a_small_picture_that_shows_each_line() {
        let drawn = png(&chart(&[&[128.0, 141.0, 133.0], &[80.0, 90.0, 85.0]])).unwrap().unwrap();
        assert!(drawn.starts_with(b"\x89PNG") && drawn.len() < 60_000, "{} bytes", drawn.len());
        let mut reader = png::Decoder::new(std::io::Cursor::new(&drawn)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
        for colour in &COLOURS[..2] {
            let has = pixels.chunks(3).filter(|pixel| **pixel == [colour.0, colour.1, colour.2]).count();
            assert!(has > 300, "{colour:?}: {has}");
        }
        assert!(pixels.chunks(3).all(|pixel| *pixel != [COLOURS[2].0, COLOURS[2].1, COLOURS[2].2]));
    }

    #[test]
    fn without_two_readings_there_is_nothing_to_draw() {
        assert_eq!(png(&chart(&[])), Ok(None));
        assert_eq!(png(&chart(&[&[1.0]])), Ok(None));
        assert!(png(&chart(&[&[7.0, 7.0, 7.0]])).unwrap().is_some(), "a flat line is one");
        let other = Chart { title: "Мария".to_owned(), ..chart(&[&[1.0, 2.0]]) };
        assert!(png(&other).unwrap().is_some(), "letters that cannot be drawn are left out");
    }

    /// In a script without letters here a picture is drawn as if there were no words, not with question marks or boxes.
    #[test]
    fn letters_that_cannot_be_drawn_are_left_out() {
        let named = |title: &str, unit: &str, label: &str| {
            let mut chart = Chart { title: title.into(), unit: unit.into(), ..chart(&[&[1.0, 2.0]]) };
            chart.lines[0].label = label.to_owned();
            png(&chart).unwrap().unwrap()
        };
        let plain = named("", "", "systolic");
        for (title, unit, label) in
            [("Мария", "кг", "Систолическое"), ("瑪麗", "公斤", "收缩压"), ("Ζωή", "℞", "Πίεση")]
        {
            assert!(named(title, unit, label) == plain, "{title}");
        }
        assert!(named("Mária", "kg", "Sistólica") != plain);
    }

    #[test]
    fn steps_are_round() {
        for (least, step) in [(0.3, 0.5), (1.0, 1.0), (3.4, 5.0), (7.0, 10.0), (24.0, 50.0)] {
            assert!((round_step(least) - step).abs() < 1e-9, "{least}: {}", round_step(least));
        }
    }
}
