//! Settings and construction of Google's Gemini.

use std::sync::Arc;

use super::GeminiProvider;
use super::embed::embedder;
use super::name::NAME;
use super::paint::painter;
use super::transcribe::transcriber;
use crate::descriptor::Descriptor;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};

/// Google's Gemini, by its own API.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "Google's models, with a Google key",
        variables: &[
            ProviderVariable::key("GEMINI_API_KEY", "The key for Google's Gemini.")
                .required_at_default_address("https://aistudio.google.com/apikey gives one")
                .sets_up(),
            ProviderVariable::model("GEMINI_MODEL", "The model that answers there.")
                .with_default("gemini-3.5-flash"),
            ProviderVariable::base_url("GEMINI_BASE_URL", "The service, if you reach it elsewhere.")
                .with_default("https://generativelanguage.googleapis.com/v1beta"),
        ],
        services: &[],
    },
    build: |settings, http, idle_limit| {
        Arc::new(GeminiProvider::new(http, &settings.base_url, settings.key.clone(), idle_limit))
    },
    embedder: Some(embedder),
    transcriber: Some(transcriber),
    // Its speech comes as bare samples, which Telegram does not play.
    speech: None,
    painter: Some(painter),
};
