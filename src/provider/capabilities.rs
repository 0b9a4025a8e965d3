//! What a model can do and costs, as data: `models.yaml`. Providers answer with it; the loop offers tools by it, the
//! ledger reckons with it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::domain::usage::Price;

static FAMILIES: LazyLock<HashMap<String, Family>> = LazyLock::new(embedded);

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// The most tokens of request and answer together.
    pub context_window: usize,
    /// It calls function tools.
    pub tools: bool,
    /// It sees images.
    pub vision: bool,
    /// Its answer can be held to a JSON Schema.
    pub structured_output: bool,
    /// Its provider searches the web for it.
    pub web_search: bool,
    /// Its provider searches for it also in a request with function tools; else such a request goes without the search.
    #[serde(default = "combined")]
    pub search_with_tools: bool,
    /// Its answer can be held to a form also in a request with tools of any kind; else such a request goes without the
    /// form.
    #[serde(default = "combined")]
    pub schema_with_tools: bool,
    /// Its provider searches also for an answer that is to be JSON of no certain form; else such a request goes without
    /// the search.
    #[serde(default = "combined")]
    pub search_with_json: bool,
}

/// Most models take in one request whatever they take at all.
const fn combined() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    other: Capabilities,
    /// What a model costs for which no entry says it.
    price: Option<UsdPerMillion>,
    /// Parts of the names of what is served beside models that talk.
    #[serde(default)]
    not_chat: Vec<String>,
    models: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    price: Option<UsdPerMillion>,
    #[serde(flatten)]
    capabilities: Capabilities,
}

/// Prices as providers list them: US dollars for a million tokens, and for one search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsdPerMillion {
    input: f64,
    /// As much as `input` where it is left out.
    cached: Option<f64>,
    output: f64,
    #[serde(default)]
    search: f64,
}

impl From<&UsdPerMillion> for Price {
    fn from(usd: &UsdPerMillion) -> Self {
        let token = |usd_per_million: f64| nano(usd_per_million / 1e6);
        Self {
            input: token(usd.input),
            cached: token(usd.cached.unwrap_or(usd.input)),
            output: token(usd.output),
            search: nano(usd.search),
        }
    }
}

/// Dollars in nano-dollars. The data holds small positive numbers only.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test looks at every price")]
fn nano(usd: f64) -> u64 {
    (usd * 1e9).round() as u64
}

impl Family {
    fn entry(&self, model: &str) -> Option<&Entry> {
        let fitting = self.models.iter().filter(|entry| model.starts_with(&entry.name));
        fitting.max_by_key(|entry| entry.name.len())
    }
}

/// What this model of this provider is listed at; `None` where the data does not know.
#[must_use]
pub(super) fn list_price(provider: &str, model: &str) -> Option<Price> {
    // What Ollama runs elsewhere is billed there.
    if provider == "ollama" && model.ends_with("cloud") {
        return None;
    }
    let family = FAMILIES.get(provider)?;
    match family.entry(model) {
        Some(entry) => entry.price.as_ref().or(family.price.as_ref()),
        None => family.price.as_ref(),
    }
    .map(Price::from)
}

/// Whether what a provider serves under this name may be a model that talks, as far as the name tells.
#[must_use]
pub(super) fn may_talk(provider: &str, model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    !FAMILIES.get(provider).is_some_and(|family| family.not_chat.iter().any(|part| name.contains(part)))
}

impl Capabilities {
    /// Nothing but text: what holds for a provider that the data does not know.
    const NONE: Self = Self {
        context_window: 8192,
        tools: false,
        vision: false,
        structured_output: false,
        web_search: false,
        search_with_tools: true,
        schema_with_tools: true,
        search_with_json: true,
    };

    /// What this model of this provider can do.
    #[must_use]
    pub fn of(provider: &str, model: &str) -> Self {
        let Some(family) = FAMILIES.get(provider) else { return Self::NONE };
        family.entry(model).map_or(family.other, |entry| entry.capabilities)
    }
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
fn embedded() -> HashMap<String, Family> {
    serde_saphyr::from_str(include_str!("models.yaml")).expect("models.yaml fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_decides_and_an_unknown_model_gets_the_rest() {
        let window = |model: &str| Capabilities::of("openai", model).context_window;
        assert_eq!(window("gpt-4.1-mini"), 1_047_576);
        assert_eq!(window("gpt-4o-2024-11-20"), 128_000);
        assert!(Capabilities::of("openai", "o3").vision);
        assert!(!Capabilities::of("openai", "o3-mini-2025").vision);
        assert!(Capabilities::of("openai", "somebody-elses").tools);
        assert_eq!(Capabilities::of("nobody", "x"), Capabilities::NONE);
    }

    #[test]
    fn what_cannot_be_combined_is_told() {
        let combines = |model: &str| {
            let can = Capabilities::of("gemini", model);
            (can.search_with_tools, can.schema_with_tools)
        };
        assert_eq!(combines("gemini-3.5-flash"), (true, true));
        assert_eq!(combines("gemini-2.5-flash-lite"), (false, false));
    }
}
