//! `save_record`: validates the fields against their kind and stores them.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::arguments::Save;
use super::base::{RecordTools, kind_named, shown};
use super::reminding::tasks_of;
use crate::tools::{ToolContext, ToolError, ToolOutput};
use figaro_base::ids::RecordId;
use figaro_domain::record::{
    Book, FieldValues, Forms, Kind, MAX_RECORDS, ParseContext, Record, RecordDraft, SaveResult, ValueOrigin,
    read_fields, read_moment, reminders,
};
use figaro_domain::task::Task;
use figaro_policy::access::may_change;
use figaro_store::RecordSaved;

/// Field with the time of a reading.
const AT: &str = "at";
/// Tolerance between people's clocks and the machine's.
const AHEAD: TimeDelta = TimeDelta::hours(1);

pub(super) async fn save(
    tools: &RecordTools,
    context: &ToolContext,
    Save { kind, mut fields, record_id }: Save,
) -> Result<ToolOutput, ToolError> {
    let book = tools.books.in_chat(context.place.chat)?;
    let (pack, kind) = kind_named(&book, &kind)?;
    let record = record_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let record = record.map(|id| known(&book, id)).transpose()?;
    let mut faults = Vec::new();
    let at = taken_at(&book, kind, &mut fields, context.now).map_err(|fault| faults.push(fault));
    let names = book.names(&pack.name);
    let reading = ParseContext { zone: book.zone(), now: context.now, names: &names };
    let values = read_fields(kind, &fields, reading).map_err(|wrong| faults.extend(wrong));
    let (Ok(at), Ok(values)) = (at, values) else {
        return Err(ToolError::ForModel(format!("nothing was saved; mend this:\n{}", faults.join("\n"))));
    };
    // A reading may change in its time alone.
    if record.is_none() || at.is_none() {
        says_something(kind, &values, record)?;
    }
    let at = at.or_else(|| (kind.series.is_some() && record.is_none()).then_some(context.now));
    let draft = RecordDraft {
        chat: context.place.chat,
        pack: pack.name.clone(),
        kind: kind.name.clone(),
        record,
        values,
        at,
        keys: kind.keys().map(|key| key.name.clone()).collect(),
        required: kind.fields.iter().filter(|field| field.required).map(|field| field.name.clone()).collect(),
        origin: ValueOrigin { turn: context.run, user: context.speaker.user.clone() },
        now: context.now,
    };
    let forms = Forms {
        packs: book.packs().to_vec(),
        zone: book.zone(),
        min_interval: tools.tasks.reader.min_interval,
        of: (!may_change(&*tools.tasks.admins, context.standing, &context.place, &context.speaker.user)
            .await)
            .then(|| context.speaker.user.clone()),
    };
    let saved = tools.books.store.save(&draft, &forms, tools.tasks.limits).await?;
    let (record, what) = match &saved.saved {
        SaveResult::New(record) => (record, "saved"),
        SaveResult::Changed(record) => (record, "changed"),
        SaveResult::Same(record) => (record, "already_there"),
        other => return Err(refused(kind, other)),
    };
    let book = tools.books.in_chat(context.place.chat)?;
    let mut output = ToolOutput::from(told(&book, record, what));
    follow(&saved, &mut output);
    if is_free(tools, context, &book, record)? {
        offer(&book, context, record, &mut output);
    }
    Ok(output)
}

/// Reports how the reminders of a changed record were affected. Reminders that moved are also shown to the person.
fn follow(RecordSaved { moved, ended, left, without_room, .. }: &RecordSaved, output: &mut ToolOutput) {
    let listed = |tasks: &[Task]| -> Value {
        tasks.iter().map(|task| json!({"task_id": task.id, "title": task.title()})).collect()
    };
    if !moved.is_empty() || !ended.is_empty() {
        output.value["reminders_moved"] = listed(moved);
        output.value["reminders_ended"] = listed(ended);
        output.value["say"] = json!("tell them in a few words that the reminders follow the change");
        output.side_effects.tasks = moved.iter().map(|task| task.id).collect();
    }
    if !left.is_empty() {
        output.value["update_or_cancel_these"] = listed(left);
    }
    if *without_room > 0 {
        output.value["times_without_reminder"] = json!(without_room);
        output.value["why"] = json!("there are as many scheduled tasks as there may be; say so");
    }
}

