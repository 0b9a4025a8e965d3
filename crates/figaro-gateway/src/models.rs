//! Models that callers see: Figaro itself and its agents.

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::caller::Caller;
use super::error::GatewayError;
use super::gateway::Gateway;
use figaro_base::text::nearest;
use figaro_config::{ModelAliases, Rights};
use figaro_domain::model::ModelName;
use figaro_prompts::AgentSet;

/// Model name of Figaro itself.
pub(super) const FIGARO: &str = "figaro";

/// Lists the models.
///
/// # Errors
/// If the caller may not ask questions.
pub(super) async fn list(
    State(gateway): State<Gateway>,
    caller: Caller,
) -> Result<Json<Value>, GatewayError> {
    caller.require(may_ask, "questions")?;
    let mut names = names(&gateway.prompts.agents());
    let is_new = |alias: &&str| !names.iter().any(|name| name == alias);
    // An alias whose agent is gone or misspelt is left out: every question to it would be refused.
    let aliases =
        gateway.aliases.names().filter(is_new).filter(|alias| agent_of_model(&gateway, alias).is_ok());
    names.extend(aliases.map(str::to_owned).collect::<Vec<_>>());
    let models: Vec<Value> = names.iter().map(|name| model(&gateway, name)).collect();
    Ok(Json(json!({"object": "list", "data": models})))
}

/// Shows a model.
///
/// # Errors
/// If there is no model of this name, or the caller may not ask questions.
pub(super) async fn one(
    State(gateway): State<Gateway>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, GatewayError> {
    caller.require(may_ask, "questions")?;
    agent_of_model(&gateway, &name)?;
    Ok(Json(model(&gateway, &name)))
}

pub(super) const fn may_ask(rights: &Rights) -> bool {
    rights.chat
}

/// Returns a warning line for each alias in `HTTP_MODELS` whose agent does not exist.
#[must_use]
pub fn unanswered(aliases: &ModelAliases, agents: &AgentSet) -> Vec<String> {
    let names = names(agents);
    let is_lost = |(_, model): &(&str, &str)| !names.iter().any(|known| known == model);
    let line = |(name, model)| format!("HTTP_MODELS: nobody answers to {name}: {}", unknown(model, &names));
    aliases.all().filter(is_lost).map(line).collect()
}

fn names(agents: &AgentSet) -> Vec<String> {
    let agents = agents.choosable().map(|agent| agent.name.clone()).filter(|name| name != FIGARO);
    std::iter::once(FIGARO.to_owned()).chain(agents).collect()
}

fn model(gateway: &Gateway, name: &str) -> Value {
    let created = gateway.vitals.started_at.timestamp();
    json!({"id": name, "object": "model", "created": created, "owned_by": FIGARO})
}

/// Returns the agent for the model of a request, by its own name or an alias in `HTTP_MODELS`. `None` stands for
/// Figaro itself.
///
/// # Errors
/// If there is no such agent.
pub(super) fn agent_of_model(gateway: &Gateway, name: &str) -> Result<Option<String>, GatewayError> {
    let names = names(&gateway.prompts.agents());
    let is_here = |name: &str| names.iter().any(|known| known == name);
    let meant = gateway.aliases.meant(name).filter(|meant| !is_here(name) && is_here(meant));
    agent_of(gateway, meant.unwrap_or(name))
}

/// Returns the agent of this name; `None` stands for Figaro itself.
///
/// # Errors
/// If there is no such agent.
pub(super) fn agent_of(gateway: &Gateway, name: &str) -> Result<Option<String>, GatewayError> {
    let names = names(&gateway.prompts.agents());
    if names.iter().any(|known| known == name) {
        return Ok(Some(name.to_owned()).filter(|here| here != FIGARO));
    }
    let words = format!(
        "{}. X-Model-Name names a model behind them; HTTP_MODELS has other names answered",
        unknown(name, &names)
    );
    Err(GatewayError::not_found("model_not_found", words).about("model"))
}

/// Returns the message for an unknown model, with the names that exist.
fn unknown(name: &str, names: &[String]) -> String {
    let meant = nearest(name, names.iter().map(String::as_str), |known| known.len().div_ceil(3));
    let meant = meant.map_or_else(|| ".".to_owned(), |meant| format!(": did you mean `{meant}`?"));
    let shown: String = name.chars().take(64).collect();
    format!("there is no model `{shown}`{meant} There are: {}", names.join(", "))
}

/// Checks that the caller may choose this model. Owners may choose any model, others those named in the settings.
///
/// # Errors
/// If the caller may not choose it, or no provider serves it.
pub(super) fn check_model(gateway: &Gateway, caller: &Caller, model: &ModelName) -> Result<(), GatewayError> {
    let models = &gateway.ledger.models;
    let named = models.named();
    let is_served = models.providers().any(|provider| provider == model.provider);
    if named.contains(model) || (caller.rights.owner && is_served) {
        return Ok(());
    }
    let names: Vec<String> = named.iter().map(ToString::to_string).collect();
    let words = format!("X-Model-Name: this model cannot be chosen here. There are: {}", names.join(", "));
    Err(GatewayError::not_found("model_not_found", words))
}
