//! How the stand-in schedules: reads a few ways of saying when, tells what is scheduled, and carries a task out.

use chrono::DateTime;
use serde_json::{Value, json};

use super::words;

/// The days of a week as cron has them.
const DAYS: [(&str, &str); 9] = [
    ("day", "*"),
    ("weekday", "1-5"),
    ("monday", "1"),
    ("tuesday", "2"),
    ("wednesday", "3"),
    ("thursday", "4"),
    ("friday", "5"),
    ("saturday", "6"),
    ("sunday", "0"),
];
/// The hour of a task whose hour nobody said.
const HOUR: u32 = 9;

/// The prompt of a task whose time has come.
pub(super) fn due(said: &str) -> Option<&str> {
    let at = said.rfind("\n<scheduled_task ")?;
    let (_, rest) = said.get(at..)?.split_once('>')?;
    rest.split("</scheduled_task>").next().map(str::trim)
}

/// What a task says when its time has come: `Remind …: drink water` makes a call to it.
pub(super) fn carried_out(prompt: &str) -> String {
    let (_, what) = prompt.split_once(": ").unwrap_or(("", prompt));
    let what = what.trim_end_matches(['.', '!']);
    let mut letters = what.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("⏰ {first}{}!", letters.as_str())
}

/// The arguments of `schedule_task` for a text of this person that says when: `remind me in 1 minute to drink water`, `every weekday at
/// 9 tell me the news`.
pub(super) fn asked(text: &str, person: &str) -> Option<Value> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain: Vec<String> = words.iter().map(|word| words::plain(word)).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    let (when, schedule, recurring) = (0..plain.len()).find_map(|at| {
        let rest = plain.get(at..)?;
        let (length, schedule, recurring) = once(rest).or_else(|| often(rest))?;
        Some((at..at + length, schedule, recurring))
    })?;
    let said = |at: &usize| !when.contains(at);
    let rest: Vec<&str> =
        words.iter().enumerate().filter(|(at, _)| said(at)).map(|(_, word)| *word).collect();
    let rest = rest.join(" ");
    let reminder = rest.to_lowercase().find("remind me").and_then(|at| rest.get(at + "remind me".len()..));
    let verb = if reminder.is_some() { "Remind" } else { "Do this for" };
    let what = reminder.unwrap_or(&rest).trim().trim_start_matches("to ").trim_end_matches(['.', '!']);
    let what = if what.is_empty() { "look up" } else { what };
    Some(json!({"prompt": format!("{verb} {person}: {what}"), "schedule": schedule, "recurring": recurring}))
}

/// `in 5 minutes`, and how many words that takes.
fn once(words: &[&str]) -> Option<(usize, String, bool)> {
    let ["in", count, unit, ..] = words else { return None };
    let count: u32 = if matches!(*count, "a" | "an" | "one") { 1 } else { count.parse().ok()? };
    let is_unit = ["second", "minute", "hour", "day", "week"].contains(&unit.trim_end_matches('s'));
    is_unit.then(|| (3, format!("in {count} {unit}"), false))
}

/// `every weekday at 9`, `every day at 18:30`, `every hour`, and how many words that takes.
fn often(words: &[&str]) -> Option<(usize, String, bool)> {
    let ["every", unit, rest @ ..] = words else { return None };
    if *unit == "hour" {
        return Some((2, "0 * * * *".to_owned(), true));
    }
    let (_, day) = DAYS.iter().find(|(name, _)| name == unit)?;
    let time = match rest {
        ["at", time, ..] => clock(time),
        _ => None,
    };
    let (hour, minute) = time.unwrap_or((HOUR, 0));
    Some((if time.is_some() { 4 } else { 2 }, format!("{minute} {hour} * * {day}"), true))
}

