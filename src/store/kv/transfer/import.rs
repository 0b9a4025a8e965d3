//! A store made of the lines of an export.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::lines::{Header, Line, VERSION, contents};
use super::target::Target;
use super::{Result, TransferError};
use crate::config::StoreUrl;
use crate::store::kv::format::FORMAT;
use crate::store::kv::inventory::Inventory;
use crate::store::kv::tables::NAMES;

/// Makes a new store of the lines of an export, or goes on with one that was cut short, and compares it with what the export
/// says. Blocking.
///
/// # Errors
/// If there is another store, if it cannot be written, if the lines cannot be read or are no whole export of a version that
/// this build knows.
pub fn import(mut from: impl BufRead, to: &StoreUrl) -> Result<Inventory> {
    let header = header(&mut from)?;
    let mut target = Target::begin(to)?;
    // What an earlier try has left, table by table. Keys come in their order.
    let mut done = BTreeMap::new();
    for table in NAMES {
        done.insert(table, target.last(table)?);
    }
    let (mut line, mut number) = (Vec::new(), 1_u64);
    let end = loop {
        line.clear();
        number += 1;
        if from.read_until(b'\n', &mut line)? == 0 {
            return Err(TransferError::NoExport(format!(
                "the export ends early, before line {number}: let `figaro export` run to its end, and import that"
            )));
        }
        let wrong = |what: &str| TransferError::NoExport(format!("line {number} of the export {what}"));
        match Line::parse(&line).map_err(|error| wrong(&format!("cannot be read: {error}")))? {
            Line::End(end) => break end,
            Line::Record(record) => {
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
    target.finish(header.format, |came| {
        let came = contents(came);
        let differing =
            end.tables.keys().chain(came.keys()).find(|table| end.tables.get(*table) != came.get(*table));
        differing.map_or(Ok(()), |table| Err(table.clone()))
    })
}

fn header(from: &mut impl BufRead) -> Result<Header> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    match serde_json::from_slice::<Header>(&line) {
        Ok(header) if header.figaro_export > VERSION || header.format > FORMAT => Err(
            TransferError::NoExport("a newer Figaro made this export: import it with that one".to_owned()),
        ),
        Ok(header) => Ok(header),
        Err(_) => Err(TransferError::NoExport(
            "this is no export of Figaro's: its first line says nothing of one".to_owned(),
        )),
    }
}
