//! Settings of agents and personas that their model does not support. The bot ignores them; this check reports them.

use std::collections::BTreeMap;

use super::name;
use crate::app::models::models;
use figaro_base::clock::Clock;
use figaro_config::Settings;
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_prompts::Prompts;
use figaro_provider::Providers;
use figaro_provider::trials::ModelTrials;

/// Returns one line per model and unsupported setting, with the agents and personas that use it. Personas use the default
/// model; agents use their own if they name one.
pub(super) fn hints(
    settings: &Settings,
    providers: &Providers,
    http: &reqwest::Client,
    prompts: &Prompts,
) -> Vec<String> {
    let Ok(models) = models(&settings.model, providers, http, &ModelTrials::default(), &Clock::system())
    else {
        return Vec::new();
    };
    let default = name(&settings.model.default);
    let mut setters: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    let mut look = |who: String, model: &ModelName, wanted: &Generation| {
        for setting in models.ignored(model, wanted) {
            setters.entry((model.to_string(), setting)).or_default().push(who.clone());
        }
    };
    let agents = prompts.agents();
    for agent in agents.all() {
        let model = agent.model.as_ref().unwrap_or(&default);
        look(format!("agent {}", agent.name), model, &agent.settings);
    }
    for persona in prompts.personas().all() {
        look(format!("persona {}", persona.name), &default, &persona.settings);
    }
    let line = |((model, setting), who): ((String, &str), Vec<String>)| {
        format!("model: {model} has no {setting}; it is left out for {}", who.join(", "))
    };
    setters.into_iter().map(line).collect()
}
