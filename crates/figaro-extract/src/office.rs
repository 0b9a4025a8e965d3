//! Documents and presentations of Microsoft Office, new and old.

use undoc::{Block, Document, Error, Paragraph, Section, Table};

use super::passages::{Passages, Title};
use super::unzip;
use figaro_domain::document::Unreadable;

/// Reads a text document.
pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let document = parsed(bytes)?;
    document.sections.iter().for_each(|section| add(section, passages));
    Ok(document.metadata.title)
}

/// Reads a presentation, slide by slide, with the speaker's notes.
pub(super) fn read_slides(bytes: &[u8], passages: &mut Passages) -> Title {
    let document = parsed(bytes)?;
    for (at, section) in document.sections.iter().enumerate() {
        passages.begin(format!("slide {}", at + 1));
        add(section, passages);
    }
    Ok(document.metadata.title)
}

fn add(section: &Section, passages: &mut Passages) {
    let frame = |lines: &Option<Vec<Paragraph>>| -> String {
        lines.iter().flatten().map(Paragraph::plain_text).collect::<Vec<_>>().join("\n")
    };
    passages.add(&frame(&section.header));
    for block in &section.content {
        match block {
            Block::Paragraph(paragraph) => passages.add(&paragraph.plain_text()),
            Block::Table(table) => add_table(table, passages),
            Block::Note { content, .. } => content.iter().for_each(|line| passages.add(&line.plain_text())),
            Block::Image { alt_text: Some(words), .. } => passages.add(words),
            Block::Image { .. } | Block::PageBreak | Block::SectionBreak => {}
        }
    }
    passages.add(&frame(&section.footer));
    passages.add(&frame(&section.notes));
}

/// Adds a table row by row, and what stands in the tables in its cells.
fn add_table(table: &Table, passages: &mut Passages) {
    for row in &table.rows {
        let cells = row
            .cells
            .iter()
            .map(|cell| cell.content.iter().map(Paragraph::plain_text).collect::<Vec<_>>().join(" "));
        let cells: Vec<String> = cells.filter(|cell| !cell.trim().is_empty()).collect();
        passages.add(&cells.join(" | "));
        row.cells.iter().flat_map(|cell| &cell.nested_tables).for_each(|inner| add_table(inner, passages));
    }
}

fn parsed(bytes: &[u8]) -> Result<Document, Unreadable> {
    let error = match undoc::parse_bytes(bytes) {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    // It takes a part that is a hundredth of its size for an attack, as large empty tables are. Our own limits hold.
    let stored = unzip::stored(bytes).map_err(|reason| of_office(&error, reason))?;
    undoc::parse_bytes(&stored).map_err(|error| of_office(&error, Unreadable::Damaged))
}

/// Returns the reason of an error; `otherwise` if it tells none.
fn of_office(error: &Error, otherwise: Unreadable) -> Unreadable {
    match error {
        Error::Encrypted => Unreadable::Encrypted,
        Error::UnknownFormat | Error::UnsupportedFormat(_) => Unreadable::Unknown,
        _ => otherwise,
    }
}
