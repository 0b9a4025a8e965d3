//! Builds charts of the readings of a record.

use crate::chart::{Chart, ChartLine};
use figaro_domain::record::{Book, BookEntry, points};

/// Maximum number of readings of a line, the newest; more could not be told apart.
const MAX_POINTS: usize = 400;

/// Returns the chart of an entry with this index; `None` if there is no such chart.
pub(super) fn chart(book: &Book, entry: &BookEntry<'_>, tag: Option<&str>, at: u8) -> Option<Chart> {
    let charts = entry.kind.charts();
    let (_, fields) = charts.get(usize::from(at))?;
    let line = |field: &&figaro_domain::record::Field| {
        let mut points = points(entry.history.iter().copied(), &field.name);
        let older = points.len().saturating_sub(MAX_POINTS);
        drop(points.drain(..older));
        ChartLine { label: field.label.of(tag).to_owned(), name: field.name.clone(), points }
    };
    Some(Chart {
        title: book.name(entry.record),
        unit: fields.first().map(|field| field.form.unit().to_owned()).unwrap_or_default(),
        lines: fields.iter().map(line).filter(|line| !line.points.is_empty()).collect(),
        zone: book.zone(),
    })
}

/// Returns the caption of the picture, in any script.
pub(super) fn caption(chart: &Chart) -> String {
    let labels: Vec<&str> = chart.lines.iter().map(|line| line.label.as_str()).collect();
    let unit = match chart.unit.as_str() {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    format!("📈 {}: {}{unit}", chart.title, labels.join(" / "))
}
