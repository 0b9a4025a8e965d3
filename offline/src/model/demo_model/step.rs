//! What the stand-in does next in a turn, before it is put into a reply: say something, or call a tool.

use serde_json::Value;

use super::language::{DemoLanguage, DemoText};
use super::question::DemoQuestion;

/// The next step of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DemoStep {
    /// The answer.
    Say(String),
    /// An answer that comes so slowly that it can be stopped.
    SaySlowly(String),
    /// Calls of one tool, with the arguments of each.
    Call(&'static str, Vec<Value>),
}

impl DemoStep {
    /// An answer in the language of a question.
    pub(super) fn say(words: DemoText, question: &DemoQuestion) -> Self {
        Self::Say(words.of(question.language).to_owned())
    }

    /// One call.
    pub(super) fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Call(tool, vec![arguments])
    }
}

/// The results of the tools so far in the turn, oldest first: the name of the tool and what it gave.
pub(super) type ToolResults<'a> = [(&'a str, Value)];

/// The last result, if it is of this tool.
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

/// What the tools say of a time that is not to come, and what to say instead.
const NOT_TO_COME: &str = "is not in the future";
pub(super) const PAST: DemoText = DemoText {
    en: "That time has passed. Say one that is still to come, such as `in 5 minutes` or `tomorrow at 9`.",
    pt: "Essa hora já passou. Diga uma que ainda venha, como `em 5 minutos` ou `amanhã às 9`.",
    es: "Esa hora ya pasó. Di una que esté por venir, como `en 5 minutos` o `mañana a las 9`.",
};

/// What to say if a tool failed, with the tool's first sentence: what follows it tells a model what to do about it.
pub(super) fn failure(results: &ToolResults<'_>, language: DemoLanguage) -> Option<DemoStep> {
    let (_, result) = results.iter().rev().find(|(_, result)| result["success"] == false)?;
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
    }
}
