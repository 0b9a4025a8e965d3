//! Models of the offline Ollama.

use serde_json::{Value, json};

/// Installed model, in the terms of `/api/show`.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) name: &'static str,
    pub(super) family: &'static str,
    pub(super) size: &'static str,
    /// Context length, in tokens.
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
    /// Returns the model of this name, if installed. A name without a tag means `:latest`.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        let is_it = |known: &str| known == name || known.strip_suffix(":latest") == Some(name);
        MODELS.iter().find(|model| is_it(model.name))
    }

    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Returns the `details` of `/api/tags` and `/api/show`.
    pub(super) fn details(&self) -> Value {
        json!({
            "parent_model": "", "format": "gguf", "family": self.family, "families": [self.family],
            "parameter_size": self.size, "quantization_level": "Q4_K_M",
        })
    }
}
