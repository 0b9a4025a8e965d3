//! Details of the models of one Ollama server. Learned from its reports, kept while the process runs, refreshed by
//! each listing. Called by [`super`] only.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::time::Instant;

use super::name::NAME;
use crate::Capabilities;

/// Time for which a larger context is kept after it was last needed. Ollama keeps an idle model loaded for five
/// minutes, and another context size makes it load the model anew.
const CONTEXT_KEPT: Duration = Duration::from_secs(5 * 60);

/// Details of a model as the server reports them. Servers before 0.6.4 do not report abilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OllamaModelInfo {
    /// Maximum context of the model, in tokens.
    context_length: Option<usize>,
    skills: Option<Skills>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Skills {
    completion: bool,
    tools: bool,
    vision: bool,
    thinking: bool,
}

impl OllamaModelInfo {
    /// Reads the answer of `POST /api/show`.
    pub(super) fn shown(answer: &Value) -> Self {
        let info = &answer["model_info"];
        let architecture = info["general.architecture"].as_str().unwrap_or_default();
        let context_length = &info[format!("{architecture}.context_length").as_str()];
        Self { context_length: count(context_length), skills: Skills::told(&answer["capabilities"]) }
    }

    /// Reads an entry of `GET /api/tags`; `None` if the server is too old to report details there.
    pub(super) fn listed(entry: &Value) -> Option<Self> {
        let context_length = count(&entry["details"]["context_length"])?;
        let skills = Skills::told(&entry["capabilities"])?;
        Some(Self { context_length: Some(context_length), skills: Some(skills) })
    }

    /// Returns `true` if the model answers at all. An embedding model does not.
    pub(super) fn answers(&self) -> bool {
        self.skills.is_none_or(|skills| skills.completion)
    }
}

impl Skills {
    fn told(capabilities: &Value) -> Option<Self> {
        let told = capabilities.as_array().filter(|told| !told.is_empty())?;
        let has = |name: &str| told.iter().any(|skill| skill == name);
        Some(Self {
            completion: has("completion"),
            tools: has("tools"),
            vision: has("vision"),
            thinking: has("thinking"),
        })
    }
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0)
}

/// Details of each model.
#[derive(Debug, Default)]
pub(super) struct OllamaModels(Mutex<HashMap<String, KnownModel>>);

#[derive(Debug, Default)]
struct KnownModel {
    facts: Option<OllamaModelInfo>,
    /// `true` if the model was sent tools and refused them.
    refused_tools: bool,
    /// Context requested last, and the time it was last needed.
    context: Option<(usize, Instant)>,
}

impl OllamaModels {
    /// Returns `true` if the server has reported details of the model.
    pub(super) fn knows(&self, model: &str) -> bool {
        self.known().get(&full(model)).is_some_and(|known| known.facts.is_some())
    }

    /// Stores the reported details of the model.
    pub(super) fn learn(&self, model: &str, facts: OllamaModelInfo) {
        let mut all = self.known();
        let known = all.entry(full(model)).or_default();
        known.refused_tools &= facts.skills.is_none();
        known.facts = Some(facts);
    }

    /// Records that the model takes no tools, whatever the server reports.
    pub(super) fn refused_tools(&self, model: &str) {
        self.known().entry(full(model)).or_default().refused_tools = true;
    }

    /// Forgets a removed model. Another may come back under its name.
    pub(super) fn forget(&self, model: &str) {
        self.known().remove(&full(model));
    }

    /// Returns the model's abilities, and `true` if it thinks: as the server reports, else from the data.
    pub(super) fn abilities(&self, model: &str) -> (Capabilities, bool) {
        let mut can = Capabilities::of(NAME, model);
        let all = self.known();
        let Some(known) = all.get(&full(model)) else { return (can, false) };
        let facts = known.facts.unwrap_or_default();
        can.context_window = facts.context_length.unwrap_or(can.context_window);
        if let Some(skills) = facts.skills {
            (can.tools, can.vision) = (skills.tools, skills.vision);
        }
        can.tools &= !known.refused_tools;
        (can, facts.skills.is_some_and(|skills| skills.thinking))
    }

