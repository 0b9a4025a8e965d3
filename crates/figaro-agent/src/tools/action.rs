//! `action(type, payload)`: events triggered by the model. `elicit` asks the person and parks the turn; the answer becomes
//! the result of the call, even hours or a restart later. `observation` stores a note about the answer. `delegate` hands
//! over to another agent.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::agents::{GRACE, asked, usual_timeout};
use super::typed::complaint;
use super::{AgentRequest, Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::observation::Observation;
use figaro_domain::tool::{Effect, SideEffects, StatusKey};
use figaro_domain::turn::PersonQuestion;
use figaro_provider::ToolSpec;

const NAME: &str = "action";
/// Short description for plain turns, whose budget has no room for the fields of other payloads. Faults mention those.
const ABOUT: &str = "elicit: asks whoever wrote; free takes any words. observation: {confidence, sources}. delegate: {agent, input}";
/// Full description for agents that name the tool.
const ABOUT_ALL: &str = "elicit: asks whoever wrote and gives the answer: an option, or any words where free. observation: notes \
    what is known of your answer, before you write it. delegate: another agent answers in your place.";

/// Maximum length of a question in characters: it is one message.
const MAX_QUESTION_CHARS: usize = 1_000;
/// Maximum number of options, each a row with a button.
const MAX_OPTIONS: usize = 8;
/// Maximum length of an option in characters. Phones cut longer buttons.
const MAX_OPTION_CHARS: usize = 64;
/// Default lifetime of a question, in minutes.
const DEFAULT_MIN: u32 = 24 * 60;
/// Maximum lifetime of a question, in minutes: a week.
const MAX_MIN: u32 = 7 * 24 * 60;
/// Maximum length of an agent's name, in characters.
const MAX_AGENT_CHARS: usize = 40;
/// Maximum length of the input for another agent, in characters.
const MAX_INPUT_CHARS: usize = 8_000;

const CANNOT_ASK: &str = "nobody can be asked now: this is the run of a task, or too many questions wait for an answer \
    already. Write what you need to know";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionArguments {
    r#type: ActionType,
    #[serde(default)]
    payload: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ActionType {
    Elicit,
    Observation,
    Delegate,
}

#[derive(Deserialize)]
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

/// Agent that takes over the answer, and its input.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Delegate {
    agent: String,
    input: String,
}

/// The `action` tool, with the short or the full schema.
#[derive(Debug)]
struct ActionTool {
    spec: Arc<ToolSpec>,
    whole: Option<Arc<dyn Tool>>,
}

/// Makes the `action` tool with the types `elicit`, `observation` and `delegate`.
#[must_use]
pub(crate) fn tool() -> Arc<dyn Tool> {
    let action = |about: &str, payload: Value, whole: Option<Arc<dyn Tool>>| {
        let spec = Arc::new(ToolSpec::new(NAME, about, parameters(payload)));
        Arc::new(ActionTool { spec, whole })
    };
    let whole = action(ABOUT_ALL, payload_in_whole(), None);
    action(ABOUT, payload(), Some(whole))
}

fn parameters(payload: Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["elicit", "observation", "delegate"]},
            "payload": {"type": "object", "properties": payload},
        },
        "required": ["type", "payload"],
    })
}

/// Returns the properties of an `elicit` payload.
fn payload() -> Value {
    json!({
        "question": {"type": "string"},
        "options": {"type": "array", "items": {"type": "string"}},
        "free": {"type": "boolean"},
        "minutes": {"type": "integer"},
    })
}

/// Returns the properties of all payload types.
fn payload_in_whole() -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let mut whole = payload();
    whole["minutes"]["default"] = DEFAULT_MIN.into();
    let others = json!({
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "observation: any of these and those below"},
        "sources": texts(),
        "session_name": {"type": "string", "description": "names the conversation"},
        "references": texts(),
        "flags": texts(),
        "risk_level": {"type": "string", "enum": ["low", "moderate", "high", "critical"]},
        "risk_score": {"type": "number", "minimum": 0, "maximum": 100},
        // Some providers reject an object without properties.
        "extra": {"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": true},
        "agent": {"type": "string", "description": "delegate: who is to answer"},
        "input": {"type": "string", "description": "delegate: what it is told"},
    });
    if let (Some(all), Value::Object(others)) = (whole.as_object_mut(), others) {
        all.extend(others);
    }
    whole
}