/// `9`, `18:30`, `7am`, `7:15pm`.
fn clock(text: &str) -> Option<(u32, u32)> {
    let (text, later) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(text), _) => (text, 0),
        (_, Some(text)) => (text, 12),
        (None, None) => (text, 0),
    };
    let (hour, minute) = text.split_once(':').unwrap_or((text, "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = if later > 0 && hour < 12 { hour + later } else { hour };
    (hour < 24 && minute < 60).then_some((hour, minute))
}

/// What a `schedule_task` result says.
pub(super) fn set(result: &Value) -> String {
    let next: Vec<&str> = result["next"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match next.as_slice() {
        [] => "It is set.".to_owned(),
        [once] => format!("It is set for {}.", said(once)),
        [first, ..] => format!("It is set. The first one comes on {}.", said(first)),
    }
}

/// A time as people say it, by the clocks that it was told by: `Monday at 09:00`.
fn said(time: &str) -> String {
    DateTime::parse_from_rfc3339(time)
        .map_or_else(|_| time.to_owned(), |time| time.format("%A at %H:%M").to_string())
}

/// What a `list_tasks` result says.
pub(super) fn list(result: &Value) -> String {
    let empty = Vec::new();
    let line = |task: &Value| {
        let text = |key: &str| task[key].as_str().unwrap_or_default();
        let when = if task["next"].is_string() { said(text("next")) } else { text("state").to_owned() };
        format!("- {} — `{}`, {when}", text("prompt"), text("schedule"))
    };
    let tasks: Vec<String> = result["tasks"].as_array().unwrap_or(&empty).iter().map(line).collect();
    if tasks.is_empty() {
        return "Nothing is scheduled. Say `remind me in 1 minute to drink water`.".to_owned();
    }
    format!("This is scheduled here:\n\n{}", tasks.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_ways_of_saying_when_are_read() {
        let cases = [
            ("Remind me in 1 minute to drink water!", "in 1 minute", "Remind Ann: drink water"),
            ("@figaro_bot remind me to drink water in an hour", "in 1 hour", "Remind Ann: drink water"),
            ("every weekday at 9 tell me the news", "0 9 * * 1-5", "Do this for Ann: tell me the news"),
            ("Every day at 18:30, remind me to call Bob.", "30 18 * * *", "Remind Ann: call Bob"),
            ("tell me a joke every friday at 7pm", "0 19 * * 5", "Do this for Ann: tell me a joke"),
            ("every hour remind me", "0 * * * *", "Remind Ann: look up"),
        ];
        for (text, schedule, prompt) in cases {
            let asked = asked(text, "Ann").unwrap_or_else(|| panic!("{text}"));
            let recurring = !schedule.starts_with("in ");
            let wanted = json!({"prompt": prompt, "schedule": schedule, "recurring": recurring});
            assert_eq!(asked, wanted, "{text}");
        }
        for text in ["every now and then", "in two minds", "in 5 acts", "remind me", ""] {
            assert_eq!(asked(text, "Ann"), None, "{text}");
        }
    }

    #[test]
    fn a_task_that_is_due_is_carried_out() {
        let said = "<now>Monday</now>\nCarry out.\n<scheduled_task set_up_by=\"Ann\">\nRemind Ann: drink water\n</scheduled_task>";
        assert_eq!(due(said).map(carried_out).as_deref(), Some("⏰ Drink water!"));
        assert_eq!(due("<message chat_id=\"5\">\nhello\n</message>"), None);
    }

    #[test]
    fn what_is_scheduled_is_told() {
        let task = json!({"prompt": "Sing.", "schedule": "0 9 * * *", "next": "2026-11-23T09:00:00+00:00"});
        let told = "This is scheduled here:\n\n- Sing. — `0 9 * * *`, Monday at 09:00";
        assert_eq!(list(&json!({"tasks": [task]})), told);
        assert!(list(&json!({"tasks": []})).starts_with("Nothing is scheduled."));
        let (monday, tuesday) = ("2026-11-23T09:00:00+02:00", "2026-11-24T09:00:00+02:00");
        assert_eq!(set(&json!({"next": [monday]})), "It is set for Monday at 09:00.");
        let daily = "It is set. The first one comes on Monday at 09:00.";
        assert_eq!(set(&json!({"next": [monday, tuesday]})), daily);
    }
}