    /// Returns the context to request if `needed` is enough. It is no smaller than was needed a short while ago.
    pub(super) fn context(&self, model: &str, needed: usize, now: Instant) -> usize {
        let mut all = self.known();
        let known = all.entry(full(model)).or_default();
        match known.context {
            Some((larger, at)) if larger > needed && now.duration_since(at) < CONTEXT_KEPT => larger,
            _ => {
                known.context = Some((needed, now));
                needed
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, KnownModel>> {
        self.0.lock()
    }
}

/// Returns the name with its tag: `llama3.2` and `llama3.2:latest` are the same model.
fn full(model: &str) -> String {
    let last = model.rsplit('/').next().unwrap_or_default();
    if last.contains(':') { model.to_owned() } else { format!("{model}:latest") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(capabilities: Value) -> Value {
        json!({
            "license": "L",
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960, "qwen3.block_count": 36},
            "capabilities": capabilities,
        })
    }

    fn skills(tools: bool, vision: bool, thinking: bool) -> Option<Skills> {
        Some(Skills { completion: true, tools, vision, thinking })
    }

    #[test]
    fn what_the_server_tells_is_read() {
        let length = Some(40960);
        let cases = [
            (
                shown(json!(["completion", "tools", "thinking"])),
                OllamaModelInfo { context_length: length, skills: skills(true, false, true) },
            ),
            (
                shown(json!(["vision", "completion", "new"])),
                OllamaModelInfo { context_length: length, skills: skills(false, true, false) },
            ),
            (shown(Value::Null), OllamaModelInfo { context_length: length, skills: None }),
            (shown(json!([])), OllamaModelInfo { context_length: length, skills: None }),
            (
                json!({"model_info": {"general.architecture": "x", "x.context_length": 0}}),
                OllamaModelInfo::default(),
            ),
            (json!({"model_info": {}}), OllamaModelInfo::default()),
            (json!("no"), OllamaModelInfo::default()),
        ];
        for (answer, expected) in cases {
            assert_eq!(OllamaModelInfo::shown(&answer), expected, "{answer}");
        }
        let entry = json!({"details": {"context_length": 8192}, "capabilities": ["embedding"]});
        let embeds = Skills { completion: false, tools: false, vision: false, thinking: false };
        let facts = OllamaModelInfo { context_length: Some(8192), skills: Some(embeds) };
        assert_eq!(OllamaModelInfo::listed(&entry), Some(facts));
        assert!(!facts.answers() && OllamaModelInfo::default().answers());
        assert_eq!(OllamaModelInfo::listed(&json!({"details": {"context_length": 8192}})), None);
        assert_eq!(OllamaModelInfo::listed(&json!({"details": {}, "capabilities": ["completion"]})), None);
    }

    #[test]
    fn what_was_told_goes_before_the_data() {
        let models = OllamaModels::default();
        let data = Capabilities::of(NAME, "qwen3");
        assert_eq!(models.abilities("qwen3"), (data, false));
        assert!(data.tools && !data.vision && !data.web_search);
        assert!(data.structured_output && !data.schema_with_tools);

        models.learn(
            "qwen3:latest",
            OllamaModelInfo { context_length: Some(40960), skills: skills(true, true, true) },
        );
        let told = Capabilities { context_window: 40960, vision: true, ..data };
        assert_eq!(models.abilities("qwen3"), (told, true));
        assert!(models.knows("qwen3") && !models.knows("qwen3:4b") && !models.knows("hf.co/qwen3"));

        models.learn("qwen3", OllamaModelInfo { context_length: Some(2048), skills: None });
        assert_eq!(models.abilities("qwen3"), (Capabilities { context_window: 2048, ..data }, false));
        models.forget("qwen3");
        assert_eq!(models.abilities("qwen3:latest"), (data, false));
    }

    #[test]
    fn refused_tools_are_remembered_until_the_server_says_more() {
        let models = OllamaModels::default();
        models.refused_tools("old");
        assert!(!models.abilities("old").0.tools);
        models.learn("old", OllamaModelInfo::default());
        assert!(!models.abilities("old").0.tools);
        models.learn("old", OllamaModelInfo { context_length: None, skills: skills(true, false, false) });
        assert!(models.abilities("old").0.tools);
        models.refused_tools("old");
        assert!(!models.abilities("old").0.tools);
    }

    #[test]
    fn names_get_their_tag() {
        let cases = [
            ("llama3.2", "llama3.2:latest"),
            ("llama3.2:1b", "llama3.2:1b"),
            ("host:5000/team/m", "host:5000/team/m:latest"),
            ("hf.co/a/b:Q4", "hf.co/a/b:Q4"),
            ("", ":latest"),
        ];
        for (model, expected) in cases {
            assert_eq!(full(model), expected);
        }
    }

    #[test]
    fn a_context_shrinks_only_when_it_was_not_needed_for_a_while() {
        let models = OllamaModels::default();
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let steps = [
            // needed, at second, asked for
            (4096, 0, 4096),
            (16384, 10, 16384),
            (4096, 20, 16384),
            (8192, 309, 16384),
            (16384, 309, 16384),
            (4096, 608, 16384),
            (4096, 609, 4096),
            (8192, 610, 8192),
        ];
        for (needed, second, expected) in steps {
            assert_eq!(models.context("m", needed, at(second)), expected, "at {second} s");
        }
        assert_eq!(models.context("other", 4096, at(11)), 4096);
    }
}
