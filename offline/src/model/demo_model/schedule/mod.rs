//! How the stand-in schedules: what a message asks for, and the steps that carry it out with the tools for tasks.

mod change;
mod clock;
mod due;
mod phrase;
mod told;
mod when;
mod which;
mod wording;

use serde_json::{Value, json};

pub(super) use self::change::{Change, asked as change_asked, step as change};
use self::clock::Time;
pub(super) use self::due::{Due, step as due};
pub(super) use self::told::list;
use self::when::When;
use super::language::Words;
use super::question::Question;
use super::step::{PAST, Results, Step, last};

/// The time of a task whose time nobody said.
const MORNING: Time = Time { hour: 9, minute: 0 };
const EVENING: Time = Time { hour: 20, minute: 0 };
/// Words around a time that ask for nothing.
const FILLERS: [&str; 17] = [
    "please", "now", "ok", "no", "and", "to", "it", "for", "then", "instead", "por", "favor", "para", "as",
    "a", "las", "e",
];

/// Days that have passed.
const YESTERDAY: [&str; 3] = ["yesterday", "ontem", "ayer"];

const NO_TIME: Words = Words {
    en: "When shall that be? Say for example: remind me tomorrow at 8 to call mum.",
    pt: "Quando vai ser? Diga por exemplo: me lembre amanhã às 8 de ligar para a mãe.",
    es: "¿Cuándo va a ser? Di por ejemplo: recuérdame mañana a las 8 llamar a mamá.",
};

const NO_CLOCK: Words = Words {
    en: "{} is no time of day: the hours go to 23, the minutes to 59. Say it again with another time.",
    pt: "{} não é hora do dia: as horas vão até 23, os minutos até 59. Diga de novo com outra hora.",
    es: "{} no es una hora del día: las horas llegan a 23, los minutos a 59. Dilo otra vez con otra hora.",
};

/// A message's words: those that say when, and the others.
struct Parted<'a> {
    when: When,
    rest: Vec<&'a str>,
}

fn parted(question: &Question) -> Parted<'_> {
    let plain: Vec<&str> = question.plain.iter().map(String::as_str).collect();
    let (when, used) = When::read(&plain);
    let words = question.said.iter().zip(used);
    Parted { when, rest: words.filter(|(_, used)| !used).map(|(word, _)| word.as_str()).collect() }
}

/// The time of a task for which none was said.
fn default_time(question: &Question) -> Time {
    let is_late = ["tonight", "evening", "à noite", "esta noche", "por la noche"]
        .iter()
        .any(|words| question.says(words));
    if is_late { EVENING } else { MORNING }
}

/// Whether a message asks for something later: it says how often or in how long, or asks to remind, or wants something said
/// on a day at a time.
pub(super) fn is_new(question: &Question) -> bool {
    let Parted { when, rest } = parted(question);
    let Some((_, reminds)) = wording::prompt(&rest, &question.name) else { return false };
    let orders = wording::orders(&rest);
    // What can I cook in 20 minutes?
    let is_question = question.text.ends_with('?') && !orders;
    let is_sure = (when.every.is_some() || when.after.is_some()) && !is_question;
    is_sure || reminds || orders && when.day.is_some() && when.time.is_some()
}

/// Makes the task that a message asks for.
pub(super) fn new(question: &Question, results: &Results<'_>) -> Step {
    if let Some(result) = last(results, "schedule_task") {
        return Step::Say(told::set(result, question));
    }
    if YESTERDAY.iter().any(|day| question.says(day)) {
        return Step::say(PAST, question);
    }
    if let Some(time) = question.plain.iter().find(|word| clock::is_no_time(word)) {
        return Step::Say(NO_CLOCK.with(question.language, time));
    }
    match task(question) {
        Some(arguments) => Step::call("schedule_task", arguments),
        None => Step::say(NO_TIME, question),
    }
}

/// The arguments of `schedule_task` for a message.
fn task(question: &Question) -> Option<Value> {
    let Parted { when, rest } = parted(question);
    if when.is_empty() {
        return None;
    }
    let plan = when.plan(default_time(question), question.now)?;
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
