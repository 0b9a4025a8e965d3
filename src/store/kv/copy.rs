//! A store copied into another, of another engine or in another place. A copy that was cut short goes on where it stopped; until
//! it has ended and was compared, the new store cannot be opened.

use super::fault::Fault;
use super::format::{self, COPYING, KEY, META};
use super::inventory::{Inventory, inventory};
use super::marks::loss;
use super::space::Space;
use super::tables::NAMES;
use crate::config::StoreUrl;
use crate::ids::BotId;
use crate::store::engine::{self, Batch, Engine, EngineError, Keys};
use crate::store::{Result, StoreError};

/// So many records, or bytes of them, are copied in one commit.
const RECORDS: usize = 1_000;
const BYTES: usize = 1024 * 1024;

/// Copies a closed store into a new one, and compares the two. The keys of a store of format 1 name no bot: they get this one,
/// if it is given, else the new store has that format too. `tell` is called with each table before it is copied. Blocking.
///
/// # Errors
/// If one of them cannot be opened, if there is another store where the new one is to be, if they differ in the end.
pub fn copy(
    from: &StoreUrl,
    to: &StoreUrl,
    bot: Option<BotId>,
    mut tell: impl FnMut(&str),
) -> Result<Inventory> {
    let of = |url: &StoreUrl| {
        let place = url.to_string();
        move |error: EngineError| Fault::from(error).into_error(&place, "be copied")
    };
    let (of_from, of_to) = (of(from), of(to));
    let source = engine::open(from).map_err(&of_from)?;
    let known =
        format::recorded(&*source).map_err(|fault| fault.into_error(&from.to_string(), "be copied"))?;
    let Some(known) = known.filter(|known| *known <= format::FORMAT) else {
        return Err(of_from(EngineError::Unreadable(
            "there is no store, or one of a newer Figaro".to_owned(),
        )));
    };
    if let Some(lost) = loss(&*source).map_err(&of_from)? {
        return Err(StoreError::Lost { place: from.to_string(), loss: lost.to_string() });
    }
    let (space, format) = match (known, bot) {
        (1, Some(bot)) => (Space::of(bot), format::FORMAT),
        (known, _) => (Space::whole(), known),
    };
    let mut target = engine::open(to).map_err(&of_to)?;
    begin(&mut *target).map_err(&of_to)?;
    for table in source.tables().map_err(&of_from)? {
        if table == META {
            continue;
        }
        let Some(name) = NAMES.into_iter().find(|name| *name == table) else {
            return Err(of_from(EngineError::Unreadable(format!("it has an unknown table {table}"))));
        };
        tell(name);
        copy_table(&*source, &*target, name, &space).map_err(&of_to)?;
    }
    // What is recorded of the store itself is written last.
    let without_meta = |table: &str, key: Vec<u8>| (table != META).then(|| space.outer(&key));
    let sent = inventory(&*source, without_meta).map_err(&of_from)?;
    let came = inventory(&*target, |table, key| (table != META).then_some(key)).map_err(&of_to)?;
    if let Some((table, _)) = sent.iter().find(|(table, sent)| came.get(*table) != Some(*sent)) {
        let reason = format!("what was copied of {table} is not what is there: remove it and copy again");
        return Err(of_to(EngineError::Unreadable(reason)));
    }
    end(&*target, format).map_err(&of_to)?;
    Ok(came)
}

/// Notes that a copy is under way, unless there is something else.
fn begin(target: &mut dyn Engine) -> Result<(), EngineError> {
    if target.tables()?.is_empty() {
        // Of a store that was there before.
        target.replace_mark(None)?;
        target.create_tables(&[META])?;
        let mut batch = Batch::default();
        batch.put(META, COPYING.to_vec(), b"true".to_vec());
        target.write(&batch)?;
    }
    if target.view()?.get(META, COPYING)?.is_none() {
        return Err(EngineError::Unreadable("there is a store already, which is left as it is".to_owned()));
    }
    target.create_tables(&NAMES)
}

fn copy_table(
    source: &dyn Engine,
    target: &dyn Engine,
    table: &'static str,
    space: &Space,
) -> Result<(), EngineError> {
    // Keys are copied in their order: the last one there tells how far an earlier copy came.
    let last = target.view()?.keys(table, &Keys::beginning_with([]))?.next_back().transpose()?;
    let view = source.view()?;
    let rest = last.map_or_else(|| Keys::beginning_with([]), |last| Keys::after(space.inner(last)));
    let (mut batch, mut records, mut bytes) = (Batch::default(), 0, 0);
    for entry in view.scan(table, &rest)? {
        let (key, value) = entry?;
        records += 1;
        bytes += key.len() + value.len();
        batch.put(table, space.outer(&key), value);
        if records == RECORDS || bytes > BYTES {
            target.write(&std::mem::take(&mut batch))?;
            (records, bytes) = (0, 0);
        }
    }
    if batch.is_empty() { Ok(()) } else { target.write(&batch) }
}

fn end(target: &dyn Engine, format: u32) -> Result<(), EngineError> {
    let mut batch = Batch::default();
    batch.put(META, KEY.to_vec(), format.to_string().into_bytes());
    batch.remove(META, COPYING.to_vec());
    target.write(&batch)
}
