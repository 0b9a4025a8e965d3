//! Answers about tasks, from the results of the tools.

use chrono::{DateTime, Datelike, Weekday};
use serde_json::Value;

use super::super::language::{DemoLanguage, DemoText};
use super::super::question::DemoQuestion;
use super::super::step::{DemoStep, ToolResults, last};

// The time is shown only on the card below, which stays correct when the task changes.
const SET: DemoText = DemoText { en: "It is set.", pt: "Está marcado.", es: "Está puesto." };
const CHANGED: DemoText = DemoText { en: "It is changed.", pt: "Está mudado.", es: "Está cambiado." };
const PAUSED: DemoText = DemoText { en: "It is paused.", pt: "Está pausada.", es: "Está en pausa." };
const CANCELLED: DemoText = DemoText { en: "Cancelled: {}", pt: "Cancelada: {}", es: "Cancelada: {}" };
const LISTED: DemoText = DemoText {
    en: "This is scheduled here:",
    pt: "Isto está agendado aqui:",
    es: "Esto está programado aquí:",
};
pub(super) const NOTHING: DemoText = DemoText {
    en: "Nothing is scheduled. Say `remind me in 1 minute to drink water`.",
    pt: "Nada está agendado. Diga `lembre-me em 1 minuto de beber água`.",
    es: "No hay nada programado. Di `recuérdame en 1 minuto beber agua`.",
};
/// Link between day and time of day.
const AT: DemoText = DemoText { en: " at ", pt: " às ", es: " a las " };
const TODAY: DemoText = DemoText { en: "today", pt: "hoje", es: "hoy" };
const TOMORROW: DemoText = DemoText { en: "tomorrow", pt: "amanhã", es: "mañana" };
const DAYS: [DemoText; 7] = [
    DemoText { en: "Monday", pt: "segunda-feira", es: "lunes" },
    DemoText { en: "Tuesday", pt: "terça-feira", es: "martes" },
    DemoText { en: "Wednesday", pt: "quarta-feira", es: "miércoles" },
    DemoText { en: "Thursday", pt: "quinta-feira", es: "jueves" },
    DemoText { en: "Friday", pt: "sexta-feira", es: "viernes" },
    DemoText { en: "Saturday", pt: "sábado", es: "sábado" },
    DemoText { en: "Sunday", pt: "domingo", es: "domingo" },
];

/// Returns the answer after a task was created.
pub(super) fn set(language: DemoLanguage) -> String {
    SET.of(language).to_owned()
}

/// Formats an `update_task` result.
pub(super) fn changed(result: &Value, language: DemoLanguage) -> String {
    let words = if result["state"] == "paused" { PAUSED } else { CHANGED };
    words.of(language).to_owned()
}

/// Formats a `cancel_task` result.
pub(super) fn cancelled(result: &Value, language: DemoLanguage) -> String {
    let title = result.pointer("/cancelled/title").and_then(Value::as_str).unwrap_or_default();
    CANCELLED.with(language, title)
}

pub(in super::super) fn list(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    match last(results, "list_tasks") {
        Some(result) => DemoStep::Say(listed(result, question)),
        None => DemoStep::call("list_tasks", serde_json::json!({})),
    }
}

fn listed(result: &Value, question: &DemoQuestion) -> String {
    let (lines, language) = (lines(result, question), question.language);
    if lines.is_empty() {
        return NOTHING.of(language).to_owned();
    }
    format!("{}\n\n{lines}", LISTED.of(language))
}

/// Formats the tasks of a `list_tasks` result, one per line.
pub(super) fn lines(result: &Value, question: &DemoQuestion) -> String {
    let line = |task: &Value| {
        let text = |key: &str| task[key].as_str().unwrap_or_default();
        let when =
            if task["next"].is_string() { said(text("next"), question) } else { text("state").to_owned() };
        let title = if task["title"].is_string() { text("title") } else { text("prompt") };
        format!("- {title} — {when}")
    };
    let tasks = result["tasks"].as_array().into_iter().flatten();
    tasks.map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the name of a weekday.
pub(in super::super) fn weekday_name(weekday: Weekday, language: DemoLanguage) -> &'static str {
    DAYS.get(weekday.num_days_from_monday() as usize).map_or("", |day| day.of(language))
}

/// Formats an RFC 3339 time in its own offset, which is that of the chat: `today at 09:00`.
fn said(time: &str, question: &DemoQuestion) -> String {
    let Ok(time) = DateTime::parse_from_rfc3339(time) else { return time.to_owned() };
    let (day, language) = (time.date_naive(), question.language);
    let away = question.now.map(|now| day.signed_duration_since(now.date()).num_days());
    let weekday = || weekday_name(day.weekday(), language).to_owned();
    let day = match away {
        Some(0) => TODAY.of(language).to_owned(),
        Some(1) => TOMORROW.of(language).to_owned(),
        // A weekday alone would mean the next one.
        Some(away) if away > 6 => day.format("%Y-%m-%d").to_string(),
        _ => weekday(),
    };
    format!("{day}{}{}", AT.of(language), time.format("%H:%M"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A question of Saturday, 21 November 2026, in a language.
    fn on_saturday(language: DemoLanguage) -> DemoQuestion {
        let now = chrono::NaiveDate::from_ymd_opt(2026, 11, 21).and_then(|day| day.and_hms_opt(14, 5, 0));
        DemoQuestion { now, language, ..DemoQuestion::of("") }
    }

    #[test]
    fn what_is_scheduled_is_told() {
        let task = json!({"prompt": "Sing.", "schedule": "0 9 * * *", "next": "2026-11-23T09:00:00+00:00"});
        let told = "This is scheduled here:\n\n- Sing. — Monday at 09:00";
        assert_eq!(listed(&json!({"tasks": [task]}), &on_saturday(DemoLanguage::English)), told);
        let none = listed(&json!({"tasks": []}), &on_saturday(DemoLanguage::Spanish));
        assert!(none.starts_with("No hay nada programado."));
    }

    #[test]
    fn a_day_is_said_as_the_card_says_it() {
        let cases = [
            ("2026-11-21T20:00:00+02:00", DemoLanguage::English, "today at 20:00"),
            ("2026-11-22T00:01:00+02:00", DemoLanguage::English, "tomorrow at 00:01"),
            ("2026-11-22T09:00:00+02:00", DemoLanguage::Portuguese, "amanhã às 09:00"),
            ("2026-11-21T20:00:00+02:00", DemoLanguage::Spanish, "hoy a las 20:00"),
            ("2026-11-27T09:00:00+02:00", DemoLanguage::English, "Friday at 09:00"),
            ("2026-11-28T09:00:00+02:00", DemoLanguage::English, "2026-11-28 at 09:00"),
        ];
        for (time, language, words) in cases {
            assert_eq!(said(time, &on_saturday(language)), words);
        }
    }

    #[test]
    fn what_became_of_a_task_is_told() {
        assert_eq!(changed(&json!({"next": []}), DemoLanguage::Portuguese), "Está mudado.");
        assert_eq!(changed(&json!({"state": "paused"}), DemoLanguage::English), "It is paused.");
        let gone = json!({"cancelled": {"title": "Sing"}});
        assert_eq!(cancelled(&gone, DemoLanguage::English), "Cancelled: Sing");
    }
}
