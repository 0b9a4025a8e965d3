//! What a model can do, as data: `models.yaml`. Providers answer with it; the loop offers tools by it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

static MODELS: LazyLock<HashMap<String, Family>> = LazyLock::new(embedded);

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
}

/// Most models take in one request whatever they take at all.
const fn combined() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    other: Capabilities,
    models: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(flatten)]
    capabilities: Capabilities,
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
    };

    /// What this model of this provider can do.
    #[must_use]
    pub fn of(provider: &str, model: &str) -> Self {
        let Some(family) = MODELS.get(provider) else { return Self::NONE };
        let fitting = family.models.iter().filter(|entry| model.starts_with(&entry.name));
        fitting.max_by_key(|entry| entry.name.len()).map_or(family.other, |entry| entry.capabilities)
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
