//! Exports a store as lines of JSON.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::error::of;
use super::lines::{ExportFooter, ExportHeader, ExportLine, ExportRecord, VERSION, contents};
use super::source::{READ, StoreSource, open_closed};
use super::{Result, TransferError};
use crate::engine;
use crate::format::FORMAT;
use crate::inventory::Inventory;
use figaro_base::clock::Clock;
use figaro_config::{DatabaseUrl, StoreUrl};

/// Permissions of the file: it contains people's messages.
const MODE: u32 = 0o600;

/// Writes a closed store into a file, or continues one that was cut short. Calls `tell` with each table before it is
/// written. Blocking.
///
/// # Errors
/// If the store cannot be opened, or the file cannot be written, contains something else or is a complete export.
pub fn export_file(from: &StoreUrl, to: &Path, tell: impl FnMut(&str)) -> Result<Inventory> {
    let engine = open_closed(from)?;
    let source = StoreSource::of(&*engine, from)?;
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(MODE).open(to)?;
    if !file.metadata()?.is_file() {
        return Err(TransferError::Refused("this is no file to write an export into: name one".to_owned()));
    }
    let done = ExportProgress::read(&file, &header(&source)?)?;
    file.set_len(done.bytes)?;
    let mut lines = BufWriter::new(&file);
    lines.seek(SeekFrom::Start(done.bytes))?;
    let exported = write(&source, done.last, &mut lines, tell)?;
    lines.flush()?;
    drop(lines);
    file.sync_all()?;
    Ok(exported)
}

/// Writes a closed store into any writer, from the beginning.
///
/// # Errors
/// If the store cannot be opened, or the writer fails.
pub fn export_to(from: &StoreUrl, to: impl Write) -> Result<Inventory> {
    let engine = open_closed(from)?;
    let source = StoreSource::of(&*engine, from)?;
    write_all(&source, to)
}

/// Writes the store in a database into any writer, from the beginning, while bots use it. Blocking.
///
/// # Errors
/// If there is no store in it, it cannot be read, or the writer fails.
pub fn export_beside(from: &DatabaseUrl, to: impl Write) -> Result<Inventory> {
    let url = StoreUrl::Database(from.clone());
    let engine = engine::open_beside(from).map_err(of(&url, READ))?;
    let missing = || TransferError::Refused(format!("there is no store in {url}"));
    let engine = engine.ok_or_else(missing)?;
    write_all(&StoreSource::beside(&*engine, &url)?, to)
}

/// Writes all records into a writer.
pub(crate) fn write_all(source: &StoreSource<'_>, to: impl Write) -> Result<Inventory> {
    let mut lines = BufWriter::new(to);
    let exported = write(source, None, &mut lines, |_table| {})?;
    lines.flush()?;
    Ok(exported)
}

fn header(source: &StoreSource<'_>) -> Result<ExportHeader> {
    Ok(ExportHeader { figaro_export: VERSION, format: FORMAT, mark: source.mark()? })
}

/// A table and a key in it.
type RecordPosition = (String, Vec<u8>);

/// Content of a file left by an earlier export.
#[derive(Default)]
struct ExportProgress {
    /// Length of all complete lines, in bytes.
    bytes: u64,
    /// Position of the last record.
    last: Option<RecordPosition>,
}

impl ExportProgress {
    fn read(file: &File, header: &ExportHeader) -> Result<Self> {
        let mut reader = BufReader::new(file);
        let begin = serde_json::to_vec(header).map_err(std::io::Error::from)?;
        let (mut line, mut done) = (Vec::new(), Self::default());
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line)?;
            // A line without an end was cut short.
            let is_cut = !line.ends_with(b"\n") && (done.bytes > 0 || begin.starts_with(&line));
            if bytes == 0 || is_cut {
                return Ok(done);
            }
            if done.bytes == 0 {
                match serde_json::from_slice::<ExportHeader>(&line) {
                    Ok(found) if found == *header && header.mark.is_some() => {}
                    _ => {
                        return Err(other(
                            "it holds something else, or an export of another state of the store",
                        ));
                    }
                }
            } else {
                match ExportLine::parse(&line) {
                    Ok(ExportLine::Record(record)) => {
                        let entry = record.entry().ok_or_else(|| other("it holds something else"))?;
                        done.last = Some((record.table.into_owned(), entry.0));
                    }
                    Ok(ExportLine::End(_)) => return Err(other("it is a whole export already")),
                    Err(_) => return Err(other("it is damaged")),
                }
            }
            done.bytes += bytes as u64;
        }
    }
}

fn other(what: &str) -> TransferError {
    TransferError::Refused(format!("the file is left as it is, because {what}: remove it or name another"))
}

/// Writes the records after a position, or all.
fn write(
    source: &StoreSource<'_>,
    after: Option<RecordPosition>,
    lines: &mut impl Write,
    mut tell: impl FnMut(&str),
) -> Result<Inventory> {
    if after.is_none() {
        put(lines, &header(source)?)?;
    }
    for table in source.tables()? {
        let last = match &after {
            Some((done, _)) if table < done.as_str() => continue,
            Some((done, key)) if table == done => Some(key.clone()),
            _ => None,
        };
        tell(table);
        source.records(table, last, |key, value| put(lines, &ExportRecord::of(table, &key, &value)))?;
    }
    let inventory = source.inventory()?;
    put(lines, &ExportFooter { exported_at: Clock::system().now(), tables: contents(&inventory) })?;
    Ok(inventory)
}

fn put(lines: &mut impl Write, line: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(&mut *lines, line).map_err(std::io::Error::from)?;
    Ok(lines.write_all(b"\n")?)
}
