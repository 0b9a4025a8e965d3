//! Tools of a turn: those of its agent, and those that its prompt and its requester need.

use std::sync::Arc;

use super::super::requested::Requested;
use super::load::TurnData;
use crate::tools::{Registry, Sources, Tool};
use figaro_provider::ToolChoice;

/// Adds the tools of the requester.
pub(super) fn with_own(tools: Arc<Registry>, requested: Option<&Requested>) -> Arc<Registry> {
    match requested.filter(|requested| !requested.tools.is_empty()) {
        // A required tool call refers to the tools of the requester.
        Some(requested) if requested.options.tool_choice != ToolChoice::Auto => {
            Arc::new(Registry::new([], Sources::default()).bringing(&requested.tools))
        }
        Some(requested) => Arc::new(tools.bringing(&requested.tools)),
        None => tools,
    }
}

/// Adds the tools that lookup keys, older messages, memories and documents need.
pub(super) fn offered(tools: &Registry, loaded: &TurnData) -> Arc<Registry> {
    let window = &loaded.window;
    let tools = tools.looking_back(window.has_keys, window.has_more).having(loaded.has_documents);
    Arc::new(if window.labels.is_empty() { tools } else { tools.remembering() })
}

/// Adds the tools for the records of the chat.
pub(in crate::turn) fn keeping(tools: Arc<Registry>, records: &[Arc<dyn Tool>]) -> Arc<Registry> {
    if records.is_empty() { tools } else { Arc::new(tools.keeping_records(records.iter().cloned())) }
}
