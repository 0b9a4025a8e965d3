//! What a run is executed with, the same for all its steps. Made by `prepare` for a turn, by `children` for a child.

use std::sync::Arc;

use super::control::Control;
use super::log::StepLog;
use super::scope::{TextSink, TurnScope};
use super::taken_up::TakenUp;
use crate::tools::{Registry, ToolContext};
use figaro_base::ids::PinId;
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_domain::turn::ActiveTurn;
use figaro_ledger::DrawnBy;
use figaro_provider::Options;

/// What one run is executed with.
#[derive(Debug)]
pub(super) struct Setup {
    /// The record of the turn, of a child that of the turn that it is part of.
    pub(super) turn: ActiveTurn,
    /// Where its steps are recorded.
    pub(super) log: Arc<dyn StepLog>,
    /// How far it had come before a restart.
    pub(super) taken_up: TakenUp,
    /// The person, the chat and the rights that tools are called with.
    pub(super) context: ToolContext,
    /// The model that is asked first.
    pub(super) model: ModelName,
    /// The tools that the model may call.
    pub(super) tools: Arc<Registry>,
    /// The parameters that are sent to the model.
    pub(super) settings: Generation,
    /// What its answer is bound to.
    pub(super) options: Options,
    /// The text of the system prompt.
    pub(super) instructions: String,
    /// The pins that the model is told.
    pub(super) pins: Vec<PinId>,
    /// Ends the run, and says whether it may show or do something.
    pub(super) control: Control,
    /// What it has in common with the other runs of its turn.
    pub(super) scope: Arc<TurnScope>,
    /// Where its words go while it writes them.
    pub(super) sink: TextSink,
    /// Of a child, the bounds at which it is told to hand back what it has.
    pub(super) bounds: Option<Bounds>,
}

/// When a child is told to make no more calls and to hand back what it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// At this time, by the clock of the process.
    pub(super) until: tokio::time::Instant,
    /// Once it has taken so many tokens, those of its children counted.
    pub(super) tokens: u64,
}

impl Setup {
    /// Who draws on what the turn and its agents may take together.
    pub(super) const fn drawn_by(&self) -> DrawnBy {
        if self.bounds.is_some() { DrawnBy::Child } else { DrawnBy::Turn }
    }

    /// Whether it is time to hand back, where so many tokens are taken.
    pub(super) fn is_at_bound(&self, tokens: u64) -> bool {
        let is_at = |bounds: &Bounds| tokens >= bounds.tokens || tokio::time::Instant::now() >= bounds.until;
        self.bounds.as_ref().is_some_and(is_at)
    }
}
