//! Tool calls of turns, by turn and in the order in which they began.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::RunId;
use figaro_domain::tool::ToolCall;

/// Writes calls of a turn. A known call keeps its place, new ones go to the end. Searches from the end, where calls in
/// progress are: a turn may have made many calls before.
pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
    calls: &[ToolCall],
) -> Result<(), StoreFault> {
    let mut new: Vec<&ToolCall> = calls.iter().collect();
    for item in tables.calls.scan(&key::id(run))?.rev() {
        if new.is_empty() {
            return Ok(());
        }
        let (key, known) = item?;
        if let Some(at) = new.iter().position(|call| call.call.id == known.call.id) {
            changes.put(&tables.calls, &key, new.remove(at))?;
        }
    }
    let next = tables.calls.next_index(&key::id(run))?;
    (next..).zip(new).try_for_each(|(index, call)| changes.put(&tables.calls, key::call(run, index), call))
}

/// Removes the results from the call records of a turn that ends: from now on only messages hold them. Until then the
/// record replaces an unreadable result message. Calls made by a provider itself have no message.
pub(super) fn leave_results(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
) -> Result<(), StoreFault> {
    for item in tables.calls.scan(&key::id(run))? {
        let (key, call) = item?;
        if call.result.is_some() && !call.hosted {
            changes.put(&tables.calls, key, &ToolCall { result: None, ..call })?;
        }
    }
    Ok(())
}
