//! Changes of tasks, requested in a message or in a reply to a task's card, and the steps that apply them.

use chrono::DateTime;
use serde_json::{Value, json};

use super::super::language::{self, DemoText};
use super::super::question::DemoQuestion;
use super::super::step::{DemoStep, ToolResults, last};
use super::clock::TimeOfDay;
use super::when::{Plan, RequestedTime};
use super::{FILLERS, MORNING, ONE_TIME, Parted, is_unclear, parted, told, which, wording};

const CANCEL: [&str; 8] = [
    "cancel",
    "cancele",
    "cancela",
    "cancelar",
    "delete it",
    "delete the task",
    "remove the task",
    "apague a tarefa",
];
const ALL: [&str; 16] = [
    "all",
    "everything",
    "tudo",
    "todas",
    "todos",
    "todo",
    "both",
    "them",
    "tasks",
    "reminders",
    "as",
    "os",
    "tarefas",
    "lembretes",
    "tareas",
    "recordatorios",
];
/// Maximum number of words that name the task to reschedule. More belong to another sentence.
const MAX_NAMES: usize = 2;
const PAUSE: [&str; 4] = ["pause", "pausar", "pausa", "interrompa"];
const RESUME: [&str; 6] = ["resume it", "resume the", "resume that", "retome", "reanuda", "reanúdalo"];

const NO_TASK: DemoText = DemoText {
    en: "There is no task here to change. /tasks shows what there is.",
    pt: "Não há aqui tarefa para mudar. /tasks mostra o que há.",
    es: "No hay aquí ninguna tarea que cambiar. /tasks muestra lo que hay.",
};
const WHICH: DemoText = DemoText {
    en: "Which one do you mean? Say it with a word of it, such as `{}`, or reply to its card.",
    pt: "Qual delas? Diga com uma palavra dela, como `{}`, ou responda ao cartão dela.",
    es: "¿Cuál de ellas? Dilo con una palabra suya, como `{}`, o responde a su tarjeta.",
};
const CANCEL_EXAMPLE: DemoText =
    DemoText { en: "cancel the weather", pt: "cancele o tempo", es: "cancela el tiempo" };
const MOVE_EXAMPLE: DemoText = DemoText {
    en: "make the weather 7:30",
    pt: "mude o tempo para as 7:30",
    es: "cambia el tiempo para las 7:30",
};

/// Requested change of an existing task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum TaskRequest {
    /// New time, new words, or both.
    Edit {
        when: RequestedTime,
        words: Option<NewWords>,
    },
    Pause,
    Resume,
    Cancel,
    CancelAll,
}

/// New words for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum NewWords {
    /// Words to add.
    Also(String),
    /// Words that replace the old ones.
    Instead(String),
}

/// Returns the change that a message asks for. A reply to the card for editing a task always asks for one.
pub(in super::super) fn asked(question: &DemoQuestion) -> Option<TaskRequest> {
    let begins = |phrases: &[&str]| phrases.iter().any(|phrase| question.begins(phrase));
    if begins(&CANCEL) {
        let is_of_all = |word: &String| ALL.contains(&word.as_str());
        let all = ALL.iter().any(|word| question.says(word)) && which::names(question).iter().all(is_of_all);
        return Some(if all { TaskRequest::CancelAll } else { TaskRequest::Cancel });
    }
    if begins(&PAUSE) {
        return Some(TaskRequest::Pause);
    }
    if begins(&RESUME) {
        return Some(TaskRequest::Resume);
    }
    let Parted { mut when, rest } = parted(question);
    let is_moved = begins(&which::MOVE) && which::names(question).len() <= MAX_NAMES;
    if is_moved && when.is_empty() {
        when = moved_to(question);
    }
    let is_of_card = question.task.is_some();
    let plain: Vec<&str> = question.plain.iter().map(String::as_str).collect();
    let is_sure = is_of_card || language::wanted(&plain).is_some();
    if is_sure && plain.first().is_some_and(|first| wording::is_addition(first)) {
        let words = Some(NewWords::Also(rest.join(" ")));
        return Some(TaskRequest::Edit { when, words });
    }
    let is_bare = rest
        .iter()
        .all(|word| FILLERS.contains(&super::super::question::plain(word).as_str()) || plain_mark(word));
    if !when.is_empty() && (is_bare || is_moved) {
        return Some(TaskRequest::Edit { when, words: None });
    }
    let words = wording::prompt(&rest, &question.name).filter(|_| is_of_card);
    words.map(|(prompt, _)| TaskRequest::Edit { when, words: Some(NewWords::Instead(prompt)) })
}

/// Reads the time of day in `move it to 11`.
fn moved_to(question: &DemoQuestion) -> RequestedTime {
    let words: Vec<&str> = question.plain.iter().map(|word| if word == "to" { "at" } else { word }).collect();
    RequestedTime::read(&words).0
}

/// Returns `true` for a word without letters and digits, such as a dash.
fn plain_mark(word: &str) -> bool {
    !word.contains(char::is_alphanumeric)
}

