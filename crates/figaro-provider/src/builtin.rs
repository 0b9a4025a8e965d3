//! The table of the providers that come with Figaro.

use super::descriptor::Descriptor;

/// All of them, in the order in which they are explained. The first answers where the settings name no other; the demo's
/// model stands in for it.
pub const BUILTIN: &[Descriptor] = &[
    super::openai_responses::DESCRIPTOR,
    super::openai_chat::DESCRIPTOR,
    super::ollama::DESCRIPTOR,
    super::gemini::DESCRIPTOR,
];
