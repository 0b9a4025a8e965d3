//! Spreadsheets: rows of cells, each passage with the first row of its sheet, which names the columns.

use std::io::Cursor;

use calamine::{Data, Error, ExcelDateTime, Reader, Sheets, XlsxError, open_workbook_auto_from_rs};

use super::passages::{Passages, Title};
use super::text::decoded;
use figaro_domain::document::Unreadable;

/// Length of the rows in a passage at which the next row begins another one, in bytes.
const FULL: usize = 900;
/// Maximum length of the row of names, in bytes.
const MAX_NAMES: usize = 300;

/// Reads a workbook of Excel or LibreOffice.
pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(|error| of_book(&error))?;
    for name in book.sheet_names() {
        if passages.is_full() {
            break;
        }
        let mut rows = Rows::new(&name, passages);
        match &mut book {
            // Cell by cell: a sheet may state a size of billions of cells.
            Sheets::Xlsx(book) => {
                let Ok(mut cells) = book.worksheet_cells_reader(&name) else { continue };
                while let Some(cell) = cells.next_cell().map_err(|error| of_xlsx(&error))? {
                    let (row, column) = cell.get_position();
                    rows.cell(row, column, &shown(&cell.get_value().clone().into()));
                }
            }
            book => {
                let Ok(range) = book.worksheet_range(&name) else { continue };
                let (row, column) = range.start().unwrap_or_default();
                for (at, across, value) in range.used_cells() {
                    let (at, across) = (u32::try_from(at), u32::try_from(across));
                    rows.cell(
                        row + at.unwrap_or_default(),
                        column + across.unwrap_or_default(),
                        &shown(value),
                    );
                }
            }
        }
        rows.finish();
    }
    Ok(None)
}

/// Reads values separated by commas, semicolons or tabs.
pub(super) fn read_separated(bytes: &[u8], passages: &mut Passages) -> Title {
    let text = decoded(bytes).ok_or(Unreadable::Damaged)?;
    let first = text.lines().next().unwrap_or_default();
    let separator = [',', ';', '\t'].into_iter().max_by_key(|one| first.matches(*one).count()).unwrap_or(',');
    let mut rows = Rows::new("", passages);
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).delimiter(separator as u8);
    for (row, record) in (0..).zip(reader.from_reader(text.as_bytes()).into_records()) {
        let record = record.map_err(|_damaged| Unreadable::Damaged)?;
        (0..).zip(record.iter()).for_each(|(column, value)| rows.cell(row, column, value));
    }
    rows.finish();
    Ok(None)
}

/// Rows of one sheet on their way into passages.
struct Rows<'a> {
    passages: &'a mut Passages,
    sheet: &'a str,
    /// Words of the first row; empty until it has ended.
    names: String,
    /// Place and words of the row in progress.
    row: Option<u32>,
    words: String,
    /// First and last place of the passage in progress: row and column.
    from: Option<(u32, u32)>,
    until: (u32, u32),
    block: String,
}

impl<'a> Rows<'a> {
    fn new(sheet: &'a str, passages: &'a mut Passages) -> Self {
        passages.begin(sheet);
        Self {
            passages,
            sheet,
            names: String::new(),
            row: None,
            words: String::new(),
            from: None,
            until: (0, 0),
            block: String::new(),
        }
    }

    fn cell(&mut self, row: u32, column: u32, value: &str) {
        let value = value.trim();
        if value.is_empty() || self.passages.is_full() {
            return;
        }
        if self.row.is_some_and(|before| before != row) {
            self.end_row();
        }
        self.row = Some(row);
        self.words.push_str(if self.words.is_empty() { "" } else { " | " });
        self.words.extend(value.chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
        let (first_row, first_column) = self.from.unwrap_or((row, column));
        self.from = Some((first_row, first_column.min(column)));
        self.until = (row, self.until.1.max(column));
    }

    fn end_row(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        if self.names.is_empty() {
            self.names = words[..words.floor_char_boundary(MAX_NAMES)].to_owned();
        } else if self.block.is_empty() {
            self.block.clone_from(&self.names);
        }
        self.block.push_str(if self.block.is_empty() { "" } else { "\n" });
        self.block.push_str(&words);
        if self.block.len() > FULL {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let Some((row, column)) = self.from.take() else { return };
        let range = format!("{}:{}", place(row, column), place(self.until.0, self.until.1));
        let range = if self.sheet.is_empty() { range } else { format!("{}!{range}", self.sheet) };
        self.passages.at(range);
        self.passages.add(&std::mem::take(&mut self.block));
        self.until = (0, 0);
    }

    fn finish(mut self) {
        self.end_row();
        self.end_block();
    }
}

/// Returns the name of a cell, such as `B12`, by row and column from 0.
fn place(row: u32, column: u32) -> String {
    let (mut letters, mut left) = (Vec::new(), column + 1);
    while left > 0 {
        letters.push(char::from(b'A' + ((left - 1) % 26) as u8));
        left = (left - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().collect();
    format!("{letters}{}", row + 1)
}

/// Returns a value as a sheet shows it.
fn shown(value: &Data) -> String {
    match value {
        Data::DateTime(at) => moment(at),
        // Sums of decimal fractions end in digits that nobody wrote.
        Data::Float(number) if number.abs() < 1e9 => ((number * 1e6).round() / 1e6).to_string(),
        Data::Error(_) => String::new(),
        value => value.to_string(),
    }
}

/// Returns a date, with its time unless that is midnight; or a span as hours, minutes and seconds.
fn moment(at: &ExcelDateTime) -> String {
    if at.is_duration() {
        let seconds = (at.as_f64() * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match (at.as_f64() < 1.0, time.as_str()) {
        (true, time) => time.to_owned(),
        (false, "00:00:00") => format!("{year:04}-{month:02}-{day:02}"),
        (false, time) => format!("{year:04}-{month:02}-{day:02} {time}"),
    }
}

fn of_book(error: &Error) -> Unreadable {
    match error {
        Error::Xlsx(error) => of_xlsx(error),
        error if error.to_string().to_lowercase().contains("password") => Unreadable::Encrypted,
        _ => Unreadable::Damaged,
    }
}

const fn of_xlsx(error: &XlsxError) -> Unreadable {
    match error {
        XlsxError::Password => Unreadable::Encrypted,
        _ => Unreadable::Damaged,
    }
}
