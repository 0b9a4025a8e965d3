//! Options in the headers of a question.

use axum::http::HeaderMap;

use super::super::error::GatewayError;
use super::names::{header, named};
use figaro_domain::model::ModelName;

/// Maximum length of the kind of client, in characters.
const MAX_CLIENT: usize = 64;

/// Options in the headers of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuestionHeaders {
    /// Name of the session; `None` for a stateless question.
    pub(crate) session: Option<String>,
    /// Model that answers; `None` for the default.
    pub(crate) model: Option<ModelName>,
    /// Agent that answers; `None` unless a header names one.
    pub(crate) agent: Option<String>,
    /// `true` for a test of an agent. Nothing of it is stored.
    pub(crate) is_eval: bool,
    /// Kind of client, such as an editor.
    pub(crate) client: Option<String>,
    /// Context packs whose records the caller keeps from now on; `None` to leave them unchanged.
    pub(crate) packs: Option<Vec<String>>,
    /// `true` if events of the turn are sent along with its text.
    pub(crate) events: bool,
}

impl QuestionHeaders {
    /// Reads the headers.
    ///
    /// # Errors
    /// The first invalid header.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, GatewayError> {
        let stateless = flag(headers, "x-stateless")?;
        let session = match header(headers, "x-session-id")? {
            Some(session) => Some(named("X-Session-Id", session)?.to_owned()),
            None => None,
        };
        if stateless == Some(false) && session.is_none() {
            return Err(GatewayError::invalid("X-Stateless is false, so X-Session-Id has to name a session"));
        }
        let is_eval = flag(headers, "x-is-eval")? == Some(true);
        let model = header(headers, "x-model-name")?.map(str::parse::<ModelName>).transpose();
        let client = header(headers, "x-client-id")?.map(|client| client.chars().take(MAX_CLIENT).collect());
        let packs = header(headers, "x-pack")?.map(packs);
        if packs.is_some() && (session.is_none() || stateless == Some(true) || is_eval) {
            return Err(GatewayError::invalid("X-Pack is for what is kept: name a session by X-Session-Id"));
        }
        Ok(Self {
            packs,
            session: session.filter(|_| stateless != Some(true) && !is_eval),
            model: model.map_err(|words| GatewayError::invalid(format!("X-Model-Name: {words}")))?,
            agent: header(headers, "x-agent-schema")?.map(str::to_owned),
            is_eval,
            client,
            events: flag(headers, "x-events")? == Some(true),
        })
    }
}

/// Splits comma-separated names of context packs. `none` stands for no pack.
fn packs(names: &str) -> Vec<String> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    names.map(str::to_owned).collect()
}

/// Reads a boolean header; `None` if it is missing.
fn flag(headers: &HeaderMap, name: &str) -> Result<Option<bool>, GatewayError> {
    let Some(value) = header(headers, name)? else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        _ => Err(GatewayError::invalid(format!("the header {name} is neither true nor false"))),
    }
}
