//! Scheduling in the demo model: parses requests and carries them out with the task tools.

mod change;
mod clock;
mod due;
mod phrase;
mod told;
mod when;
mod which;
mod wording;

use serde_json::{Value, json};

pub(super) use self::change::{TaskRequest, asked as change_asked, step as change};
use self::clock::TimeOfDay;
pub(super) use self::due::{DueTask, step as due};
pub(super) use self::told::{list, weekday_name};
use self::when::{Every, RequestedTime};
use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::{DemoStep, PAST, ToolResults, failure, last};

/// Default time of day for a task.
const MORNING: TimeOfDay = TimeOfDay { hour: 9, minute: 0 };
const EVENING: TimeOfDay = TimeOfDay { hour: 20, minute: 0 };
/// Words around a time that carry no request.
const FILLERS: [&str; 17] = [
    "please", "now", "ok", "no", "and", "to", "it", "for", "then", "instead", "por", "favor", "para", "as",
    "a", "las", "e",
];

/// Separators between a statement and what follows it.
pub(super) const ENDS: [&str; 7] = [" and ", " e ", " y ", ", ", ". ", "! ", "; "];

/// Words for yesterday.
const YESTERDAY: [&str; 3] = ["yesterday", "ontem", "ayer"];

const NO_TIME: DemoText = DemoText {
    en: "When shall that be? Say for example: remind me tomorrow at 8 to call mum.",
    pt: "Quando vai ser? Diga por exemplo: lembre-me amanhã às 8 de ligar para a mãe.",
    es: "¿Cuándo va a ser? Di por ejemplo: recuérdame mañana a las 8 llamar a mamá.",
};

const ONE_TIME: DemoText = DemoText {
    en: "Say one time, such as: remind me tomorrow at 8 to call mum.",
    pt: "Diga uma só hora, por exemplo: lembre-me amanhã às 8 de ligar para a mãe.",
    es: "Di una sola hora, por ejemplo: recuérdame mañana a las 8 llamar a mamá.",
};
const NOTHING: DemoText = DemoText {
    en: "What shall I remind you of? Say for example: remind me tomorrow at 8 to call mum.",
    pt: "De que devo lembrar? Diga por exemplo: lembre-me amanhã às 8 de ligar para a mãe.",
    es: "¿Qué te recuerdo? Di por ejemplo: recuérdame mañana a las 8 llamar a mamá.",
};
const NO_CLOCK: DemoText = DemoText {
    en: "{} is no time of day: the hours go to 23, the minutes to 59. Say it again with another time.",
    pt: "{} não é hora do dia: as horas vão até 23, os minutos até 59. Diga de novo com outra hora.",
    es: "{} no es una hora del día: las horas llegan a 23, los minutos a 59. Dilo otra vez con otra hora.",
};

/// Words of a message, split into the requested time and the rest.
struct Parted<'a> {
    when: RequestedTime,
    rest: Vec<&'a str>,
}

fn parted(question: &DemoQuestion) -> Parted<'_> {
    let plain: Vec<&str> = question.plain.iter().map(String::as_str).collect();
    let (when, used) = RequestedTime::read(&plain);
    let words = question.said.iter().zip(used);
    Parted { when, rest: words.filter(|(_, used)| !used).map(|(word, _)| word.as_str()).collect() }
}

