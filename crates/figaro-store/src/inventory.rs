//! What is in a store, table by table: how much, whether it can be read, and a hash by which two stores are compared.

use std::collections::BTreeMap;

use ring::digest::{Context, SHA256};
use serde::de::IgnoredAny;

use crate::engine::{Engine, Keys, Result};

/// How the store is doing, for `/status` and `figaro check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// The size of the store on disk, in bytes.
    pub bytes: u64,
    /// The bytes of the records in it.
    pub live: u64,
    /// Records and updates that could not be read and were set aside.
    pub unreadable: u64,
}

/// What is in the tables of a store, by name.
pub type Inventory = BTreeMap<String, Table>;

/// What is in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// How many records it has.
    pub records: u64,
    /// The bytes of their keys and values.
    pub bytes: u64,
    /// How many of them are no JSON.
    pub unreadable: u64,
    /// SHA-256 of all keys and values in their order, each after its length in bytes as eight bytes.
    pub(crate) hash: Vec<u8>,
}

/// Reads all there is in a store. `key` gives a key as it is to be hashed and counted, or `None` for one that is left out.
///
/// # Errors
/// Of the engine.
pub fn inventory(engine: &dyn Engine, key: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Result<Inventory> {
    let mut inventory = Inventory::new();
    for name in engine.tables()? {
        let (mut hash, mut table) =
            (Context::new(&SHA256), Table { records: 0, bytes: 0, unreadable: 0, hash: Vec::new() });
        // A view for each table: others may have to wait for those who look.
        let view = engine.view()?;
        for entry in view.scan(&name, &Keys::beginning_with([]))? {
            let (stored, value) = entry?;
            let Some(key) = key(&name, stored) else { continue };
            for part in [&key, &value] {
                let length = part.len() as u64;
                hash.update(&length.to_be_bytes());
                hash.update(part);
                table.bytes += length;
            }
            table.records += 1;
            table.unreadable += u64::from(serde_json::from_slice::<IgnoredAny>(&value).is_err());
        }
        table.hash = hash.finish().as_ref().to_vec();
        inventory.insert(name, table);
    }
    Ok(inventory)
}

/// The bytes of all records.
///
/// # Errors
/// Of the engine.
pub(super) fn live_bytes(engine: &dyn Engine) -> Result<u64> {
    let mut bytes = 0;
    for name in engine.tables()? {
        for entry in engine.view()?.scan(&name, &Keys::beginning_with([]))? {
            let (key, value) = entry?;
            bytes += (key.len() + value.len()) as u64;
        }
    }
    Ok(bytes)
}
