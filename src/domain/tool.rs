//! Calls of tools, as the model asks for them and as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::source::{Source, add_sources};
use crate::ids::{RunId, TaskId};

/// What a call does to the world; decides whether a restart may repeat it and what policy asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks only.
    Read,
    /// Changes something that can be changed back.
    Write,
    /// Destroys something.
    Destructive,
}

/// So many tools found in a turn stay offered, the last ones: each takes up to 1,600 tokens of every later pass.
pub const MOST_FOUND: usize = 8;

/// What a call leaves behind for the rest of its turn; stored with its result, so that a restart finds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The tool itself sent the words that answer, so that the run's final text need not be sent.
    #[serde(default)]
    pub spoke: bool,
    /// Names of tools that the model may call from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Pages that the answer may rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Tasks that were made or changed, and are to be shown as they are stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// The model has seen what tasks are stored, and may well speak of them.
    #[serde(default)]
    pub looked: bool,
}

impl Carried {
    /// Adds what came later: each name once, and the last [`MOST_FOUND`] of them.
    pub fn add(&mut self, later: Self) {
        self.spoke |= later.spoke;
        self.looked |= later.looked;
        add_sources(&mut self.sources, later.sources);
        for task in later.tasks {
            self.tasks.retain(|known| *known != task);
            self.tasks.push(task);
        }
        for name in later.found {
            self.found.retain(|known| *known != name);
            self.found.push(name);
        }
        self.found.drain(..self.found.len().saturating_sub(MOST_FOUND));
    }
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id, unique in its turn.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON, as far as the model managed.
    pub arguments: String,
}

/// Where a stored call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It was started.
    Running,
    /// It ended well.
    Complete,
    /// It ended with an error.
    Failed,
    /// It was broken off: whether it acted is not known.
    Unknown,
    /// Policy refused it.
    Denied,
}

/// A stored call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the model asked for.
    #[serde(flatten)]
    pub call: Call,
    /// The turn it belongs to.
    pub run: RunId,
    /// Where it stands.
    pub status: ToolStatus,
    /// What the model was told.
    pub result: Option<String>,
    /// When it was started.
    pub started_at: DateTime<Utc>,
    /// How long it took, once ended.
    pub duration_ms: Option<u64>,
}
