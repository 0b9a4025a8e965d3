//! A store written as lines of JSON.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::lines::{End, Header, Line, Record, VERSION, contents};
use super::source::Source;
use super::{Result, TransferError};
use crate::format::FORMAT;
use crate::inventory::Inventory;
use figaro_base::clock::Clock;
use figaro_config::StoreUrl;

/// Permissions of the file: it holds what people said.
const MODE: u32 = 0o600;

/// Writes a closed store into a file, or goes on with one that was cut short. `tell` is called with each table before it is written. Blocking.
///
/// # Errors
/// If the store cannot be opened, if the file cannot be written, if it holds something else or a whole export.
pub fn export_file(from: &StoreUrl, to: &Path, tell: impl FnMut(&str)) -> Result<Inventory> {
    let source = Source::open(from)?;
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(MODE).open(to)?;
    if !file.metadata()?.is_file() {
        return Err(TransferError::Refused("this is no file to write an export into: name one".to_owned()));
    }
    let done = Done::read(&file, &header(&source)?)?;
    file.set_len(done.bytes)?;
    let mut lines = BufWriter::new(&file);
    lines.seek(SeekFrom::Start(done.bytes))?;
    let exported = write(&source, done.last, &mut lines, tell)?;
    lines.flush()?;
    drop(lines);
    file.sync_all()?;
    Ok(exported)
}

/// The same into anything that takes bytes, from the beginning.
///
/// # Errors
/// If the store cannot be opened, if the bytes are not taken.
pub fn export_to(from: &StoreUrl, to: impl Write) -> Result<Inventory> {
    let source = Source::open(from)?;
    let mut lines = BufWriter::new(to);
    let exported = write(&source, None, &mut lines, |_table| {})?;
    lines.flush()?;
    Ok(exported)
}

fn header(source: &Source) -> Result<Header> {
    Ok(Header { figaro_export: VERSION, format: FORMAT, mark: source.mark()? })
}

/// A table and a key in it.
type Place = (String, Vec<u8>);

/// What an earlier export has left in a file.
#[derive(Default)]
struct Done {
    /// The bytes of all whole lines.
    bytes: u64,
    /// The last record.
    last: Option<Place>,
}

impl Done {
    fn read(file: &File, header: &Header) -> Result<Self> {
        let mut reader = BufReader::new(file);
        let begin = serde_json::to_vec(header).map_err(std::io::Error::from)?;
        let (mut line, mut done) = (Vec::new(), Self::default());
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line)?;
            // What has no end of line was cut short.
            let is_cut = !line.ends_with(b"\n") && (done.bytes > 0 || begin.starts_with(&line));
            if bytes == 0 || is_cut {
                return Ok(done);
            }
            if done.bytes == 0 {
                match serde_json::from_slice::<Header>(&line) {
                    Ok(found) if found == *header && header.mark.is_some() => {}
                    _ => {
                        return Err(other(
                            "it holds something else, or an export of another state of the store",
                        ));
                    }
                }
            } else {
                match Line::parse(&line) {
                    Ok(Line::Record(record)) => {
                        let entry = record.entry().ok_or_else(|| other("it holds something else"))?;
                        done.last = Some((record.table.into_owned(), entry.0));
                    }
                    Ok(Line::End(_)) => return Err(other("it is a whole export already")),
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

/// Writes what comes after a place, or all.
fn write(
    source: &Source,
    after: Option<Place>,
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
        source.records(table, last, |key, value| put(lines, &Record::of(table, &key, &value)))?;
    }
    let inventory = source.inventory()?;
    put(lines, &End { exported_at: Clock::system().now(), tables: contents(&inventory) })?;
    Ok(inventory)
}

fn put(lines: &mut impl Write, line: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(&mut *lines, line).map_err(std::io::Error::from)?;
    Ok(lines.write_all(b"\n")?)
}
