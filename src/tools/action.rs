//! `action(type, payload)`: events that the model sets off. `elicit` asks the person and waits: the turn is put away with the
//! question, and the answer is the result of the call, also hours or a restart later.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{About, Tool, ToolContext, ToolError, ToolOutput, typed};
use crate::domain::tool::{Effect, SideEffects, StatusKey};
use crate::domain::turn::PersonQuestion;

/// A question is at most so long: it is one message.
const MAX_QUESTION_CHARS: usize = 1_000;
/// The most answers to choose from, a row of buttons each.
const MAX_OPTIONS: usize = 8;
/// An answer on a button is at most so long; phones cut longer ones.
const MAX_OPTION_CHARS: usize = 64;
/// A question is given up after this time unless it says otherwise.
const DEFAULT_MIN: u32 = 24 * 60;
/// It is never waited for longer: a week.
const MAX_MIN: u32 = 7 * 24 * 60;

const CANNOT_ASK: &str = "nobody can be asked now: this is the run of a task, or too many questions wait for an answer \
    already. Write what you need to know";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    r#type: Type,
    payload: Elicit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Type {
    Elicit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Elicit {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    free: bool,
    #[serde(default = "a_day")]
    minutes: u32,
}

const fn a_day() -> u32 {
    DEFAULT_MIN
}

/// `action` with the type `elicit`.
#[must_use]
pub fn tool() -> Arc<dyn Tool> {
    let words = "elicit: asks whoever wrote and gives the answer: an option, or any words where free.";
    // To ask changes nothing: a question that a restart cut off is asked again.
    let about = About::new("action", words, Effect::Read, StatusKey("tool_telegram"));
    typed(about, |context: ToolContext, Arguments { r#type: Type::Elicit, payload }| async move {
        if !context.can_ask {
            return Err(ToolError::ForModel(CANNOT_ASK.to_owned()));
        }
        let question = payload.read().map_err(ToolError::ForModel)?;
        Ok(ToolOutput {
            value: serde_json::Value::Null,
            side_effects: SideEffects::default(),
            asks: Some(question),
        })
    })
}

impl Elicit {
    fn read(self) -> Result<PersonQuestion, String> {
        let text = self.question.trim().to_owned();
        let count = text.chars().count();
        if count == 0 || count > MAX_QUESTION_CHARS {
            return Err(format!("question has {count} characters; it takes 1 to {MAX_QUESTION_CHARS}"));
        }
        let mut options: Vec<String> = Vec::new();
        for option in self.options.iter().map(|option| option.trim()) {
            let count = option.chars().count();
            if count == 0 || count > MAX_OPTION_CHARS {
                return Err(format!("an option has {count} characters; it takes 1 to {MAX_OPTION_CHARS}"));
            }
            if !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
        if options.len() > MAX_OPTIONS {
            return Err(format!("there are {} options; {MAX_OPTIONS} are the most", options.len()));
        }
        let expires_after_min = self.minutes;
        if !(1..=MAX_MIN).contains(&expires_after_min) {
            return Err(format!("minutes is {expires_after_min}; it takes 1 to {MAX_MIN}"));
        }
        let is_free = self.free || options.is_empty();
        Ok(PersonQuestion { text, options, is_free, expires_after_min, approval: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        question: &str,
        options: &[&str],
        free: bool,
        minutes: Option<u32>,
    ) -> Result<PersonQuestion, String> {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let minutes = minutes.unwrap_or_else(a_day);
        Elicit { question: question.to_owned(), options, free, minutes }.read()
    }

    #[test]
    fn a_question_is_within_its_bounds() {
        let plain = read(" Which? ", &[], false, None).unwrap();
        assert_eq!(
            (plain.text.as_str(), plain.is_free, plain.expires_after_min),
            ("Which?", true, DEFAULT_MIN)
        );
        let choice = read("Which?", &["Red ", "Blue", "Red"], false, Some(1)).unwrap();
        assert_eq!((choice.options.join(" "), choice.is_free), ("Red Blue".to_owned(), false));
        assert!(read("Which?", &["Red"], true, None).unwrap().is_free);
        let (long, many) =
            ("x".repeat(MAX_QUESTION_CHARS + 1), ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        for (question, options, minutes, complaint) in [
            (" ", &[][..], None, "question has 0 characters"),
            (&long, &[][..], None, "question has 1001 characters"),
            ("?", &[" "][..], None, "an option has 0 characters"),
            ("?", &[long.as_str()][..], None, "an option has 1001 characters"),
            ("?", &many[..], None, "there are 9 options"),
            ("?", &[][..], Some(0), "minutes is 0"),
            ("?", &[][..], Some(MAX_MIN + 1), "minutes is 10081"),
        ] {
            let error = read(question, options, false, minutes).unwrap_err();
            assert!(error.starts_with(complaint), "{error}");
        }
    }
}
