//! Imports a store from the lines of an export.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use super::lines::{ExportHeader, ExportLine, VERSION, contents};
use super::target::StoreTarget;
use super::{Result, TransferError};
use crate::format::FORMAT;
use crate::inventory::Inventory;
use crate::tables::NAMES;
use figaro_config::StoreUrl;

/// Maximum length of a line in bytes; no record comes near it.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Creates a store from the lines of an export, or continues one that was cut short, and compares it with the footer of
/// the export. Blocking.
///
/// # Errors
/// If there is another store, it cannot be written, or the lines are unreadable or no complete export of a version that
/// this build knows.
pub fn import(mut from: impl BufRead, to: &StoreUrl) -> Result<Inventory> {
    check_header(&mut from)?;
    let mut target = StoreTarget::begin(to)?;
    // Records left by an earlier try, table by table. Keys come in order.
    let mut done = BTreeMap::new();
    for table in NAMES {
        done.insert(table, target.last(table)?);
    }
    let (mut line, mut number) = (Vec::new(), 1_u64);
    let end = loop {
        number += 1;
        read_line(&mut from, &mut line)?;
        let early =
            || TransferError::Refused(format!("it ends early, at line {number}: make it again, to its end"));
        if line.is_empty() {
            return Err(early());
        }
        let wrong = |what: &str| TransferError::Refused(format!("line {number} of the export {what}"));
        let is_cut = !line.ends_with(b"\n");
        let parsed = ExportLine::parse(&line)
            .map_err(|error| if is_cut { early() } else { wrong(&format!("cannot be read: {error}")) });
        match parsed? {
            ExportLine::End(end) => break end,
            ExportLine::Record(record) => {
                let known = NAMES.into_iter().find(|name| *name == record.table);
                let unknown =
                    || wrong(&format!("has a table {} that this Figaro does not know", record.table));
                let table = known.ok_or_else(unknown)?;
                let (key, value) =
                    record.entry().ok_or_else(|| wrong("has no key and value that can be read"))?;
                if done[table].as_ref().is_none_or(|last| *last < key) {
                    target.put(table, key, value)?;
                }
            }
        }
    };
    read_line(&mut from, &mut line)?;
    if !line.trim_ascii().is_empty() {
        return Err(TransferError::Refused(format!(
            "something follows the last line of the export, line {number}: import a file with one export in it"
        )));
    }
    target.finish(|came| {
        let came = contents(came);
        let differing =
            end.tables.keys().chain(came.keys()).find(|table| end.tables.get(*table) != came.get(*table));
        differing.map_or(Ok(()), |table| Err(table.clone()))
    })
}

/// Reads the next line, replacing the one before; empty at the end.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> Result<()> {
    line.clear();
    let most = MAX_LINE + 1;
    if from.take(most).read_until(b'\n', line)? as u64 == most {
        return Err(TransferError::Refused(
            "this is no export of Figaro's: a line of it is too long".to_owned(),
        ));
    }
    Ok(())
}

fn check_header(from: &mut impl BufRead) -> Result<()> {
    let mut line = Vec::new();
    read_line(from, &mut line)?;
    match serde_json::from_slice::<ExportHeader>(&line) {
        Ok(header) if header.figaro_export != VERSION || header.format != FORMAT => {
            Err(TransferError::Refused(
                "another version of Figaro made this export, in a form that this one does not read: import it with \
                 that one"
                    .to_owned(),
            ))
        }
        Ok(_) => Ok(()),
        Err(_) => Err(TransferError::Refused(
            "this is no export of Figaro's: its first line says nothing of one".to_owned(),
        )),
    }
}
