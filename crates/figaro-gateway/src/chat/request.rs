//! The body of a request for a completion. What clients send beside it is ignored; what would change the meaning and is not there
//! is refused.

use serde::Deserialize;
use serde_json::Value;

use super::super::asking::Put;
use super::super::entry::Entry;
use super::super::error::ApiError;
use super::super::gateway::Gateway;
use super::super::handover::Mark;
use super::super::models::{agent_of, agent_of_model, check_model};
use super::super::packs;
use super::super::said::not_waited_for;
use super::legacy::{bound, mended};
use super::messages::{ChatMessage, Placed, Talk, talk};
use super::options::{Choice, form, stop};
use super::tools::tools;
use figaro_agent::turn::requested::Requested;
use figaro_domain::generation::Generation;
use figaro_provider::{Item, Options};

/// A request for a completion.
#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ChatRequest {
    /// Figaro or an agent of it.
    pub(crate) model: String,
    /// The conversation.
    pub(crate) messages: Vec<ChatMessage>,
    /// Whether the answer comes as it is written.
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

/// How the model is to write.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sampling {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) frequency_penalty: Option<f64>,
    pub(crate) presence_penalty: Option<f64>,
}

/// What is asked of Figaro beyond the dialect.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extras {
    /// The persona of a file.
    #[serde(default)]
    pub(crate) persona: Option<String>,
    /// Files that were stored before.
    #[serde(default)]
    pub(crate) file_ids: Option<Vec<String>>,
}

/// What is in the dialect and not here: refused where it would change the answer.
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
    /// Whether a stream ends with what was used.
    #[must_use]
    pub(crate) fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or_default()
    }

    /// The question that it asks.
    ///
    /// # Errors
    /// What cannot be answered in it.
    pub(crate) fn put(self, gateway: &Gateway, entry: &Entry) -> Result<Put, ApiError> {
        self.foreign.check()?;
        let choice = Choice::read(self.tool_choice.as_ref())?;
        let agent = agent_of_model(gateway, &self.model)?;
        let placed = mended(self.messages).into_iter().enumerate();
        let placed = placed.map(|(at, message)| Placed { place: format!("messages[{at}]"), message });
        let Talk { prompt, history, question, images, done } = talk("messages", &placed.collect::<Vec<_>>())?;
        let sampling = Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_completion_tokens.or(self.max_tokens),
            // Clients send what changes nothing by habit.
            frequency_penalty: self.frequency_penalty.filter(|penalty| penalty.abs() > 0.0),
            presence_penalty: self.presence_penalty.filter(|penalty| penalty.abs() > 0.0),
        };
        let (format, form) = form("response_format", self.response_format.as_ref())?;
        let (tool_choice, tools) = choice.of(tools(self.tools.as_deref().unwrap_or_default())?)?;
        let stop = stop(self.stop.as_ref())?;
        let options = Options {
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
        put(Asks { words: question, history, done, extras: self.figaro, requested }, gateway, entry)
    }
}

/// What a request asks, in whatever dialect.
#[derive(Debug)]
pub(crate) struct Asks {
    /// The words of the question.
    pub(crate) words: String,
    /// What was said before.
    pub(crate) history: Vec<Item>,
    /// What was done since.
    pub(crate) done: Vec<Item>,
    /// What is asked of Figaro beyond the dialect.
    pub(crate) extras: Option<Extras>,
    /// The rest.
    pub(crate) requested: Requested,
}

/// The question of a request, with what its headers ask for.
///
/// # Errors
/// What is not there, or not for this caller.
pub(crate) fn put(asks: Asks, gateway: &Gateway, entry: &Entry) -> Result<Put, ApiError> {
    let Entry { caller, wishes, .. } = entry;
    let Asks { words, history, done, extras, requested } = asks;
    let Extras { persona, file_ids } = extras.unwrap_or_default();
    if file_ids.is_some_and(|files| !files.is_empty()) {
        return Err(ApiError::unsupported(
            "figaro.file_ids",
            "files are not stored over HTTP yet: send their text in a message",
        ));
    }
    if let Some(persona) = &persona
        && let known = gateway.prompts.personas()
        && known.get(persona).is_none()
    {
        let names: Vec<&str> = known.all().map(|persona| persona.name.as_str()).collect();
        let words = format!("there is no persona of this name. There are: {}", names.join(", "));
        return Err(ApiError::invalid(words).about("figaro.persona"));
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
    // The session has the question already, and what was done since is what the caller sends.
    let resumes = match wishes.session.is_some() && !done.is_empty() {
        true => Some(Mark::of_last(&done).ok_or_else(not_waited_for)?),
        false => None,
    };
    // What is kept of a question are its words.
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
    Ok(Put { words, resumes, requested })
}

impl Sampling {
    /// As settings of a model.
    ///
    /// # Errors
    /// What is out of its range.
    pub(crate) fn read(self) -> Result<Generation, ApiError> {
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
                Err(ApiError::invalid(words.join("; ")).about(first))
            }
        }
    }
}

impl Foreign {
    /// # Errors
    /// What is refused.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
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
                return Err(ApiError::unsupported(name, words));
            }
        }
        Ok(())
    }
}
