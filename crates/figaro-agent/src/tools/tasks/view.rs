//! Tasks as shown to the model: facts of the stored task, with times in its zone.

use chrono::{DateTime, SecondsFormat, Utc};
use figaro_base::tz::Tz;
use serde_json::{Map, Value, json};

use crate::tools::{ToolOutput, as_kept_data};
use figaro_base::text::one_line;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{MAX_FAILURES, MAX_PROMPT_CHARS, PauseReason, StandingRule, Task, TaskState};
use figaro_domain::tool::SideEffects;

/// Number of upcoming runs shown.
const TIMES: usize = 3;
/// Approximate maximum size of a list in characters, so that nothing cuts it later.
const LIST_CHARS: usize = 14_000;
/// Size of a list entry besides its prompt, in characters.
const TASK_CHARS: usize = 300;
/// Minimum length of a prompt in a list, in characters.
const MIN_PROMPT: usize = 60;
/// Maximum number of tasks in a list.
const MAX_LISTED: usize = LIST_CHARS / (TASK_CHARS + MIN_PROMPT);

/// Shows a created or changed task. The turn shows it to the person too.
pub(super) fn shown(task: &Task) -> ToolOutput {
    let next: Vec<String> = task.upcoming(TIMES).into_iter().map(|at| local(at, task.zone)).collect();
    let mut value = json!({
        "success": true,
        "task_id": task.id,
        "title": task.title(),
        "what": what(task),
        "timezone": task.zone.name(),
        "next": next,
    });
    if task.zone_assumed {
        value["zone_assumed"] = true.into();
        value["hint"] =
            "nobody has said in which time zone this chat is; Figaro asks for it by itself, do not ask"
                .into();
    }
    if let Some(model) = &task.model {
        value["model"] = model.to_string().into();
    }
    if let Some(agent) = task.own_agent() {
        value["agent"] = agent.into();
    }
    if let Value::Object(fields) = &mut value
        && task.state != TaskState::Active
    {
        fields.extend(state(task));
    }
    ToolOutput {
        side_effects: SideEffects { tasks: vec![task.id], ..SideEffects::default() },
        ..value.into()
    }
}

/// Lists tasks, the next one first. Prompts are shortened if there are many.
pub(super) fn list(mut tasks: Vec<&Task>) -> ToolOutput {
    tasks.sort_by_key(|task| (task.next.is_none(), task.next));
    let share = LIST_CHARS / tasks.len().max(1);
    let prompt = share.saturating_sub(TASK_CHARS).clamp(MIN_PROMPT, MAX_PROMPT_CHARS);
    let left_out = tasks.len().saturating_sub(MAX_LISTED);
    let listed: Vec<Value> = tasks.iter().take(MAX_LISTED).map(|task| entry(task, prompt)).collect();
    let mut value = as_kept_data("tasks", listed.into());
    if left_out > 0 {
        value["left_out"] = left_out.into();
    }
    ToolOutput { side_effects: SideEffects { looked: true, ..SideEffects::default() }, ..value.into() }
}

fn entry(task: &Task, prompt: usize) -> Value {
    let mut entry = Map::from_iter([
        ("task_id".to_owned(), json!(task.id)),
        ("prompt".to_owned(), one_line(&task.prompt, prompt).into()),
        ("schedule".to_owned(), what(task).into()),
        ("timezone".to_owned(), task.zone.name().into()),
        ("creator".to_owned(), one_line(&task.creator.name, MIN_PROMPT).into()),
    ]);
    if let Some(title) = &task.title {
        entry.insert("title".to_owned(), title.as_str().into());
    }
    entry.extend(state(task));
    if let Some(put_off) = task.retry.filter(|retry| retry.attempt == 1) {
        entry.insert("quiet_hours_until".to_owned(), local(put_off.at, task.zone).into());
    }
    if let Some(next) = task.next.filter(|_| task.state == TaskState::Active) {
        entry.insert("next".to_owned(), local(next, task.zone).into());
    }
    if let Some(model) = &task.model {
        entry.insert("model".to_owned(), model.to_string().into());
    }
    if let Some(agent) = task.own_agent() {
        entry.insert("agent".to_owned(), agent.into());
    }
    if !task.standing.is_empty() {
        entry.insert("may".to_owned(), leaves(task));
    }
    if let Some(last) = &task.last {
        let mut run = json!({"status": last.status, "due": local(last.due, task.zone)});
        if let Some(error) = &last.error {
            run["error"] = json!(error);
        }
        entry.insert("last_run".to_owned(), run);
    }
    Value::Object(entry)
}

/// Lists the calls that the task's runs may make without asking.
pub(super) fn leaves(task: &Task) -> Value {
    let leave =
        |rule: &StandingRule| json!({"method": rule.method, "chat_id": rule.chat, "times_a_run": rule.times});
    task.standing.iter().map(leave).collect()
}

/// Describes the state of a task, with the reason if it does not run.
fn state(task: &Task) -> Map<String, Value> {
    let (state, why) = match task.state {
        TaskState::Paused(reason) => ("paused", Some(why(reason))),
        TaskState::Done(_) => ("done", None),
        TaskState::Cancelled(_) => ("cancelled", None),
        TaskState::Active if task.lease.is_some() => ("running now", None),
        TaskState::Active if task.asked.is_some() => {
            ("waiting", Some("a run was missed, and a person is asked whether to make it now".to_owned()))
        }
        TaskState::Active => ("active", None),
    };
    let why = why.map(|why| ("because".to_owned(), Value::from(why)));
    [("state".to_owned(), Value::from(state))].into_iter().chain(why).collect()
}

fn why(reason: PauseReason) -> String {
    match reason {
        PauseReason::Person => "a person paused it".to_owned(),
        PauseReason::Failures => format!("it failed {MAX_FAILURES} times in a row"),
        PauseReason::Removed => "the bot was removed from the chat, or blocked".to_owned(),
        PauseReason::Denied => "whoever made it may not talk to the bot any more".to_owned(),
    }
}

/// Returns the schedule as stored.
pub(super) fn what(task: &Task) -> String {
    match &task.schedule {
        Schedule::Cron(cron) => cron.as_str().to_owned(),
        Schedule::Once { at, .. } => local(*at, task.zone),
    }
}

fn local(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Secs, false)
}
