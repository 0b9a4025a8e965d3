//! What the model can call. A tool is one file here and one line in the composition root; this module has what all of
//! them share.

pub mod config;
pub mod notes;
mod schema;
pub mod telegram;
mod typed;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::chat::Place;
use crate::domain::message::Speaker;
use crate::domain::tool::Effect;
use crate::ids::RunId;
use crate::policy::access::Standing;
use crate::provider::ToolSpec;
use crate::store::StoreError;
pub use typed::typed;

/// For whom and where a tool is called.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The turn.
    pub run: RunId,
    /// The chat and topic; tools act there and nowhere else.
    pub place: Place,
    /// Who asked.
    pub speaker: Speaker,
    /// What they may do.
    pub standing: Standing,
    /// When the call was made.
    pub now: DateTime<Utc>,
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// For the model.
    pub value: Value,
    /// The tool itself sent the words that answer, so that the run's final text need not be sent.
    pub spoke: bool,
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, spoke: false }
    }
}

/// Why a tool gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model can mend it, or tell the person.
    #[error("{0}")]
    ForModel(String),
    /// Policy refused.
    #[error("{0}")]
    Denied(String),
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, label = error.label(), "a tool could not use the store");
        Self::ForModel("the bot's storage failed; nothing was changed".to_owned())
    }
}

/// Something the model can call.
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// Its name, description and parameters.
    fn spec(&self) -> &ToolSpec;
    /// What it does to the world.
    fn effect(&self) -> Effect;
    /// Does it.
    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError>;
}

/// The tools of a run, by name.
#[derive(Debug, Default)]
pub struct Registry(BTreeMap<String, Arc<dyn Tool>>);

impl Registry {
    /// All of these; of two with one name the first is kept and the other logged, so that nothing outside can
    /// replace a tool of Figaro's own.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut by_name = BTreeMap::new();
        for tool in tools {
            let name = tool.spec().name.clone();
            match by_name.entry(name) {
                Entry::Vacant(free) => drop(free.insert(tool)),
                Entry::Occupied(taken) => {
                    tracing::warn!(name = taken.key(), "two tools have one name; the second is left out");
                }
            }
        }
        Self(by_name)
    }

    /// A tool by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name)
    }

    /// Every tool as a model sees it, always in the same order so that provider caches hit.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.values().map(|tool| tool.spec().clone()).collect()
    }
}
