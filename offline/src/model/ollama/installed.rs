//! The models that the offline Ollama has.

use serde_json::{Value, json};

/// A model that is installed, in the words of `/api/show`.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) name: &'static str,
    pub(super) family: &'static str,
    pub(super) size: &'static str,
    /// The length of its context, in tokens.
    pub(super) context: u64,
    pub(super) capabilities: &'static [&'static str],
}

pub(super) const MODELS: [Installed; 4] = [
    Installed {
        name: "llama3.2:latest",
        family: "llama",
        size: "3.2B",
        context: 131_072,
        capabilities: &["completion", "tools"],
    },
    Installed {
        name: "qwen3-vl:8b",
        family: "qwen3vl",
        size: "8.8B",
        context: 262_144,
        capabilities: &["completion", "vision", "tools", "thinking"],
    },
    Installed {
        name: "gemma3:4b",
        family: "gemma3",
        size: "4.3B",
        context: 131_072,
        capabilities: &["completion", "vision"],
    },
    Installed {
        name: "nomic-embed-text:latest",
        family: "nomic-bert",
        size: "137M",
        context: 2_048,
        capabilities: &["embedding"],
    },
];

impl Installed {
    /// The model of this name, if it is installed. A name without a tag means the latest.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        let is_it = |known: &str| known == name || known.strip_suffix(":latest") == Some(name);
        MODELS.iter().find(|model| is_it(model.name))
    }

    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    /// The `details` of a model, as `/api/tags` and `/api/show` give them.
    pub(super) fn details(&self) -> Value {
        json!({
            "parent_model": "", "format": "gguf", "family": self.family, "families": [self.family],
            "parameter_size": self.size, "quantization_level": "Q4_K_M",
        })
    }
}
