//! `save_record`: what somebody stated, held to the form of its kind and kept.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::arguments::Save;
use super::base::{RecordTools, kind_named, shown};
use super::reminding::tasks_of;
use crate::tools::{ToolContext, ToolError, ToolOutput};
use figaro_base::ids::RecordId;
use figaro_domain::record::{
    Book, Draft, Forms, Kind, MAX_RECORDS, Origin, Reading, Record, Saved, Values, read_fields, read_moment,
    reminders,
};
use figaro_domain::task::Task;
use figaro_policy::access::may_change;
use figaro_store::RecordSaved;

/// The key of the time of a reading among the fields.
const AT: &str = "at";
/// Clocks of people and of the machine differ by so much at most.
const AHEAD: TimeDelta = TimeDelta::hours(1);

/// Saves a record.
pub(super) async fn save(
    tools: &RecordTools,
    context: &ToolContext,
    Save { kind, mut fields, record_id }: Save,
) -> Result<ToolOutput, ToolError> {
    let book = tools.books.in_chat(context.place.chat).await?;
    let (pack, kind) = kind_named(&book, &kind)?;
    let record = record_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let record = record.map(|id| known(&book, id)).transpose()?;
    let mut faults = Vec::new();
    let at = taken_at(&book, kind, &mut fields, context.now).map_err(|fault| faults.push(fault));
    let names = book.names(&pack.name);
    let reading = Reading { zone: book.zone(), now: context.now, names: &names };
    let values = read_fields(kind, &fields, reading).map_err(|wrong| faults.extend(wrong));
    let (Ok(at), Ok(values)) = (at, values) else {
        return Err(ToolError::ForModel(format!("nothing was saved; mend this:\n{}", faults.join("\n"))));
    };
    // Another time alone is a change of a reading.
    if record.is_none() || at.is_none() {
        says_something(kind, &values, record)?;
    }
    let at = at.or_else(|| (kind.series.is_some() && record.is_none()).then_some(context.now));
    let draft = Draft {
        chat: context.place.chat,
        pack: pack.name.clone(),
        kind: kind.name.clone(),
        record,
        values,
        at,
        keys: kind.keys().map(|key| key.name.clone()).collect(),
        required: kind.fields.iter().filter(|field| field.required).map(|field| field.name.clone()).collect(),
        origin: Origin { turn: context.run, user: context.speaker.user.clone() },
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
        Saved::New(record) => (record, "saved"),
        Saved::Changed(record) => (record, "changed"),
        Saved::Same(record) => (record, "already_there"),
        other => return Err(refused(kind, other)),
    };
    let book = tools.books.in_chat(context.place.chat).await?;
    let mut output = ToolOutput::from(told(&book, record, what));
    follow(&saved, &mut output);
    if is_free(tools, context, &book, record).await? {
        offer(&book, context, record, &mut output);
    }
    Ok(output)
}

/// Tells what became of the reminders of a record that has changed; those that follow it are shown to the person too.
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

/// Whether a record may offer a reminder: nothing reminds of it yet, or not any more.
async fn is_free(
    tools: &RecordTools,
    context: &ToolContext,
    book: &Book,
    record: &Record,
) -> Result<bool, ToolError> {
    let Some(entry) = book.entry(record.id).filter(|_| context.task.is_none()) else { return Ok(false) };
    let reminding = tasks_of(&tools.tasks.store, book, &entry, context.language.as_deref()).await?;
    Ok(reminding.is_empty())
}

fn known(book: &Book, id: &str) -> Result<RecordId, ToolError> {
    let found = id.parse().ok().filter(|id| book.record(*id).is_some());
    found.ok_or_else(|| ToolError::ForModel(format!("no record has the id {id}; list_records shows the ids")))
}

/// When a reading was taken, of the fields of a history.
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
    // A day alone is its noon.
    let text = if text.trim().len() == 10 { format!("{}T12:00", text.trim()) } else { text.to_owned() };
    let at = read_moment(&text, book.zone()).map_err(|fault| format!("{AT}: {fault}"))?;
    if at > now + AHEAD {
        return Err(format!("{AT}: {text} has not come yet; a reading has the time when it was taken"));
    }
    Ok(Some(at))
}

/// A reading without a number, or a change of nothing, is a mistake.
fn says_something(kind: &Kind, values: &Values, record: Option<RecordId>) -> Result<(), ToolError> {
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

fn refused(kind: &Kind, saved: &Saved) -> ToolError {
    ToolError::ForModel(match saved {
        Saved::Missing(fields) => format!(
            "nothing was saved: of {} these are missing: {}; ask for what was not said",
            kind.name,
            fields.join(", ")
        ),
        Saved::Unknown => format!("no {} has this record_id; list_records shows the ids", kind.name),
        Saved::Taken(other) => format!(
            "another {} has the same {} already, record_id {other}: change that one, or remove one of the two",
            kind.name,
            kind.keys().map(|key| key.name.as_str()).collect::<Vec<_>>().join(", ")
        ),
        Saved::Full => format!(
            "this chat has {MAX_RECORDS} records, as many as it may; the person can remove some with /records"
        ),
        Saved::New(_) | Saved::Changed(_) | Saved::Same(_) => String::new(),
    })
}

fn told(book: &Book, record: &Record, what: &str) -> Value {
    let mut told = json!({"success": true, what: true});
    if let (Some(told), Value::Object(shown)) = (told.as_object_mut(), shown(book, record)) {
        told.extend(shown);
    }
    told
}

/// Has the model offer a reminder where the record has a time to come.
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
