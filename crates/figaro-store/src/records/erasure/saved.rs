//! Records of the chat that were made of what is forgotten: they lose the fields that were taken from it and, where they make no sense
//! without these, go as a whole, with the fields of others that refer to them. What reminds of them goes too, whoever has it remind:
//! it says what stood in the fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::tasks;
use super::everything::remove_task;
use super::found::Found;
use super::needles::Needles;
use super::to_erase::ToErase;
use figaro_base::ids::{RecordId, RunId, TaskId, UserId};
use figaro_domain::erasure::{Erased, Erasure};
use figaro_domain::record::{FieldValue, Filled, Record, without_fields};
use figaro_domain::undo::Undoable;

/// Saves records.
const SAVER: &str = "save_record";

/// Takes these fields and records away, and what reminds of them. Gives how many of both there were in `erased`.
pub(super) fn clear(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    found: &Found,
    what: &Erasure,
    erased: &mut Erased,
) -> Result<(), Fault> {
    let Found { to_erase, sentences: texts, .. } = found;
    let before = records_of(tables, to_erase)?;
    let mut gone: BTreeSet<RecordId> = made_for(to_erase, what);
    gone.retain(|id| !before.contains_key(id));
    for lost in lost(tables, to_erase, texts, what)? {
        changes.remove(&tables.undos, key::id(lost.run));
        gone.extend(lost.records);
    }
    let reminders = |record: &Record| (record.id, record.reminders.clone());
    let reminders: BTreeMap<RecordId, Vec<TaskId>> = before.values().map(reminders).collect();
    for (id, record) in left(before, to_erase, texts, what) {
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
    // Also those that ended with a record that was removed before: what they were to say is kept for a while.
    for task in tasks::of_chat(tables, to_erase.chat)? {
        if task.record.is_some_and(|record| gone.contains(&record)) {
            remove_task(tables, changes, erased, &task)?;
        }
    }
    Ok(())
}

/// The records that lose something, and those that were made for messages that go and are not there any more: tools may have told
/// of both.
pub(super) fn named(
    tables: &Tables<'_>,
    to_erase: &ToErase,
    texts: &Needles,
    what: &Erasure,
) -> Result<BTreeSet<RecordId>, Fault> {
    let mut named = made_for(to_erase, what);
    named.extend(left(records_of(tables, to_erase)?, to_erase, texts, what).into_keys());
    named.extend(lost(tables, to_erase, texts, what)?.into_iter().flat_map(|lost| lost.records));
    Ok(named)
}

/// The records that were made or changed for messages that go, also those that are not there any more.
fn made_for(to_erase: &ToErase, what: &Erasure) -> BTreeSet<RecordId> {
    if matches!(what, Erasure::Session(..) | Erasure::Chat(..)) {
        return BTreeSet::new();
    }
    let made = to_erase.messages().filter_map(|message| {
        message.tool.as_ref().filter(|tool| tool.tool_name == SAVER)?;
        let result: Value = serde_json::from_str(&message.text).ok()?;
        result["record_id"].as_str().filter(|_| result["already_there"] != true)?.parse().ok()
    });
    made.collect()
}

/// Records that a turn has removed and that can be put back, though they would lose something.
struct Lost {
    run: RunId,
    records: Vec<RecordId>,
}

/// What can be put back of records that would lose something, or that belong to some that do.
fn lost(
    tables: &Tables<'_>,
    to_erase: &ToErase,
    texts: &Needles,
    what: &Erasure,
) -> Result<Vec<Lost>, Fault> {
    let mut all_lost = Vec::new();
    for undo in tables.undos.list(&[])?.into_iter().filter(|undo| undo.asked_in == to_erase.chat) {
        let removed = undo.calls.iter().filter_map(Undoable::records).flat_map(|removed| removed.records);
        let removed: BTreeMap<RecordId, Record> = removed.map(|record| (record.id, record)).collect();
        if removed.is_empty() {
            continue;
        }
        let ids: BTreeSet<RecordId> = removed.keys().copied().collect();
        let mut all = records_of(tables, to_erase)?;
        all.extend(removed);
        let left = left(all, to_erase, texts, what);
        let records: Vec<RecordId> = left.into_keys().filter(|id| ids.contains(id)).collect();
        if !records.is_empty() {
            all_lost.push(Lost { run: undo.run, records });
        }
    }
    Ok(all_lost)
}

fn records_of(tables: &Tables<'_>, to_erase: &ToErase) -> Result<BTreeMap<RecordId, Record>, Fault> {
    let all = tables.records.scan(&key::chat(to_erase.chat))?;
    all.map(|item| item.map(|(_, record)| (record.id, record))).collect()
}

/// What is left of the records that lose something; `None` for those that go.
fn left(
    records: BTreeMap<RecordId, Record>,
    to_erase: &ToErase,
    texts: &Needles,
    what: &Erasure,
) -> BTreeMap<RecordId, Option<Record>> {
    let is_theirs = |filled: &Filled| match what {
        Erasure::Person(_, user) => filled.origins().any(|origin| origin.user == *user),
        Erasure::Said(..) => filled.origins().any(|origin| to_erase.turns.contains(&origin.turn)),
        // A conversation that is tidied up leaves its notes and records; all of a chat goes elsewhere.
        Erasure::Session(..) | Erasure::Chat(..) => false,
    };
    let is_said = |filled: &Filled| match what {
        Erasure::Said(..) | Erasure::Person(..) => {
            let json = serde_json::to_string(&filled.value).unwrap_or_default();
            texts.stand_in(json.as_bytes())
        }
        Erasure::Session(..) | Erasure::Chat(..) => false,
    };
    without(records, &|filled| is_theirs(filled) || is_said(filled))
}

/// What is left of the records that lose something; `None` for those that go.
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