/// Returns `true` if a message names several times, or a time that cannot be parsed.
fn is_unclear(question: &DemoQuestion) -> bool {
    let plain: Vec<&str> = question.plain.iter().map(String::as_str).collect();
    if goes_on(&plain, &RequestedTime::read(&plain).1) {
        return true;
    }
    let Parted { when, rest } = parted(question);
    let rest: Vec<String> = rest.iter().map(|word| super::question::plain(word)).collect();
    when.is_unclear(&rest.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns `true` if another hour follows a time: `at 8 and 20`.
fn goes_on(words: &[&str], used: &[bool]) -> bool {
    let is_hour = |word: &str| clock::number(word).is_some_and(|hour| hour < 24);
    let is_span = |at: usize| words.get(at).is_some_and(|word| when::unit(word).is_some());
    let goes_on = |at: usize| match words.get(at..) {
        Some(["and" | "or" | "e" | "ou" | "y" | "o", hour, ..]) => is_hour(hour) && !is_span(at + 2),
        // `At 8, 12 and 20`.
        Some([hour, ..]) => hour.parse::<u32>().is_ok() && is_hour(hour) && !is_span(at + 1),
        _ => false,
    };
    (1..words.len()).any(|at| used.get(at - 1) == Some(&true) && used.get(at) == Some(&false) && goes_on(at))
}

/// Returns `true` if a message orders a new task: a reminder, or something to be said again, later, or at a given day and
/// time.
pub(super) fn is_new(question: &DemoQuestion) -> bool {
    let Parted { when, rest } = parted(question);
    // `I swim every day` orders nothing.
    if !wording::begins_with_order(&rest) && behind(question).is_none() {
        return false;
    }
    let Some((_, reminds)) = wording::prompt(&rest, &question.name) else { return false };
    let names_day = when.day.is_some() && when.time.is_some();
    reminds || when.every.is_some() || when.after.is_some() || names_day
}

/// Returns the request for a task that follows a statement: `I live in Lisbon and wake me at 7`.
pub(super) fn behind(question: &DemoQuestion) -> Option<DemoQuestion> {
    let ends = ENDS.iter().flat_map(|end| question.text.match_indices(end));
    let mut begins: Vec<usize> = ends.map(|(at, end)| at + end.len()).collect();
    begins.sort_unstable();
    let mut rests = begins.into_iter().filter_map(|at| Some(question.with_words(question.text.get(at..)?)));
    rests.find(|rest| wording::begins_with_order(&parted(rest).rest))
}

/// Says `told`, and creates the task whose request follows the statement.
pub(super) fn also(told: &str, question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let Some(request) = behind(question) else { return DemoStep::Say(told.to_owned()) };
    let failed = last(results, "schedule_task").filter(|result| result["success"] == false);
    let failed = failed.and_then(|_| failure(results, question.language));
    match failed.unwrap_or_else(|| new(&request, results)) {
        DemoStep::Say(more) => DemoStep::Say(format!("{told}\n\n{more}")),
        call => call,
    }
}

/// Returns `true` if the statement before the request for a task contains a time too.
fn tells_time_before(question: &DemoQuestion, request: &DemoQuestion) -> bool {
    let before = question.plain.len() - request.plain.len();
    let words: Vec<&str> = question.plain.iter().take(before).map(String::as_str).collect();
    !RequestedTime::read(&words).0.is_empty()
}

/// Returns `true` if a request for a task follows a statement in the message.
pub(super) fn is_behind(question: &DemoQuestion) -> bool {
    behind(question).is_some_and(|request| !tells_time_before(question, &request))
}

/// Creates the task that a message asks for.
pub(super) fn new(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    if last(results, "schedule_task").is_some() {
        return DemoStep::Say(told::set(question.language));
    }
    if YESTERDAY.iter().any(|day| question.says(day)) {
        return DemoStep::say(PAST, question);
    }
    if let Some(time) = question.plain.iter().find(|word| clock::is_no_time(word)) {
        return DemoStep::Say(NO_CLOCK.with(question.language, time));
    }
    match task(question) {
        Some(_) if is_unclear(question) => DemoStep::say(ONE_TIME, question),
        Some(_) if lacks_hour(question) => DemoStep::say(NO_TIME, question),
        Some(task) if is_of_nothing(&task) && question.quoted.is_none() => DemoStep::say(NOTHING, question),
        Some(arguments) => DemoStep::call("schedule_task", arguments),
        None => DemoStep::say(NO_TIME, question),
    }
}

/// Returns `true` for a recurrence by days without a time of day.
fn lacks_hour(question: &DemoQuestion) -> bool {
    let when = parted(question).when;
    matches!(when.every, Some(Every::Days(_))) && when.time.is_none() && !when.is_late
}

/// Returns `true` for a task without title, unless its schedule is a time span: that is a timer.
fn is_of_nothing(task: &Value) -> bool {
    let is_span = task["schedule"].as_str().is_some_and(|schedule| schedule.starts_with("in "));
    task["title"].is_null() && !is_span
}

/// Returns the arguments of `schedule_task` for a message.
fn task(question: &DemoQuestion) -> Option<Value> {
    let Parted { when, rest } = parted(question);
    if when.is_empty() {
        return None;
    }
    let plan = when.plan(if when.is_late { EVENING } else { MORNING }, question.now)?;
    let (prompt, _) = wording::prompt(&rest, &question.name)?;
    let mut task = json!({"prompt": prompt, "schedule": plan.schedule, "recurring": plan.recurring});
    let (title, _) = wording::content(&prompt, &question.name);
    if !title.is_empty() {
        task["title"] = title.into();
    }
    Some(task)
}

#[cfg(test)]
mod tests;