#[async_trait]
impl Tool for ActionTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Returns `Read`: asking or observing changes nothing, so a call cut off by a restart is repeated.
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn status(&self) -> StatusKey {
        StatusKey("tool_telegram")
    }

    /// Returns a timeout that leaves time for another agent that takes over the answer.
    fn timeout(&self) -> Duration {
        usual_timeout().saturating_add(GRACE)
    }

    fn in_whole(&self) -> Option<Arc<dyn Tool>> {
        self.whole.clone()
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let ActionArguments { r#type, payload } = read(&arguments)?;
        match r#type {
            ActionType::Elicit if !context.can_ask => Err(ToolError::ForModel(CANNOT_ASK.to_owned())),
            ActionType::Elicit => {
                let question = read::<Elicit>(&payload)?.read().map_err(ToolError::ForModel)?;
                Ok(ToolOutput { asks: Some(question), ..Value::Null.into() })
            }
            ActionType::Observation => {
                let observation = read::<Observation>(&payload)?.checked().map_err(ToolError::ForModel)?;
                let observation = Some(Box::new(observation));
                let side_effects = SideEffects { observation, ..SideEffects::default() };
                Ok(ToolOutput { side_effects, ..json!({"success": true}).into() })
            }
            ActionType::Delegate => {
                let Delegate { agent, input } =
                    read::<Delegate>(&payload)?.checked().map_err(ToolError::ForModel)?;
                let asked = asked(agent, &input, None, usual_timeout()).map_err(ToolError::ForModel)?;
                context.agents.ask(context, AgentRequest { takes_over: true, ..asked }).await
            }
        }
    }
}

/// Parses a payload; a missing payload counts as empty.
fn read<T: DeserializeOwned>(written: &Value) -> Result<T, ToolError> {
    let empty = json!({});
    let written = if written.is_null() { &empty } else { written };
    T::deserialize(written).map_err(|error| ToolError::ForModel(complaint::<T>(written, &error)))
}

impl Delegate {
    fn checked(self) -> Result<Self, String> {
        let (agent, input) = (self.agent.trim(), self.input.trim());
        for (field, text, most) in [("agent", agent, MAX_AGENT_CHARS), ("input", input, MAX_INPUT_CHARS)] {
            let count = text.chars().count();
            if count == 0 || count > most {
                return Err(format!("{field} has {count} characters; it takes 1 to {most}"));
            }
        }
        Ok(Self { agent: agent.to_owned(), input: input.to_owned() })
    }
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

    async fn called(arguments: Value) -> Result<ToolOutput, String> {
        let output = tool().call(&ToolContext::somewhere(), arguments).await;
        output.map_err(|error| match error {
            ToolError::ForModel(words) => words,
            error => panic!("{error:?}"),
        })
    }

    #[tokio::test]
    async fn each_type_has_a_payload_of_its_own() {
        let asked = called(json!({"type": "elicit", "payload": {"question": "Which?", "options": ["A"]}}));
        assert_eq!(asked.await.unwrap().asks.unwrap().options, ["A"]);
        let noted = called(json!({"type": "observation", "payload": {"confidence": 0.5}})).await.unwrap();
        assert_eq!((noted.value, noted.asks), (json!({"success": true}), None));
        assert_eq!(noted.side_effects.observation.unwrap().confidence, Some(0.5));
        let long = "x".repeat(MAX_INPUT_CHARS + 1);
        for (arguments, complaint) in [
            (
                json!({"type": "delegate", "payload": {"agent": "a", "input": "b"}}),
                "there are no agents to ask here",
            ),
            (json!({"type": "delegate", "payload": {"agent": " ", "input": "b"}}), "agent has 0 characters"),
            (
                json!({"type": "delegate", "payload": {"agent": "a", "input": long}}),
                "input has 8001 characters",
            ),
            (
                json!({"type": "delegate", "payload": {"agent": "a"}}),
                "the arguments do not fit: missing field `input`",
            ),
            (json!({"type": "observation"}), "an observation has at least one of confidence, sources"),
            (
                json!({"type": "observation", "payload": {"confidence": "sure"}}),
                "the arguments do not fit: confidence: invalid type",
            ),
            (
                json!({"type": "observation", "payload": {"question": "?"}}),
                "the arguments do not fit: unknown field `question`, expected one of `confidence`, `sources`",
            ),
            (json!({"type": "elicit"}), "the arguments do not fit: missing field `question`"),
            (json!({"type": "shout", "payload": {}}), "the arguments do not fit: unknown variant `shout`"),
            (json!({"payload": {}}), "the arguments do not fit: missing field `type`"),
        ] {
            let error = called(arguments.clone()).await.unwrap_err();
            assert!(error.starts_with(complaint), "{arguments}: {error}");
        }
    }

    #[test]
    fn an_agent_that_names_it_reads_what_every_payload_holds() {
        let fields = |tool: &dyn Tool| {
            let properties = &tool.spec().parameters["properties"]["payload"]["properties"];
            properties.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        let plain = tool();
        let whole = plain.in_whole().unwrap();
        assert_eq!(fields(&*plain), "question options free minutes");
        let all = "question options free minutes confidence sources session_name references flags risk_level risk_score \
                   extra agent input";
        assert_eq!(fields(&*whole), all);
        assert_eq!((whole.spec().name.as_str(), whole.in_whole().is_none()), (NAME, true));
    }
}
