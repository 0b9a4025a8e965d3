//! Records of the chat taken from erased messages: they lose the fields that came from these. A record that makes no
//! sense without them is deleted, with the fields that refer to it. All its reminders are deleted too, whoever requested
//! them, because they quote the fields.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::tasks;
use super::everything::remove_task;
use super::to_erase::ToErase;
use figaro_base::ids::{RecordId, TaskId, UserId};
use figaro_domain::erasure::{Erased, Erasure};
use figaro_domain::record::{FieldValue, Filled, Record, without_fields};
use figaro_domain::undo::Undoable;

/// Removes these fields and records, and their reminders. Adds the numbers of both to `erased`.
pub(super) fn clear(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    what: &Erasure,
    erased: &mut Erased,
) -> Result<(), StoreFault> {
    let before = records_of(tables, to_erase)?;
    let mut gone: BTreeSet<RecordId> = lost(tables, changes, to_erase, what)?;
    let reminders = |record: &Record| (record.id, record.reminders.clone());
    let reminders: BTreeMap<RecordId, Vec<TaskId>> = before.values().map(reminders).collect();
    for (id, record) in left(before, to_erase, what) {
        for task in reminders.get(&id).into_iter().flatten() {
            if let Some(task) = tasks::find(tables, Some(*task))? {
                remove_task(tables, changes, erased, &task)?;
            }
        }
        let record = record.map(|record| {
            let says =
                |user: &UserId| record.fields.values().flat_map(Filled::origins).any(|one| one.user == *user);
            let stated_by = record.stated_by.clone().filter(says);
            Record { stated_by, reminders: Vec::new(), ..record }
        });
        let key = key::record(to_erase.chat, id);
        match record {
            Some(record) => changes.put(&tables.records, key, &record)?,
            None => changes.remove(&tables.records, key),
        }
        erased.records += 1;
        gone.insert(id);
    }
    // Includes tasks that ended with a record removed before: their prompts are kept for a while.
    for task in tasks::of_chat(tables, to_erase.chat)? {
        if task.record.is_some_and(|record| gone.contains(&record)) {
            remove_task(tables, changes, erased, &task)?;
        }
    }
    Ok(())
}

/// Drops the undo data of records that would lose fields, or that refer to such records. Returns these records.
fn lost(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    what: &Erasure,
) -> Result<BTreeSet<RecordId>, StoreFault> {
    let mut all_lost = BTreeSet::new();
    for undo in tables.undos.list(&[])?.into_iter().filter(|undo| undo.asked_in == to_erase.chat) {
        let removed = undo.calls.iter().filter_map(Undoable::records).flat_map(|removed| removed.records);
        let removed: BTreeMap<RecordId, Record> = removed.map(|record| (record.id, record)).collect();
        if removed.is_empty() {
            continue;
        }
        let ids: BTreeSet<RecordId> = removed.keys().copied().collect();
        let mut all = records_of(tables, to_erase)?;
        all.extend(removed);
        let mut lost = left(all, to_erase, what).into_keys().filter(|id| ids.contains(id)).peekable();
        if lost.peek().is_some() {
            changes.remove(&tables.undos, key::id(undo.run));
            all_lost.extend(lost);
        }
    }
    Ok(all_lost)
}

fn records_of(tables: &Tables<'_>, to_erase: &ToErase) -> Result<BTreeMap<RecordId, Record>, StoreFault> {
    let all = tables.records.scan(&key::chat(to_erase.chat))?;
    all.map(|item| item.map(|(_, record)| (record.id, record))).collect()
}

/// Returns the remaining state of records that lose fields; `None` for deleted ones.
fn left(
    records: BTreeMap<RecordId, Record>,
    to_erase: &ToErase,
    what: &Erasure,
) -> BTreeMap<RecordId, Option<Record>> {
    let is_theirs = |filled: &Filled| match what {
        Erasure::Person(_, user) => filled.origins().any(|origin| origin.user == *user),
        Erasure::Said(..) => filled.origins().any(|origin| to_erase.turns.contains(&origin.turn)),
        // Deleting a conversation keeps its notes and records; those of a whole chat are erased elsewhere.
        Erasure::Session(..) | Erasure::Chat(..) => false,
    };
    without(records, &is_theirs)
}

/// Removes matching fields. Returns the remaining state of the changed records; `None` for deleted ones.
fn without(
    mut records: BTreeMap<RecordId, Record>,
    goes: &impl Fn(&Filled) -> bool,
) -> BTreeMap<RecordId, Option<Record>> {
    let mut changed: BTreeMap<RecordId, Option<Record>> = BTreeMap::new();
    let mut gone: BTreeSet<RecordId> = BTreeSet::new();
    loop {
        let is_lost = |filled: &Filled| {
            goes(filled) || matches!(filled.value, FieldValue::Ref(to) if gone.contains(&to))
        };
        let hit: Vec<RecordId> = records
            .values()
            .filter(|record| record.fields.values().any(is_lost))
            .map(|record| record.id)
            .collect();
        if hit.is_empty() {
            return changed;
        }
        let mut went = BTreeSet::new();
        for id in hit {
            let left = records.remove(&id).and_then(|record| without_fields(record, is_lost));
            match &left {
                Some(record) => drop(records.insert(id, record.clone())),
                None => drop(went.insert(id)),
            }
            changed.insert(id, left);
        }
        gone.extend(went);
    }
}
