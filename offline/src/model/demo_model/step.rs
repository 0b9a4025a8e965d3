//! Next step of the demo model in a turn, before it becomes a reply: an answer or a tool call.

use serde_json::Value;

use super::language::{DemoLanguage, DemoText};
use super::question::DemoQuestion;

/// Tool that searches for tools not offered yet.
pub(super) const FINDER: &str = "find_tools";

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DemoStep {
    /// Answer at normal pace.
    Say(String),
    /// Answer slow enough for the person to stop it.
    SaySlowly(String),
    /// Calls of one tool, with the arguments of each.
    Call(&'static str, Vec<Value>),
}

impl DemoStep {
    /// Creates an answer in the language of a question.
    pub(super) fn say(words: DemoText, question: &DemoQuestion) -> Self {
        Self::Say(words.of(question.language).to_owned())
    }

    pub(super) fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Call(tool, vec![arguments])
    }
}

/// Results of the turn so far, oldest first: name of the tool and its output.
pub(super) type ToolResults<'a> = [(&'a str, Value)];

/// Returns the last result, if it is of this tool.
pub(super) fn last<'a>(results: &'a ToolResults<'_>, tool: &str) -> Option<&'a Value> {
    results.last().filter(|(name, _)| *name == tool).map(|(_, result)| result)
}

const FAILED: DemoText = DemoText {
    en: "I could not do that: {}.",
    pt: "Não consegui fazer isso: {}.",
    es: "No pude hacerlo: {}.",
};
const UNREADABLE: DemoText = DemoText {
    en: "the tool did not say why",
    pt: "a ferramenta não disse por quê",
    es: "la herramienta no dijo por qué",
};

/// Part of the tools' error for a past time, and the answer shown instead.
const NOT_TO_COME: &str = "is not in the future";
pub(super) const PAST: DemoText = DemoText {
    en: "That time has passed. Say one that is still to come, such as `in 5 minutes` or `tomorrow at 9`.",
    pt: "Essa hora já passou. Diga uma que ainda venha, como `em 5 minutos` ou `amanhã às 9`.",
    es: "Esa hora ya pasó. Di una que esté por venir, como `en 5 minutos` o `mañana a las 9`.",
};

/// Returns the answer to a failed tool. It repeats only the first sentence of the error, as the rest is advice for a model.
pub(super) fn failure(results: &ToolResults<'_>, language: DemoLanguage) -> Option<DemoStep> {
    // A search for tools without a result says nothing to people; the missing tool is told instead.
    let is_failed = |(tool, result): &&(&str, Value)| *tool != FINDER && result["success"] == false;
    let (_, result) = results.iter().rev().find(is_failed)?;
    let error = result["error"].as_str().unwrap_or_else(|| UNREADABLE.of(language));
    if error.contains(NOT_TO_COME) {
        return Some(DemoStep::Say(PAST.of(language).to_owned()));
    }
    let (first, _) = error.split_once(". ").unwrap_or((error, ""));
    let first = first.strip_prefix("not allowed: ").unwrap_or(first);
    Some(DemoStep::Say(FAILED.with(language, first.trim_end_matches('.'))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_tool_is_told_in_words() {
        let told = |result: Value| failure(&[("sendPoll", result)], DemoLanguage::English);
        let refused = json!({"success": false, "error": "only an admin may do that. Ask one."});
        assert_eq!(
            told(refused),
            Some(DemoStep::Say("I could not do that: only an admin may do that.".to_owned()))
        );
        let past = json!({"success": false, "error": "2026-11-25T21:25:25+00:00 is not in the future: it is now. Give"});
        assert_eq!(told(past), Some(DemoStep::Say(PAST.en.to_owned())));
        let denied = json!({"success": false, "error": "not allowed: a person denied it"});
        assert_eq!(told(denied), Some(DemoStep::Say("I could not do that: a person denied it.".to_owned())));
        let silent = json!({"success": false, "error": {"code": 5}});
        assert_eq!(
            told(silent),
            Some(DemoStep::Say("I could not do that: the tool did not say why.".to_owned()))
        );
        assert_eq!(told(json!({"success": true})), None);
        let not_found = [(FINDER, json!({"success": false, "error": "nothing fits"}))];
        assert_eq!(failure(&not_found, DemoLanguage::English), None);
    }
}
