//! The tool calls of turns, by turn and in the order in which they began.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::RunId;
use figaro_domain::tool::ToolCall;

/// Writes calls of a turn. One that is known keeps its place, new ones stand behind all. Looked for from the end, where the
/// calls under way are: a turn may have made very many before.
pub(in crate::kv) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
    calls: &[ToolCall],
) -> Result<(), Fault> {
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
