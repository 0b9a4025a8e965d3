//! What the headers of a question ask for beside its body.

use axum::http::HeaderMap;

use super::super::error::ApiError;
use super::names::{header, named};
use figaro_domain::model::ModelName;

/// The most characters of the kind of client.
const MAX_CLIENT: usize = 64;

/// What the headers of a question ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuestionHeaders {
    /// The session that it belongs to; `None` for a question that stands alone.
    pub(crate) session: Option<String>,
    /// The model that answers.
    pub(crate) model: Option<ModelName>,
    /// The agent that answers.
    pub(crate) agent: Option<String>,
    /// It only tests an agent: nothing of it is kept.
    pub(crate) is_eval: bool,
    /// The kind of client.
    pub(crate) client: Option<String>,
    /// The context packs whose records whoever asks keeps from now on.
    pub(crate) packs: Option<Vec<String>>,
    /// Whether events of the turn are sent beside its words.
    pub(crate) events: bool,
}

impl QuestionHeaders {
    /// Reads them.
    ///
    /// # Errors
    /// What is wrong with the first that is.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, ApiError> {
        let stateless = flag(headers, "x-stateless")?;
        let session = match header(headers, "x-session-id")? {
            Some(session) => Some(named("X-Session-Id", session)?.to_owned()),
            None => None,
        };
        if stateless == Some(false) && session.is_none() {
            return Err(ApiError::invalid("X-Stateless is false, so X-Session-Id has to name a session"));
        }
        let is_eval = flag(headers, "x-is-eval")? == Some(true);
        let model = header(headers, "x-model-name")?.map(str::parse::<ModelName>).transpose();
        let client = header(headers, "x-client-id")?.map(|client| client.chars().take(MAX_CLIENT).collect());
        let packs = header(headers, "x-pack")?.map(packs);
        if packs.is_some() && (session.is_none() || stateless == Some(true) || is_eval) {
            return Err(ApiError::invalid("X-Pack is for what is kept: name a session by X-Session-Id"));
        }
        Ok(Self {
            packs,
            session: session.filter(|_| stateless != Some(true) && !is_eval),
            model: model.map_err(|words| ApiError::invalid(format!("X-Model-Name: {words}")))?,
            agent: header(headers, "x-agent-schema")?.map(str::to_owned),
            is_eval,
            client,
            events: flag(headers, "x-events")? == Some(true),
        })
    }
}

/// The names of context packs, with commas between them; `none` stands for none.
fn packs(names: &str) -> Vec<String> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    names.map(str::to_owned).collect()
}

/// A header that is true or false; `None` where it is not there.
fn flag(headers: &HeaderMap, name: &str) -> Result<Option<bool>, ApiError> {
    let Some(value) = header(headers, name)? else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        _ => Err(ApiError::invalid(format!("the header {name} is neither true nor false"))),
    }
}
