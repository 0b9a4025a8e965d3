//! The lines of an export: one that says what it is, one for each record, one that says what a whole export has. Each is a
//! JSON object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::engine::Mark;
use crate::inventory::{Inventory, Table};

/// The version of the lines that this build writes and reads.
pub(super) const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of the lines.
    pub(super) figaro_export: u32,
    /// The format of the store.
    pub(super) format: u32,
    /// How far the store had come; `None` if it did not count.
    pub(super) mark: Option<Mark>,
}

/// A line after the first one.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// A record.
    Record(Record<'a>),
    /// The last line.
    End(End),
}

impl<'a> Line<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it as a record, if it is neither.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
            .map(Self::Record)
            .or_else(|error| serde_json::from_slice(line).map(Self::End).map_err(|_other| error))
    }
}

/// A record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    /// Its table.
    #[serde(borrow)]
    pub(super) table: Cow<'a, str>,
    /// Its key, in hexadecimal digits.
    pub(super) key: String,
    /// What it holds, as it is stored.
    #[serde(borrow, default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
    /// What it holds in Base64, if that is no line of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

/// A value that is there: `null` is one, too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// When the export was made.
    pub(super) exported_at: DateTime<Utc>,
    /// What each table holds.
    pub(super) tables: BTreeMap<String, Content>,
}

/// What a table holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    records: u64,
    /// SHA-256 of its keys and values, as `kv::inventory` builds it, in hexadecimal digits.
    sha256: String,
}

impl<'a> Record<'a> {
    /// A record as a line has it.
    pub(super) fn of(table: &'a str, key: &[u8], value: &'a [u8]) -> Self {
        let line = std::str::from_utf8(value).ok().filter(|text| !text.contains(['\n', '\r']));
        // Blanks around a value would get lost on the way.
        let line = line.filter(|text| text.trim() == *text);
        let json = line.and_then(|text| serde_json::from_str(text).ok());
        let bytes = json.is_none().then(|| STANDARD.encode(value));
        Self { table: table.into(), key: hex(key), value: json, bytes }
    }

    /// Its key and what it holds; `None` if the line has none.
    pub(super) fn entry(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let value = match (self.value, &self.bytes) {
            (Some(value), None) => value.get().as_bytes().to_vec(),
            (None, Some(bytes)) => STANDARD.decode(bytes).ok()?,
            _ => return None,
        };
        Some((unhex(&self.key)?, value))
    }
}

/// What the last line says of what is in a store.
pub(super) fn contents(inventory: &Inventory) -> BTreeMap<String, Content> {
    let content = |table: &Table| Content { records: table.records, sha256: hex(&table.hash) };
    // Tables that this build makes and another does not are no difference while they are empty.
    let filled = inventory.iter().filter(|(_, table)| table.records > 0);
    filled.map(|(name, table)| (name.clone(), content(table))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let is_pair = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        let pair = std::str::from_utf8(pair).ok().filter(|_| is_pair)?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect()
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
                let line = serde_json::to_string(&Record::of("notes", &key, &value)).unwrap();
                prop_assert!(!line.contains('\n'));
                let Line::Record(record) = Line::parse(line.as_bytes()).unwrap() else { panic!("{line}") };
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
            let Line::Record(record) = Line::parse(line.as_bytes()).unwrap() else { panic!("{line}") };
            assert_eq!(record.entry(), None, "{line}");
        }
    }
}
