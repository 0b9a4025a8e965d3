//! Body of a request for a completion. Unknown fields are ignored. A field that would change the meaning and is not
//! supported is refused.

use serde::Deserialize;
use serde_json::Value;

use super::super::asking::Put;
use super::super::entry::IncomingQuestion;
use super::super::error::GatewayError;
use super::super::gateway::Gateway;
use super::super::handover::CallIdPrefix;
use super::super::models::{agent_of, agent_of_model, check_model};
use super::super::packs;
use super::super::said::not_waited_for;
use super::legacy::{bound, mended};
use super::messages::{ChatMessage, PlacedMessage, Talk, talk};
use super::options::{CallerToolChoice, form, stop};
use super::tools::tools;
use crate::file_part::FilePart;
use figaro_agent::turn::requested::Requested;
use figaro_domain::generation::Generation;
use figaro_provider::{AnswerOptions, Item};

#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ChatRequest {
    /// Figaro or one of its agents.
    pub(crate) model: String,
    /// Conversation up to and including the question.
    pub(crate) messages: Vec<ChatMessage>,
    /// `true` if the answer is streamed.
    #[serde(default)]
    pub(crate) stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    top_p: Option<f64>,
    #[serde(default)]
    frequency_penalty: Option<f64>,
    #[serde(default)]
    presence_penalty: Option<f64>,
    #[serde(default, deserialize_with = "bound")]
    max_tokens: Option<u32>,
    #[serde(default, deserialize_with = "bound")]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    stop: Option<Value>,
    #[serde(default)]
    response_format: Option<Value>,
    #[serde(default)]
    figaro: Option<Extras>,
    #[serde(flatten)]
    foreign: Foreign,
}

#[derive(Debug, Clone, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sampling {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) frequency_penalty: Option<f64>,
    pub(crate) presence_penalty: Option<f64>,
}

/// Extensions of Figaro beyond the dialect.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extras {
    /// Name of a persona in its file.
    #[serde(default)]
    pub(crate) persona: Option<String>,
    /// Ids of stored files that the question is about.
    #[serde(default)]
    pub(crate) file_ids: Option<Vec<String>>,
}

/// Fields of the dialect that Figaro does not support. Refused if they would change the answer.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Foreign {
    #[serde(default)]
    n: Option<Value>,
    #[serde(default)]
    logprobs: Option<Value>,
    #[serde(default)]
    top_logprobs: Option<Value>,
    #[serde(default)]
    logit_bias: Option<Value>,
    #[serde(default)]
    modalities: Option<Value>,
    #[serde(default)]
    audio: Option<Value>,
    #[serde(default)]
    functions: Option<Value>,
    #[serde(default)]
    function_call: Option<Value>,
}

impl ChatRequest {
    /// Returns `true` if a stream ends with the usage.
    #[must_use]
    pub(crate) fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or_default()
    }

    /// Converts the request to a question.
    ///
    /// # Errors
    /// The part of the request that cannot be answered.
    pub(crate) fn put(self, gateway: &Gateway, entry: &IncomingQuestion) -> Result<Put, GatewayError> {
        self.foreign.check()?;
        let choice = CallerToolChoice::read(self.tool_choice.as_ref())?;
        let agent = agent_of_model(gateway, &self.model)?;
        let placed = mended(self.messages).into_iter().enumerate();
        let placed = placed.map(|(at, message)| PlacedMessage { place: format!("messages[{at}]"), message });
        let Talk { prompt, history, question, images, files, done } =
            talk("messages", &placed.collect::<Vec<_>>())?;
        let sampling = Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_completion_tokens.or(self.max_tokens),
            // Clients send penalties of 0 by habit.
            frequency_penalty: self.frequency_penalty.filter(|penalty| penalty.abs() > 0.0),
            presence_penalty: self.presence_penalty.filter(|penalty| penalty.abs() > 0.0),
        };
        let (format, form) = form("response_format", self.response_format.as_ref())?;
        let (tool_choice, tools) = choice.of(tools(self.tools.as_deref().unwrap_or_default())?)?;
        let stop = stop(self.stop.as_ref())?;
        let options = AnswerOptions {
            tool_choice,
            stop,
            has_pictures: !images.is_empty(),
            has_frequency_penalty: sampling.frequency_penalty.is_some(),
            has_presence_penalty: sampling.presence_penalty.is_some(),
        };
        let requested = Requested {
            agent,
            prompt,
            settings: Generation { output_format: format, ..sampling.read()? },
            form,
            images,
            options,
            tools,
            ..Requested::default()
        };
        put(
            ChatQuestion { words: question, history, done, files, extras: self.figaro, requested },
            gateway,
            entry,
        )
    }
}