/// Lists the tasks, finds the one that is meant, and changes it.
pub(in super::super) fn step(
    question: &DemoQuestion,
    change: &TaskRequest,
    results: &ToolResults<'_>,
    mentioned: &[String],
) -> DemoStep {
    let language = question.language;
    let cancelled = results.iter().filter(|(tool, _)| *tool == "cancel_task");
    let cancelled: Vec<String> = cancelled.map(|(_, result)| told::cancelled(result, language)).collect();
    if !cancelled.is_empty() {
        return DemoStep::Say(cancelled.join("\n"));
    }
    if let Some(result) = last(results, "update_task") {
        return DemoStep::Say(told::changed(result, question.language));
    }
    if matches!(change, TaskRequest::Edit { words: None, .. }) && is_unclear(question) {
        return DemoStep::say(ONE_TIME, question);
    }
    let Some(listed) = last(results, "list_tasks") else {
        return DemoStep::call("list_tasks", json!({}));
    };
    let tasks = listed["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    if *change == TaskRequest::CancelAll && !tasks.is_empty() {
        let call = |task: &Value| json!({"task_id": task["task_id"]});
        return DemoStep::Call("cancel_task", tasks.iter().map(call).collect());
    }
    let is_strict = !matches!(change, TaskRequest::Edit { .. });
    match which::meant(question, tasks, mentioned, is_strict) {
        Some(task) => call(question, change, task),
        None if tasks.is_empty() || question.task.is_some() => DemoStep::say(NO_TASK, question),
        None => {
            let example = if is_strict { CANCEL_EXAMPLE } else { MOVE_EXAMPLE };
            let which = WHICH.with(language, example.of(language));
            DemoStep::Say(format!("{which}\n\n{}", told::lines(listed, question)))
        }
    }
}

fn call(question: &DemoQuestion, change: &TaskRequest, task: &Value) -> DemoStep {
    let mut arguments = json!({"task_id": task["task_id"]});
    match change {
        TaskRequest::Cancel | TaskRequest::CancelAll => return DemoStep::call("cancel_task", arguments),
        TaskRequest::Pause => arguments["paused"] = true.into(),
        TaskRequest::Resume => arguments["paused"] = false.into(),
        TaskRequest::Edit { when, words } => {
            if let Some(Plan { schedule, recurring }) = plan(when, task, question) {
                arguments["schedule"] = schedule.into();
                arguments["recurring"] = recurring.into();
            }
            let prompt = task["prompt"].as_str().unwrap_or_default();
            match words {
                Some(NewWords::Also(addition)) => {
                    arguments["prompt"] = wording::added(prompt, addition).into()
                }
                Some(NewWords::Instead(words)) => {
                    arguments["prompt"] = words.as_str().into();
                    arguments["title"] = wording::content(words, &question.name).0.into();
                }
                None => {}
            }
        }
    }
    DemoStep::call("update_task", arguments)
}

/// Returns the new schedule. Keeps the old days or time of day if the message names no new ones.
fn plan(when: &RequestedTime, task: &Value, question: &DemoQuestion) -> Option<Plan> {
    let schedule = task["schedule"].as_str().unwrap_or_default();
    let before = time_of(schedule).unwrap_or(MORNING);
    if when.is_whole() {
        return when.plan(before, question.now);
    }
    let TimeOfDay { hour, minute } = when.time?;
    let mut fields: Vec<&str> = schedule.split(' ').collect();
    let (minutes, hours) = (minute.to_string(), hour.to_string());
    // In six fields the seconds come first.
    let at = fields.len().checked_sub(5);
    match (at, DateTime::parse_from_rfc3339(schedule)) {
        (Some(at), _) => {
            fields.splice(at..at + 2, [minutes.as_str(), hours.as_str()]);
            Some(Plan { schedule: fields.join(" "), recurring: true })
        }
        (None, Ok(once)) => {
            let moved = once.naive_local().date().and_hms_opt(hour, minute, 0)?;
            match question.now {
                Some(now) if moved <= now => when.plan(before, question.now),
                _ => Some(Plan { schedule: moved.format("%Y-%m-%dT%H:%M").to_string(), recurring: false }),
            }
        }
        (None, Err(_)) => Some(Plan { schedule: format!("{minute} {hour} * * *"), recurring: true }),
    }
}

