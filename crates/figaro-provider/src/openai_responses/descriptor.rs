//! Settings and construction of OpenAI, or of a service with its Responses API.

use std::sync::Arc;

use super::OpenAiResponses;
use super::name::NAME;
use crate::descriptor::Descriptor;
use crate::{openai_embed, openai_paint, openai_speech, openai_transcribe};
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};

/// OpenAI, by its Responses API.
pub(in crate) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "GPT models, with an OpenAI key",
        variables: &[
            ProviderVariable::key(
                "OPENAI_API_KEY",
                "The key of the model's service. Required, unless OPENAI_BASE_URL is a server that takes none.",
            )
            .required_at_default_address("https://platform.openai.com/api-keys gives one")
            .sets_up(),
            ProviderVariable::model("OPENAI_MODEL", "The model that answers.").with_default("gpt-4.1-mini"),
            ProviderVariable::base_url("OPENAI_BASE_URL", "A service that speaks OpenAI's Responses API.")
                .with_default("https://api.openai.com/v1"),
        ],
        services: &[],
    },
    build: |settings, http, idle_limit| {
        Arc::new(OpenAiResponses::new(http, &settings.base_url, settings.key.clone(), idle_limit))
    },
    embedder: Some(openai_embed::embedder),
    transcriber: Some(openai_transcribe::transcriber),
    speech: Some(openai_speech::speech),
    painter: Some(openai_paint::painter),
};
