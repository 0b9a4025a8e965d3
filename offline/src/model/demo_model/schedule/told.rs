//! What the stand-in says of tasks, out of the results of the tools.

use chrono::{DateTime, Datelike};
use serde_json::Value;

use super::super::language::{Language, Words};
use super::super::question::Question;
use super::super::step::{Results, Step, last};

const ONCE: Words =
    Words { en: "It is set for {}.", pt: "Está marcado para {}.", es: "Está puesto para {}." };
const AGAIN: Words = Words {
    en: "It is set. The first one comes on {}.",
    pt: "Está marcado. A primeira vez é {}.",
    es: "Está puesto. La primera vez es {}.",
};
const SET: Words = Words { en: "It is set.", pt: "Está marcado.", es: "Está puesto." };
const CHANGED: Words = Words {
    en: "It is changed. The next one comes on {}.",
    pt: "Está mudado. A próxima vez é {}.",
    es: "Está cambiado. La próxima vez es {}.",
};
const PAUSED: Words = Words { en: "It is paused.", pt: "Está pausada.", es: "Está en pausa." };
const CANCELLED: Words = Words { en: "Cancelled: {}", pt: "Cancelada: {}", es: "Cancelada: {}" };
const LISTED: Words =
    Words {
        en: "This is scheduled here:", pt: "Isto está agendado aqui:", es: "Esto está programado aquí:"
    };
pub(super) const NOTHING: Words = Words {
    en: "Nothing is scheduled. Say `remind me in 1 minute to drink water`.",
    pt: "Nada está agendado. Diga `me lembre em 1 minuto de beber água`.",
    es: "No hay nada programado. Di `recuérdame en 1 minuto beber agua`.",
};
/// A time as people say it: the day, then the time of day.
const AT: Words = Words { en: " at ", pt: " às ", es: " a las " };
const DAYS: [Words; 7] = [
    Words { en: "Monday", pt: "segunda-feira", es: "lunes" },
    Words { en: "Tuesday", pt: "terça-feira", es: "martes" },
    Words { en: "Wednesday", pt: "quarta-feira", es: "miércoles" },
    Words { en: "Thursday", pt: "quinta-feira", es: "jueves" },
    Words { en: "Friday", pt: "sexta-feira", es: "viernes" },
    Words { en: "Saturday", pt: "sábado", es: "sábado" },
    Words { en: "Sunday", pt: "domingo", es: "domingo" },
];

/// What a `schedule_task` result says.
pub(super) fn set(result: &Value, language: Language) -> String {
    match next(result).as_slice() {
        [] => SET.of(language).to_owned(),
        [once] => ONCE.with(language, &said(once, language)),
        [first, ..] => AGAIN.with(language, &said(first, language)),
    }
}

/// What an `update_task` result says.
pub(super) fn changed(result: &Value, language: Language) -> String {
    match next(result).first() {
        _ if result["state"] == "paused" => PAUSED.of(language).to_owned(),
        Some(first) => CHANGED.with(language, &said(first, language)),
        None => SET.of(language).to_owned(),
    }
}

/// What a `cancel_task` result says.
pub(super) fn cancelled(result: &Value, language: Language) -> String {
    let title = result.pointer("/cancelled/title").and_then(Value::as_str).unwrap_or_default();
    CANCELLED.with(language, title)
}

/// Lists what is scheduled.
pub(in super::super) fn list(question: &Question, results: &Results<'_>) -> Step {
    match last(results, "list_tasks") {
        Some(result) => Step::Say(listed(result, question.language)),
        None => Step::call("list_tasks", serde_json::json!({})),
    }
}

fn listed(result: &Value, language: Language) -> String {
    let lines = lines(result, language);
    if lines.is_empty() {
        return NOTHING.of(language).to_owned();
    }
    format!("{}\n\n{lines}", LISTED.of(language))
}

/// The tasks of a `list_tasks` result, a line each.
pub(super) fn lines(result: &Value, language: Language) -> String {
    let line = |task: &Value| {
        let text = |key: &str| task[key].as_str().unwrap_or_default();
        let when =
            if task["next"].is_string() { said(text("next"), language) } else { text("state").to_owned() };
        let title = if task["title"].is_string() { text("title") } else { text("prompt") };
        format!("- {title} — {when}")
    };
    let tasks = result["tasks"].as_array().into_iter().flatten();
    tasks.map(line).collect::<Vec<_>>().join("\n")
}

fn next(result: &Value) -> Vec<&str> {
    result["next"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A time as people say it, by the clocks that it was told by: `Monday at 09:00`.
fn said(time: &str, language: Language) -> String {
    let Ok(time) = DateTime::parse_from_rfc3339(time) else { return time.to_owned() };
    let day = usize::try_from(time.weekday().num_days_from_monday()).ok().and_then(|day| DAYS.get(day));
    let day = day.map_or("", |day| day.of(language));
    format!("{day}{}{}", AT.of(language), time.format("%H:%M"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_scheduled_is_told() {
        let task = json!({"prompt": "Sing.", "schedule": "0 9 * * *", "next": "2026-11-23T09:00:00+00:00"});
        let told = "This is scheduled here:\n\n- Sing. — Monday at 09:00";
        assert_eq!(listed(&json!({"tasks": [task]}), Language::English), told);
        assert!(listed(&json!({"tasks": []}), Language::Spanish).starts_with("No hay nada programado."));
    }

    #[test]
    fn what_became_of_a_task_is_told() {
        let (monday, tuesday) = ("2026-11-23T09:00:00+02:00", "2026-11-24T09:00:00+02:00");
        assert_eq!(set(&json!({"next": [monday]}), Language::English), "It is set for Monday at 09:00.");
        let daily = "It is set. The first one comes on Monday at 09:00.";
        assert_eq!(set(&json!({"next": [monday, tuesday]}), Language::English), daily);
        let moved = "Está mudado. A próxima vez é segunda-feira às 09:00.";
        assert_eq!(changed(&json!({"next": [monday]}), Language::Portuguese), moved);
        assert_eq!(
            changed(&json!({"next": [monday], "state": "paused"}), Language::English),
            "It is paused."
        );
        let gone = json!({"cancelled": {"title": "Sing"}});
        assert_eq!(cancelled(&gone, Language::English), "Cancelled: Sing");
    }
}