/// Returns the time of day of a schedule, if it has exactly one.
fn time_of(schedule: &str) -> Option<TimeOfDay> {
    if let Ok(once) = DateTime::parse_from_rfc3339(schedule) {
        let time = chrono::Timelike::hour(&once);
        return Some(TimeOfDay { hour: time, minute: chrono::Timelike::minute(&once) });
    }
    let fields: Vec<&str> = schedule.split(' ').collect();
    let [minute, hour, _, _, _] = fields.as_slice() else { return None };
    Some(TimeOfDay { hour: hour.parse().ok()?, minute: minute.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::super::tests::asks;
    use super::*;

    /// The task whose card is replied to.
    const EDIT: &str = "06ABCDEFGHXX";

    fn changes(text: &str, replied: Option<&str>, schedule: &str) -> Option<DemoStep> {
        let question = DemoQuestion { task: replied.map(ToOwned::to_owned), ..asks(text) };
        let change = asked(&question)?;
        let task = json!({"task_id": "06ABCDEFGHXX", "prompt": "Tell Ann the weather in Riga", "schedule": schedule});
        let listed = json!({"success": true, "tasks": [task]});
        assert_eq!(step(&question, &change, &[], &[]), DemoStep::call("list_tasks", json!({})), "{text}");
        Some(step(&question, &change, &[("list_tasks", listed)], &[]))
    }

    #[test]
    fn words_change_the_task_that_is_there() {
        let (cron, once) = ("0 8 * * 1-5", "2026-11-25T08:00:00+00:00");
        let weather = "Tell Ann the weather in Riga, also in Spanish";
        let cases = [
            ("make it 7:30", None, cron, json!({"schedule": "30 7 * * 1-5", "recurring": true})),
            ("make it 7:30", None, once, json!({"schedule": "2026-11-25T07:30", "recurring": false})),
            ("move it to 11", None, cron, json!({"schedule": "0 11 * * 1-5", "recurring": true})),
            ("Every day at 7:30", Some(EDIT), cron, json!({"schedule": "30 7 * * *", "recurring": true})),
            ("todo dia às 7:30", Some(EDIT), cron, json!({"schedule": "30 7 * * *", "recurring": true})),
            ("every day at 7:30, please", None, once, json!({"schedule": "30 7 * * *", "recurring": true})),
            ("on weekdays", Some(EDIT), once, json!({"schedule": "0 8 * * 1-5", "recurring": true})),
            ("mude para as 7:30", None, cron, json!({"schedule": "30 7 * * 1-5", "recurring": true})),
            ("tomorrow at 9", Some(EDIT), cron, json!({"schedule": "2026-11-25T09:00", "recurring": false})),
            ("in 20 minutes", Some(EDIT), cron, json!({"schedule": "in 20 minutes", "recurring": false})),
            ("Also in Spanish", Some(EDIT), cron, json!({"prompt": weather})),
            (
                "tell me the news",
                Some(EDIT),
                cron,
                json!({"prompt": "Tell Ann the news", "title": "the news"}),
            ),
            ("pause it", None, cron, json!({"paused": true})),
            ("make the weather 7:30", None, cron, json!({"schedule": "30 7 * * 1-5", "recurring": true})),
            ("move the weather to 11", None, cron, json!({"schedule": "0 11 * * 1-5", "recurring": true})),
            ("resume it", None, cron, json!({"paused": false})),
        ];
        for (text, quoted, schedule, mut wanted) in cases {
            wanted["task_id"] = json!("06ABCDEFGHXX");
            assert_eq!(
                changes(text, quoted, schedule),
                Some(DemoStep::call("update_task", wanted)),
                "{text}"
            );
        }
        let gone = DemoStep::call("cancel_task", json!({"task_id": "06ABCDEFGHXX"}));
        assert_eq!(changes("cancel it", None, cron), Some(gone.clone()));
        assert_eq!(changes("cancele", None, cron), Some(gone));
        for text in [
            "tell me the news",
            "every day at 7:30 tell me the news",
            "make it quick, I have to leave at 5",
            "Also, my cat is sick",
            "hello",
            "",
        ] {
            assert_eq!(changes(text, None, cron), None, "{text}");
        }
    }

    #[test]
    fn a_task_that_is_not_clear_is_asked_for() {
        let none = json!({"success": true, "tasks": []});
        let told = step(&asks("cancel it"), &TaskRequest::Cancel, &[("list_tasks", none)], &[]);
        assert_eq!(told, DemoStep::Say(NO_TASK.en.to_owned()));
        let two =
            json!({"tasks": [{"task_id": "1", "prompt": "Sing."}, {"task_id": "2", "prompt": "Dance."}]});
        let both = [("list_tasks", two)];
        let all = step(&asks("cancel all"), &TaskRequest::CancelAll, &both, &[]);
        assert!(matches!(&all, DemoStep::Call("cancel_task", calls) if calls.len() == 2), "{all:?}");
        assert_eq!(asked(&asks("cancel all meetings on Friday")), Some(TaskRequest::Cancel));
        let move_it = asked(&asks("make it 7:30")).unwrap();
        let told = step(&asks("make it 7:30"), &move_it, &both, &[]);
        assert!(
            matches!(&told, DemoStep::Say(words) if words.contains("`make the weather 7:30`")),
            "{told:?}"
        );
        let told = step(&asks("cancel it"), &TaskRequest::Cancel, &both, &[]);
        assert!(
            matches!(&told, DemoStep::Say(words) if words.contains("Sing.") && words.contains("Dance.")),
            "{told:?}"
        );
    }
}
