//! Hints for a user at the terminal about a failed turn.

use crate::app::models::name;
use figaro_config::Settings;
use figaro_domain::model::ModelName;
use figaro_domain::provider_spec::VariableRole;
use figaro_provider::Providers;

/// Endpoint of the model, for hints when it is unreachable.
#[derive(Debug, Default)]
pub(super) struct ModelEndpoint {
    /// Address; `None` if the provider has no address setting.
    address: Option<String>,
    /// Name of the variable that sets the address.
    variable: &'static str,
}

impl ModelEndpoint {
    /// Returns the endpoint of `model`, or of the default model for `None`.
    pub(super) fn of(settings: &Settings, providers: &Providers, model: Option<&ModelName>) -> Self {
        let model = model.cloned().unwrap_or_else(|| name(&settings.model.default));
        let spec = providers.find(&model.provider).map(|provider| &provider.spec);
        let variable =
            spec.and_then(|spec| spec.variable(VariableRole::BaseUrl)).map(|variable| variable.name);
        let set_up = settings.model.providers.iter().find(|provider| provider.name == model.provider);
        let address = variable.and(set_up).map(|provider| provider.base_url.clone());
        Self { address, variable: variable.unwrap_or_default() }
    }

    /// Returns a hint for an error label, as the rest of a line.
    pub(super) fn remedy(&self, label: &str) -> String {
        let words = match label {
            "unauthorized" => "check the key of this provider",
            "unknown_model" => "name another one with --model, or in the settings",
            "no_quota" => "its account has to be topped up; --model names another one",
            "rate_limited" => "ask again later, or another one with --model",
            "unavailable" | "garbled" | "cut" | "stalled" | "unspoken" => {
                "ask again in a minute, or another one with --model"
            }
            "too_long" => "ask something shorter, or in another --session",
            "spent" => "ask for less at once, or another one with --model",
            "refused" | "filtered" | "withheld" | "empty" => "put the question differently",
            "foreign" | "wrong_address" => "check the base URL of this provider, and proxies on the way",
            "over_budget" => "ask again then, or raise the limit in the settings or by /budget",
            "unpriced" => "set its price in LLM_PRICES, or a bound in DAILY_TOKENS",
            _ => "RUST_LOG=info shows more",
        };
        match (&self.address, label) {
            (Some(address), "unavailable" | "stalled" | "foreign" | "wrong_address") => {
                format!("it is asked at {address} ({}): {words}", self.variable)
            }
            _ => words.to_owned(),
        }
    }
}
