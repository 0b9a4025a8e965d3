//! Moderation requests of a group admin: `mute @robin for 10 minutes`.

use serde_json::{Value, json};

use super::language::DemoText;
use super::question::{DemoQuestion, trimmed};
use super::step::{DemoStep, ToolResults, last};

/// First words of a request, by action of the tool.
const VERBS: [(&str, &[&str]); 6] = [
    ("mute", &["mute", "silence", "silencie", "silencia"]),
    ("unmute", &["unmute", "dessilencie", "desilencia"]),
    ("ban", &["ban", "bana", "banea"]),
    ("unban", &["unban", "desbana", "desbanea"]),
    ("kick", &["kick", "expulse", "expulsa"]),
    ("unpin", &["unpin", "desafixe", "desfija"]),
];
/// Words for the writer of the message that is replied to.
const REPLIED: [&str; 9] = ["him", "her", "them", "this", "ele", "ela", "isto", "él", "esto"];
/// Prefixes of time units, and their length in minutes.
const UNITS: [(&str, u32); 5] = [("min", 1), ("hour", 60), ("hora", 60), ("day", 24 * 60), ("d", 24 * 60)];

const DONE: DemoText = DemoText { en: "Done: {}.", pt: "Feito: {}.", es: "Hecho: {}." };
const GROUPS: DemoText = DemoText {
    en: "That works in groups only: say it in one where I am an admin.",
    pt: "Isso só funciona em grupos: diga num em que sou administrador.",
    es: "Eso solo funciona en grupos: dilo en uno donde soy administrador.",
};

/// Returns `true` if a message asks for moderation.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    wanted(question).is_some()
}

pub(super) fn answer(question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let is_group = question.ids[0].as_ref().and_then(Value::as_i64).is_none_or(|chat| chat < 0);
    match (last(results, "moderate"), wanted(question)) {
        (Some(_), _) => DemoStep::Say(DONE.with(question.language, trimmed(&question.text))),
        (None, Some(arguments)) if is_group => DemoStep::call("moderate", arguments),
        (None, _) => DemoStep::say(GROUPS, question),
    }
}

/// Returns the arguments of `moderate` for a message.
fn wanted(question: &DemoQuestion) -> Option<Value> {
    let first = question.plain.first().filter(|_| !question.text.ends_with('?'))?;
    let (action, _) = VERBS.iter().find(|(_, verbs)| verbs.contains(&first.as_str()))?;
    let mut arguments = json!({"action": action});
    let named = question.said.get(1).map(|word| trimmed(word));
    let is_replied = named.is_none_or(|name| REPLIED.contains(&name.to_lowercase().as_str()));
    match named.filter(|_| !is_replied) {
        _ if *action == "unpin" && question.said.len() <= 3 => {}
        // A name without `@` has a capital letter, and stands in a short message.
        Some(name)
            if name.starts_with('@') || name.starts_with(char::is_uppercase) && question.said.len() <= 5 =>
        {
            arguments["person"] = name.into();
        }
        None if question.replied.is_some() => arguments["person"] = "replied".into(),
        Some(_) | None => return None,
    }
    if let Some(minutes) = minutes(question) {
        arguments["minutes"] = minutes.into();
    }
    Some(arguments)
}

/// Returns the duration in minutes, if the message names one.
fn minutes(question: &DemoQuestion) -> Option<u32> {
    question.plain.windows(2).find_map(|two| {
        let [count, unit] = two else { return None };
        let (_, minutes) = UNITS.iter().find(|(begins, _)| unit.starts_with(begins))?;
        count.parse::<u32>().ok()?.checked_mul(*minutes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admin_is_understood() {
        let cases = [
            (
                "mute @robin for 10 minutes",
                Some(json!({"action": "mute", "person": "@robin", "minutes": 10})),
            ),
            ("Ban Robin for 2 days!", Some(json!({"action": "ban", "person": "Robin", "minutes": 2880}))),
            ("unmute @robin.", Some(json!({"action": "unmute", "person": "@robin"}))),
            (
                "silencie @robin por 1 hora",
                Some(json!({"action": "mute", "person": "@robin", "minutes": 60})),
            ),
            ("mute", None),
            ("ban plastic bags", None),
            ("unpin the map from the wall", None),
            ("ban Robin?", None),
        ];
        for (text, arguments) in cases {
            assert_eq!(wanted(&DemoQuestion::of(text)), arguments, "{text}");
        }
        for (text, action) in [("kick her", "kick"), ("ban", "ban")] {
            let reply = DemoQuestion { replied: Some(json!(7)), ..DemoQuestion::of(text) };
            assert_eq!(wanted(&reply), Some(json!({"action": action, "person": "replied"})), "{text}");
        }
        let unpinned = wanted(&DemoQuestion::of("unpin this"));
        assert_eq!(unpinned, Some(json!({"action": "unpin"})));
    }

    #[test]
    fn what_was_done_is_told_and_groups_are_asked_for() {
        let mut question = DemoQuestion::of("mute @robin!");
        question.ids[0] = Some(json!(-5));
        assert!(matches!(answer(&question, &[]), DemoStep::Call("moderate", _)));
        let done = [("moderate", json!({"success": true}))];
        assert_eq!(answer(&question, &done), DemoStep::Say("Done: mute @robin.".to_owned()));
        question.ids[0] = Some(json!(5));
        assert_eq!(answer(&question, &[]), DemoStep::Say(GROUPS.en.to_owned()));
    }
}