/// Returns `true` if the record may offer a reminder, since it has no live one.
fn is_free(
    tools: &RecordTools,
    context: &ToolContext,
    book: &Book,
    record: &Record,
) -> Result<bool, ToolError> {
    let Some(entry) = book.entry(record.id).filter(|_| context.task.is_none()) else { return Ok(false) };
    let reminding = tasks_of(&tools.tasks.store, book, &entry, context.language.as_deref())?;
    Ok(reminding.is_empty())
}

fn known(book: &Book, id: &str) -> Result<RecordId, ToolError> {
    let found = id.parse().ok().filter(|id| book.record(*id).is_some());
    found.ok_or_else(|| ToolError::ForModel(format!("no record has the id {id}; list_records shows the ids")))
}

/// Takes the time of a reading from its fields.
fn taken_at(
    book: &Book,
    kind: &Kind,
    fields: &mut Map<String, Value>,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, String> {
    if kind.series.is_none() {
        return Ok(None);
    }
    let Some(written) = fields.shift_remove(AT).filter(|written| !written.is_null()) else { return Ok(None) };
    let text = written.as_str().unwrap_or_default();
    // A date alone means noon.
    let text = if text.trim().len() == 10 { format!("{}T12:00", text.trim()) } else { text.to_owned() };
    let at = read_moment(&text, book.zone()).map_err(|fault| format!("{AT}: {fault}"))?;
    if at > now + AHEAD {
        return Err(format!("{AT}: {text} has not come yet; a reading has the time when it was taken"));
    }
    Ok(Some(at))
}

/// Rejects a new reading without a number, and an empty change.
fn says_something(kind: &Kind, values: &FieldValues, record: Option<RecordId>) -> Result<(), ToolError> {
    let numbers = || kind.fields.iter().filter(|field| field.form.range().is_some());
    let has_number = numbers().any(|field| values.get(&field.name).is_some_and(Option::is_some));
    if kind.series.is_some() && record.is_none() && !has_number {
        let names: Vec<&str> = numbers().map(|field| field.name.as_str()).collect();
        return Err(ToolError::ForModel(format!("give at least one of {}", names.join(", "))));
    }
    if values.is_empty() {
        return Err(ToolError::ForModel("fields is empty: give what was stated".to_owned()));
    }
    Ok(())
}

fn refused(kind: &Kind, saved: &SaveResult) -> ToolError {
    ToolError::ForModel(match saved {
        SaveResult::Missing(fields) => format!(
            "nothing was saved: of {} these are missing: {}; ask for what was not said",
            kind.name,
            fields.join(", ")
        ),
        SaveResult::Unknown => format!("no {} has this record_id; list_records shows the ids", kind.name),
        SaveResult::Taken(other) => format!(
            "another {} has the same {} already, record_id {other}: change that one, or remove one of the two",
            kind.name,
            kind.keys().map(|key| key.name.as_str()).collect::<Vec<_>>().join(", ")
        ),
        SaveResult::Full => format!(
            "this chat has {MAX_RECORDS} records, as many as it may; the person can remove some with /records"
        ),
        SaveResult::New(_) | SaveResult::Changed(_) | SaveResult::Same(_) => String::new(),
    })
}

fn told(book: &Book, record: &Record, what: &str) -> Value {
    let mut told = json!({"success": true, what: true});
    if let (Some(told), Value::Object(shown)) = (told.as_object_mut(), shown(book, record)) {
        told.extend(shown);
    }
    told
}

/// Asks the model to offer a reminder if the record has a future time.
fn offer(book: &Book, context: &ToolContext, record: &Record, output: &mut ToolOutput) {
    let Some(entry) = book.entry(record.id) else { return };
    let offered = reminders(book, &entry, context.language.as_deref(), context.now);
    if offered.is_empty() {
        return;
    }
    let tasks = offered.into_iter().map(|one| {
        json!({
            "title": one.title,
            "prompt": one.prompt,
            "schedule": one.schedule,
            "recurring": one.recurring,
            "record_id": record.id,
        })
    });
    output.value["offer"] = json!(
        "offer a reminder in a few words; a button for it stands under your answer. If they say yes in words, \
         schedule each of reminders as it stands here"
    );
    output.value["reminders"] = tasks.collect();
    output.side_effects.remindable = vec![record.id];
}
