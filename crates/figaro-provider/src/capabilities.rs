//! Abilities and prices of models, as data in `models.yaml`. Providers answer from it, the loop offers tools by it,
//! and the ledger computes costs from it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use figaro_domain::usage::Price;

static FAMILIES: LazyLock<HashMap<String, ModelFamily>> = LazyLock::new(embedded);

/// Tokens reserved for an answer without a set limit, in a large window.
const USUAL_ANSWER: usize = 8_192;

/// Abilities of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Maximum number of tokens of request and answer together.
    pub context_window: usize,
    /// Maximum number of tokens of an answer; `None` if only the window limits it.
    #[serde(default)]
    pub max_output: Option<usize>,
    /// `true` if the model calls function tools.
    pub tools: bool,
    /// `true` if the model reads images.
    pub vision: bool,
    /// `true` if the model hears: it accepts sounds, and films with theirs.
    #[serde(default)]
    pub hearing: bool,
    /// `true` if an answer can be constrained to a JSON Schema.
    pub structured_output: bool,
    /// `true` if the provider searches the web for the model.
    pub web_search: bool,
    /// `true` if the provider also searches in a request with function tools. Otherwise such a request goes without
    /// the search.
    #[serde(default = "combined")]
    pub search_with_tools: bool,
    /// `true` if an answer can also be constrained in a request with tools of any kind. Otherwise such a request goes
    /// without the constraint.
    #[serde(default = "combined")]
    pub schema_with_tools: bool,
    /// `true` if the provider also searches for an answer in free-form JSON. Otherwise such a request goes without
    /// the search.
    #[serde(default = "combined")]
    pub search_with_json: bool,
    /// `true` if the model is unknown and its service may run any. Its abilities are then only tried.
    #[serde(skip)]
    pub is_guess: bool,
}

/// Most models accept all their kinds of input in one request.
const fn combined() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFamily {
    other: Capabilities,
    /// `true` if the host of a model decides how large its window is.
    #[serde(default)]
    any_window: bool,
    /// `true` if a model without an entry is sent all that `other` allows. Refusals are learned from.
    #[serde(default)]
    is_tried: bool,
    /// Price of models whose entry has none.
    price: Option<UsdPerMillion>,
    /// Suffixes of models that are billed elsewhere.
    #[serde(default)]
    billed_elsewhere: Vec<String>,
    /// Parts of the names of models that are not for chat.
    #[serde(default)]
    not_chat: Vec<String>,
    models: Vec<CapabilityEntry>,
}

#[derive(Deserialize)]
struct CapabilityEntry {
    name: String,
    price: Option<UsdPerMillion>,
    #[serde(flatten)]
    capabilities: Capabilities,
}

/// Prices as providers list them, in US dollars: per million tokens, and per search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsdPerMillion {
    input: f64,
    /// Defaults to `input`.
    cached: Option<f64>,
    output: f64,
    search: Option<f64>,
}

impl From<&UsdPerMillion> for Price {
    fn from(usd: &UsdPerMillion) -> Self {
        let token = |usd_per_million: f64| nano(usd_per_million / 1e6);
        Self {
            input: token(usd.input),
            cached: token(usd.cached.unwrap_or(usd.input)),
            output: token(usd.output),
            search: usd.search.map(nano),
        }
    }
}

/// Converts dollars to nano-dollars. The data holds small positive numbers only.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test looks at every price")]
fn nano(usd: f64) -> u64 {
    (usd * 1e9).round() as u64
}

impl CapabilityEntry {
    /// Returns `true` if a model whose name begins with this entry's is not a later generation: `gpt-5` says nothing
    /// about the price of `gpt-5.9`.
    fn is_of_generation(&self, model: &str) -> bool {
        let rest = model.strip_prefix(&self.name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    }
}

impl ModelFamily {
    fn entry(&self, model: &str) -> Option<&CapabilityEntry> {
        let fitting = self.models.iter().filter(|entry| model.starts_with(&entry.name));
        fitting.max_by_key(|entry| entry.name.len())
    }
}

/// Returns the list price of a provider's model; `None` if the data does not know it.
#[must_use]
pub(super) fn list_price(provider: &str, model: &str) -> Option<Price> {
    let family = FAMILIES.get(provider)?;
    if family.billed_elsewhere.iter().any(|end| model.ends_with(end)) {
        return None;
    }
    let entry = family.entry(model).filter(|entry| entry.is_of_generation(model));
    entry.and_then(|entry| entry.price.as_ref()).or(family.price.as_ref()).map(Price::from)
}

/// Returns `true` if a model may be one for chat, judging by its name.
#[must_use]
pub(super) fn may_talk(provider: &str, model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    !FAMILIES.get(provider).is_some_and(|family| family.not_chat.iter().any(|part| name.contains(part)))
}

impl Capabilities {
    /// Text only: the assumption for a provider that the data does not know.
    const NONE: Self = Self {
        context_window: 8192,
        max_output: None,
        tools: false,
        vision: false,
        hearing: false,
        structured_output: false,
        web_search: false,
        search_with_tools: true,
        schema_with_tools: true,
        search_with_json: true,
        is_guess: false,
    };

