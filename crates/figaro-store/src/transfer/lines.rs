//! Lines of an export: a header, a line for each record, and a footer with the totals. Each is a JSON object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::engine::StoreMark;
use crate::inventory::{Inventory, TableInventory};
use figaro_domain::code::{hex, unhex};

/// Version of the lines that this build writes and reads.
pub(super) const VERSION: u32 = 1;

/// First line of an export.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ExportHeader {
    /// Version of the lines.
    pub(super) figaro_export: u32,
    /// Format of the store.
    pub(super) format: u32,
    /// Last commit of the store; `None` if it was not counted.
    pub(super) mark: Option<StoreMark>,
}

/// A line after the header.
#[derive(Debug)]
pub(super) enum ExportLine<'a> {
    Record(ExportRecord<'a>),
    /// Last line of an export.
    End(ExportFooter),
}

impl<'a> ExportLine<'a> {
    /// Parses a line.
    ///
    /// # Errors
    /// The error of parsing it as a record, if it is neither.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
            .map(Self::Record)
            .or_else(|error| serde_json::from_slice(line).map(Self::End).map_err(|_other| error))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportRecord<'a> {
    #[serde(borrow)]
    pub(super) table: Cow<'a, str>,
    /// Key in hexadecimal digits.
    pub(super) key: String,
    /// Stored value, if it is JSON on one line.
    #[serde(borrow, default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
    /// Stored value in Base64, if it is not JSON on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

/// Deserializes a value that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Last line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportFooter {
    pub(super) exported_at: DateTime<Utc>,
    /// Summary of each table, by name.
    pub(super) tables: BTreeMap<String, TableSummary>,
}

/// Returns `true` if a line is the last one of an export.
#[must_use]
pub fn is_export_end(line: &[u8]) -> bool {
    serde_json::from_slice::<ExportFooter>(line).is_ok()
}

/// Size and hash of a table.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableSummary {
    records: u64,
    /// SHA-256 of its keys and values, as `inventory` builds it, in hexadecimal digits.
    sha256: String,
}

impl<'a> ExportRecord<'a> {
    /// Creates the line of a record.
    pub(super) fn of(table: &'a str, key: &[u8], value: &'a [u8]) -> Self {
        let line = std::str::from_utf8(value).ok().filter(|text| !text.contains(['\n', '\r']));
        // Blanks around a value would be lost.
        let line = line.filter(|text| text.trim() == *text);
        let json = line.and_then(|text| serde_json::from_str(text).ok());
        let bytes = json.is_none().then(|| STANDARD.encode(value));
        Self { table: table.into(), key: hex(key), value: json, bytes }
    }

    /// Returns its key and value; `None` if the line has no valid ones.
    pub(super) fn entry(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let value = match (self.value, &self.bytes) {
            (Some(value), None) => value.get().as_bytes().to_vec(),
            (None, Some(bytes)) => STANDARD.decode(bytes).ok()?,
            _ => return None,
        };
        Some((unhex(&self.key)?, value))
    }
}

/// Returns the table summaries of the footer.
pub(super) fn contents(inventory: &Inventory) -> BTreeMap<String, TableSummary> {
    let content = |table: &TableInventory| TableSummary { records: table.records, sha256: hex(&table.hash) };
    // Empty tables do not count as a difference: another build may not have them.
    let filled = inventory.iter().filter(|(_, table)| table.records > 0);
    filled.map(|(name, table)| (name.clone(), content(table))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_comes_back_as_it_was(key: Vec<u8>, value: Vec<u8>, text in ".*", number: f64, spaced: bool) {
            let json = serde_json::json!({ "text": text, "number": number }).to_string();
            let json = if spaced { format!(" {json}\n") } else { json };
            for value in [value, json.into_bytes(), b"null".to_vec(), Vec::new()] {
                let line = serde_json::to_string(&ExportRecord::of("notes", &key, &value)).unwrap();
                prop_assert!(!line.contains('\n'));
                let ExportLine::Record(record) = ExportLine::parse(line.as_bytes()).unwrap() else { panic!("{line}") };
                prop_assert_eq!(record.entry(), Some((key.clone(), value)));
            }
        }
    }

    #[test]
    fn what_is_no_record_is_none() {
        for (key, value) in
            [("0", "\"value\":1"), ("zz", "\"value\":1"), ("00", "\"bytes\":\"?\""), ("+1", "\"value\":1")]
        {
            let line = format!(r#"{{"table":"notes","key":"{key}",{value}}}"#);
            let ExportLine::Record(record) = ExportLine::parse(line.as_bytes()).unwrap() else {
                panic!("{line}")
            };
            assert_eq!(record.entry(), None, "{line}");
        }
    }
}