/// Question of a request, in either dialect.
#[derive(Debug)]
pub(crate) struct ChatQuestion {
    /// Text of the question.
    pub(crate) words: String,
    /// Items before the question.
    pub(crate) history: Vec<Item>,
    /// Items after the question.
    pub(crate) done: Vec<Item>,
    /// Files of the question.
    pub(crate) files: Vec<FilePart>,
    /// Extensions of Figaro beyond the dialect.
    pub(crate) extras: Option<Extras>,
    /// All other options of the turn.
    pub(crate) requested: Requested,
}

/// Builds the question of a request with the options in its headers.
///
/// # Errors
/// If something is missing or not allowed for this caller.
pub(crate) fn put(
    asks: ChatQuestion,
    gateway: &Gateway,
    entry: &IncomingQuestion,
) -> Result<Put, GatewayError> {
    let IncomingQuestion { caller, wishes, .. } = entry;
    let ChatQuestion { words, history, done, mut files, extras, requested } = asks;
    let Extras { persona, file_ids } = extras.unwrap_or_default();
    files.extend(file_ids.into_iter().flatten().map(FilePart::Id));
    if let Some(persona) = &persona
        && let known = gateway.prompts.personas()
        && known.get(persona).is_none()
    {
        let names: Vec<&str> = known.all().map(|persona| persona.name.as_str()).collect();
        let words = format!("there is no persona of this name. There are: {}", names.join(", "));
        return Err(GatewayError::invalid(words).about("figaro.persona"));
    }
    if let Some(packs) = &wishes.packs {
        packs::check(gateway, packs)?;
    }
    if let Some(model) = &wishes.model {
        check_model(gateway, caller, model)?;
    }
    let agent = match &wishes.agent {
        Some(agent) => agent_of(gateway, agent)?,
        None => requested.agent,
    };
    // The session already has the question. The caller sends the items since.
    let resumes = match wishes.session.is_some() && !done.is_empty() {
        true => Some(CallIdPrefix::of_last(&done).ok_or_else(not_waited_for)?),
        false => None,
    };
    // Only the text of a question is stored.
    let words = match requested.images.len() {
        0 => words,
        count => format!("{words}\n[pictures: {count}]").trim_start().to_owned(),
    };
    let done = gateway.hub.resumed(&caller.identity(), done);
    let requested = Requested {
        agent,
        persona,
        model: wishes.model.clone(),
        client: wishes.client.clone(),
        history: wishes.session.is_none().then_some(history),
        done,
        ..requested
    };
    Ok(Put { words, files, resumes, requested })
}

impl Sampling {
    /// Converts the settings for the model.
    ///
    /// # Errors
    /// The setting that is out of its range.
    pub(crate) fn read(self) -> Result<Generation, GatewayError> {
        let Self { temperature, top_p, max_tokens, frequency_penalty, presence_penalty } = self;
        let settings = Generation {
            temperature,
            top_p,
            max_tokens,
            frequency_penalty,
            presence_penalty,
            ..Generation::default()
        };
        match settings.check() {
            Ok(()) => Ok(settings),
            Err(wrong) => {
                let first = wrong.first().map(|wrong| wrong.name).unwrap_or_default();
                let words: Vec<String> = wrong.iter().map(ToString::to_string).collect();
                Err(GatewayError::invalid(words.join("; ")).about(first))
            }
        }
    }
}

impl Foreign {
    /// Checks that no unsupported field changes the answer.
    ///
    /// # Errors
    /// The refused field.
    pub(crate) fn check(&self) -> Result<(), GatewayError> {
        let is = |value: &Option<Value>, usual: &[Value]| match value {
            None | Some(Value::Null) => true,
            Some(value) => usual.contains(value),
        };
        let empty =
            [Value::Array(Vec::new()), Value::Object(serde_json::Map::new()), Value::String(String::new())];
        let no = [Value::Bool(false)];
        let zero = [Value::from(0)];
        let text = [Value::Array(vec!["text".into()])];
        for (name, fits, words) in [
            ("n", is(&self.n, &[Value::from(1)]), "one answer is given: n is 1"),
            ("logprobs", is(&self.logprobs, &no), "log probabilities are not given"),
            ("top_logprobs", is(&self.top_logprobs, &zero), "log probabilities are not given"),
            ("logit_bias", is(&self.logit_bias, &empty), "tokens cannot be weighed: leave logit_bias out"),
            ("modalities", is(&self.modalities, &text), "answers are text"),
            ("audio", is(&self.audio, &[]), "answers are text"),
            ("functions", is(&self.functions, &empty), "functions stand in tools now"),
            (
                "function_call",
                is(&self.function_call, &["auto".into(), "none".into()]),
                "functions stand in tools now",
            ),
        ] {
            if !fits {
                return Err(GatewayError::unsupported(name, words));
            }
        }
        Ok(())
    }
}
