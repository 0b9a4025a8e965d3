//! Rule of a task for missed runs.

use serde::{Deserialize, Serialize};

/// What becomes of a run that was missed because the bot was not running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfMissed {
    /// The last missed run is made once, unless it is too late for that; then it is reported as missed.
    #[default]
    RunOnce,
    /// The run is skipped.
    Skip,
    /// A person is asked whether to make it up.
    Ask,
}

impl IfMissed {
    /// All variants, in the order in which they are offered to a person.
    pub const ALL: [Self; 3] = [Self::RunOnce, Self::Skip, Self::Ask];

    /// Returns the name in tools and buttons.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunOnce => "run_once",
            Self::Skip => "skip",
            Self::Ask => "ask",
        }
    }

    /// The variant with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}
