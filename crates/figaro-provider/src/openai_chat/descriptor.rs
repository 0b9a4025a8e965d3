//! Settings and construction of a service with the Chat Completions dialect.

use std::sync::Arc;

use super::OpenAiChat;
use super::name::NAME;
use crate::descriptor::Descriptor;
use crate::{openai_embed, openai_paint, openai_speech, openai_transcribe};
use figaro_domain::provider_spec::{KnownService, ProviderSpec, ProviderVariable};

/// Any service with this dialect.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "any other service with the Chat Completions API",
        variables: &[
            ProviderVariable::base_url(
                "COMPATIBLE_BASE_URL",
                "The service's address up to /v1, such as https://openrouter.ai/api/v1.",
            )
            .required("the address of the service, like http://127.0.0.1:8080/v1")
            .with_path("/v1")
            .sets_up(),
            ProviderVariable::key("COMPATIBLE_API_KEY", "Its key, if it takes one."),
            ProviderVariable::model("COMPATIBLE_MODEL", "The model that answers there.")
                .required("the name of a model that it serves"),
        ],
        services: &[
            KnownService {
                name: "openrouter",
                description: "models of many makers with one key",
                address: "https://openrouter.ai/api/v1",
                key_page: "https://openrouter.ai/settings/keys",
                models: &[],
            },
            // Its list wants headers of Anthropic's own API.
            KnownService {
                name: "claude",
                description: "Anthropic's models, by Anthropic's address for programs made for OpenAI",
                address: "https://api.anthropic.com/v1",
                key_page: "https://platform.claude.com/settings/keys",
                models: &["claude-sonnet-5", "claude-haiku-4-5", "claude-opus-5"],
            },
        ],
    },
    build: |settings, http, idle_limit| {
        Arc::new(OpenAiChat::new(http, &settings.base_url, settings.given_key(), idle_limit))
    },
    embedder: Some(openai_embed::embedder),
    transcriber: Some(openai_transcribe::transcriber),
    speech: Some(openai_speech::speech),
    painter: Some(openai_paint::painter),
};
