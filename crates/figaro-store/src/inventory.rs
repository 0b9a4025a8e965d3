//! Inventory of a store, table by table: size, readability, and a hash for comparing two stores.

use std::collections::BTreeMap;

use ring::digest::{Context, SHA256};
use serde::de::IgnoredAny;

use crate::engine::{Engine, Keys, Result, View};

/// Health figures of the store, for `/status` and `figaro check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Size of the store on disk, in bytes.
    pub bytes: u64,
    /// Size of its records, in bytes.
    pub live: u64,
    /// Unreadable records and updates that were set aside.
    pub unreadable: u64,
}

/// Contents of a store's tables, by table name.
pub type Inventory = BTreeMap<String, TableInventory>;

/// Contents of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInventory {
    /// Number of records, readable or not.
    pub records: u64,
    /// Size of their keys and values, in bytes.
    pub bytes: u64,
    /// Number of records that are not valid JSON.
    pub unreadable: u64,
    /// SHA-256 of all keys and values in order, each preceded by its length in bytes as eight bytes.
    pub(crate) hash: Vec<u8>,
}

/// Reads the whole store.
///
/// # Errors
/// Of the engine.
pub fn inventory(engine: &dyn Engine) -> Result<Inventory> {
    inventory_of(&*engine.view()?, &engine.tables()?)
}

/// Reads these tables of a view.
///
/// # Errors
/// Of the engine.
pub(super) fn inventory_of<'a>(
    view: &dyn View,
    tables: impl IntoIterator<Item = &'a String>,
) -> Result<Inventory> {
    let mut inventory = Inventory::new();
    for name in tables {
        let (mut hash, mut table) =
            (Context::new(&SHA256), TableInventory { records: 0, bytes: 0, unreadable: 0, hash: Vec::new() });
        for entry in view.scan(name, &Keys::beginning_with([]))? {
            let (key, value) = entry?;
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
        inventory.insert(name.clone(), table);
    }
    Ok(inventory)
}

/// Returns the size of all records, in bytes.
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