    /// Returns a limit on an answer, in tokens, that the model accepts next to a request of usual length. Some models
    /// refuse a limit that their window could not hold.
    #[must_use]
    pub fn longest_answer(self) -> usize {
        self.max_output.unwrap_or(self.context_window / 4)
    }

    /// Returns the tokens of the window that are reserved for an answer of at most `asked` tokens; never more than
    /// half.
    #[must_use]
    pub(crate) fn room_of_answer(self, asked: Option<u32>) -> usize {
        let asked = asked.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
        asked.unwrap_or(self.longest_answer().min(USUAL_ANSWER)).min(self.context_window / 2)
    }

    /// Returns the tokens of request and answer together that the data has for exactly this model. `None` if the data
    /// only guesses: for a later generation, or a service that may run a model with any window.
    #[must_use]
    pub(crate) fn known_window(provider: &str, model: &str) -> Option<usize> {
        let family = FAMILIES.get(provider).filter(|family| !family.any_window)?;
        let entry = family.entry(model).filter(|entry| entry.is_of_generation(model))?;
        Some(entry.capabilities.context_window)
    }

    /// Returns the abilities of a provider's model.
    #[must_use]
    pub fn of(provider: &str, model: &str) -> Self {
        let Some(family) = FAMILIES.get(provider) else { return Self::NONE };
        let guessed = Self { is_guess: family.is_tried, ..family.other };
        family.entry(model).map_or(guessed, |entry| entry.capabilities)
    }
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
fn embedded() -> HashMap<String, ModelFamily> {
    serde_saphyr::from_str(include_str!("models.yaml")).expect("models.yaml fits")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_longest_name_decides_and_an_unknown_model_gets_the_rest() {
        let window = |model: &str| Capabilities::of("openai", model).context_window;
        assert_eq!(window("gpt-4.1-mini"), 1_047_576);
        assert_eq!(window("gpt-4o-2024-11-20"), 128_000);
        let longest = |model: &str| Capabilities::of("openai", model).longest_answer();
        assert_eq!(["gpt-4", "gpt-3.5-turbo", "gpt-4-turbo-2024-04-09"].map(longest), [2048, 4096, 4096]);
        assert!(Capabilities::of("openai", "o3").vision);
        assert!(!Capabilities::of("openai", "o3-mini-2025").vision);
        assert!(Capabilities::of("openai", "somebody-elses").tools);
        assert_eq!(Capabilities::of("nobody", "x"), Capabilities::NONE);
    }

    #[test]
    fn a_window_is_known_of_the_very_model_where_it_is_always_the_same() {
        let known = Capabilities::known_window;
        assert_eq!(known("openai", "gpt-4-0613"), Some(8192));
        assert_eq!((known("openai", "gpt-9"), known("openai", "gpt-4.9")), (None, None));
        assert_eq!((known("compatible", "openai/gpt-4o"), known("nobody", "x")), (None, None));
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

    /// Every entry with its family's name.
    fn entries() -> impl Iterator<Item = (&'static str, &'static CapabilityEntry)> {
        FAMILIES
            .iter()
            .flat_map(|(family, data)| data.models.iter().map(move |entry| (family.as_str(), entry)))
    }

    #[test]
    fn names_stand_once_and_fields_are_known() {
        let data: serde_json::Value = serde_saphyr::from_str(include_str!("models.yaml")).unwrap();
        let known = [
            "name",
            "context_window",
            "max_output",
            "tools",
            "vision",
            "hearing",
            "structured_output",
            "web_search",
            "search_with_tools",
            "search_with_json",
            "schema_with_tools",
            "price",
        ];
        for (family, said) in data.as_object().unwrap() {
            let mut names = BTreeSet::new();
            for entry in said["models"].as_array().unwrap() {
                let name = entry["name"].as_str().unwrap();
                assert!(!name.is_empty() && names.insert(name), "{family}:{name} stands twice");
                // What is misspelt would be passed over.
                let unknown =
                    entry.as_object().unwrap().keys().find(|field| !known.contains(&field.as_str()));
                assert_eq!(unknown, None, "{family}:{name}");
            }
        }
    }

    #[test]
    fn prices_are_whole_nano_dollars_and_caches_are_no_dearer() {
        for (family, CapabilityEntry { name, price, capabilities }) in entries() {
            let Some(usd) = price else { continue };
            let case = format!("{family}:{name}");
            let tokens = [Some(usd.input), usd.cached, Some(usd.output)];
            for usd in tokens.into_iter().flatten() {
                // More than three decimals for a million are less than a nano-dollar for one.
                assert!((usd * 1e3 - (usd * 1e3).round()).abs() < 1e-6, "{case}: {usd}");
                assert!((0.0..=1e3).contains(&usd), "{case}: {usd}");
            }
            let is_free = tokens.into_iter().flatten().all(|usd| usd == 0.0);
            assert!(is_free || tokens.into_iter().flatten().all(|usd| usd > 0.0), "{case}: free in part");
            assert!(usd.cached.is_none_or(|cached| cached <= usd.input), "{case}: dear from the cache");
            assert!(usd.search.is_none_or(|search| (0.0..0.1).contains(&search)), "{case}: {:?}", usd.search);
            assert!(usd.search.is_none() || capabilities.web_search, "{case}: it does not search");
        }
    }

    #[test]
    fn a_name_has_the_price_of_its_own_generation_or_none() {
        for (family, entry) in entries().filter(|(_, entry)| entry.price.is_some()) {
            let price = |end: &str| list_price(family, &format!("{}{end}", entry.name));
            assert_eq!(price("-2026-11-21"), price(""), "{family}:{}", entry.name);
            assert_eq!((price("9"), price(".9")), (None, None), "{family}:{}", entry.name);
        }
        let unheard_of = [
            (
                "openai",
                ["gpt-7-mini", "gpt-6-mini", "gpt-6.9-sol", "gpt-5.9", "gpt-4.9", "gpt-3.9", "o5-mini"],
            ),
            (
                "gemini",
                [
                    "gemini-5-pro",
                    "gemini-4-neon",
                    "gemini-3-ultra",
                    "gemini-3.9-flash",
                    "gemini-2",
                    "gemma-5",
                    "x",
                ],
            ),
            (
                "compatible",
                ["openai/gpt-4o", "anthropic/claude-9", "deepseek-v9", "gemma-3", "llava", "a/b", "x"],
            ),
        ];
        for (family, names) in unheard_of {
            for name in names {
                assert_eq!(list_price(family, name), None, "{family}:{name}");
            }
        }
        // A machine of one's own has no list.
        assert_eq!(list_price("ollama", "qwen9:8b").map(|price| price.input), Some(0));
        assert_eq!(list_price("ollama", "qwen9:480b-cloud"), None);
        assert_eq!(list_price("nobody", "gpt-4.1"), None);
    }

    #[test]
    fn what_does_not_talk_is_told_by_its_name() {
        let cases = [
            (
                "openai",
                true,
                vec![
                    "gpt-4.1-mini",
                    "gpt-6.2-sol",
                    "o3",
                    "o4-mini",
                    "chatgpt-4o-latest",
                    "gpt-5.1-codex-mini",
                ],
            ),
            (
                "openai",
                false,
                vec!["text-embedding-3-small", "whisper-1", "tts-1-hd", "dall-e-3", "gpt-image-1"],
            ),
            (
                "openai",
                false,
                vec!["omni-moderation-latest", "gpt-4o-realtime-preview", "gpt-4o-mini-transcribe"],
            ),
            ("openai", false, vec!["sora-2", "davinci-002", "gpt-3.5-turbo-instruct", "O3-Deep-Research"]),
            (
                "gemini",
                true,
                vec!["gemini-3.5-flash", "gemini-2.5-pro", "gemini-flash-latest", "gemma-4-31b-it"],
            ),
            (
                "gemini",
                false,
                vec!["gemini-embedding-001", "imagen-4.0-generate-001", "veo-3.1-generate-preview"],
            ),
            ("gemini", false, vec!["gemini-2.5-flash-preview-tts", "gemini-2.5-flash-image", "aqa"]),
            // Ollama tells by itself; of other services nothing is known.
            ("ollama", true, vec!["qwen3-vl:8b", "nomic-embed-text:latest"]),
            ("compatible", true, vec!["openai/gpt-4o-audio-preview"]),
        ];
        for (family, talks, names) in cases {
            for name in names {
                assert_eq!(may_talk(family, name), talks, "{family}:{name}");
            }
        }
    }
}
