//! Settings and construction of Ollama.

use std::sync::Arc;

use super::OllamaProvider;
use super::embed::embedder;
use super::name::NAME;
use crate::descriptor::Descriptor;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};

const LOAD_TIMEOUT: &str = "OLLAMA_LOAD_TIMEOUT";

/// Ollama, on this machine or elsewhere.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "models on your own machine, without a key",
        variables: &[
            ProviderVariable::base_url("OLLAMA_BASE_URL", "Where Ollama runs.")
                .with_default("http://127.0.0.1:11434"),
            ProviderVariable::key("OLLAMA_API_KEY", "Key, for an Ollama server that requires one."),
            ProviderVariable::model(
                "OLLAMA_MODEL",
                "The model that answers there, as `ollama list` names it.",
            )
            .required("the name of a model that it serves")
            .if_none_served("`ollama pull qwen3:8b` fetches one")
            // Ollama's own variable: the folder of its models.
            .unlike(&["OLLAMA_MODELS"])
            .sets_up(),
            ProviderVariable::time(
                LOAD_TIMEOUT,
                1,
                3600,
                "300",
                "The time Ollama may take to load the model and begin its answer: seconds, or as `5m` (1 to 3600 s).",
            ),
        ],
        services: &[],
    },
    build: |settings, http, idle_limit| {
        let load_limit = settings.time(LOAD_TIMEOUT);
        Arc::new(OllamaProvider::new(http, &settings.base_url, settings.given_key(), idle_limit, load_limit))
    },
    embedder: Some(|settings, model, http, idle_limit| {
        let limit = settings.time(LOAD_TIMEOUT).max(idle_limit);
        embedder(settings, model, http, limit)
    }),
    transcriber: None,
    speech: None,
    painter: None,
};
