//! Table of the built-in providers.

use super::descriptor::Descriptor;

/// All built-in providers, in the order in which they are explained. The first is the default if the settings name
/// none. The demo model stands in for it.
pub const BUILTIN: &[Descriptor] = &[
    super::openai_responses::DESCRIPTOR,
    super::openai_chat::DESCRIPTOR,
    super::ollama::DESCRIPTOR,
    super::gemini::DESCRIPTOR,
];
