//! Setup of a run, the same for all its steps. Created by `prepare` for a turn, by `children` for a child.

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
use figaro_provider::AnswerOptions;

/// Everything that the execution of one run needs.
#[derive(Debug)]
pub(super) struct Setup {
    /// Record of the turn; for a child, of the turn it belongs to.
    pub(super) turn: ActiveTurn,
    pub(super) log: Arc<dyn StepLog>,
    /// Progress of the run before a restart.
    pub(super) taken_up: TakenUp,
    /// Person, chat and rights for tool calls.
    pub(super) context: ToolContext,
    /// Model that is called first, before any fallback.
    pub(super) model: ModelName,
    /// Tools that the model may call.
    pub(super) tools: Arc<Registry>,
    /// Generation parameters that are sent to the model.
    pub(super) settings: Generation,
    /// Constraints on the answer, such as a required tool call.
    pub(super) options: AnswerOptions,
    pub(super) instructions: String,
    /// Pins in the prompt of the model.
    pub(super) pins: Vec<PinId>,
    /// Ends the run, and tells whether it may show or do something.
    pub(super) control: Control,
    /// State shared by all runs of the turn.
    pub(super) scope: Arc<TurnScope>,
    /// Receiver of the text while the model writes it.
    pub(super) sink: TextSink,
    /// Limits at which a child must hand back its results; `None` for a turn.
    pub(super) bounds: Option<ChildLimits>,
    /// Tokens after which the run of a task must end; `None` for no limit.
    pub(super) run_tokens: Option<u64>,
}

/// Limits after which a child makes no more calls and hands back its results.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChildLimits {
    /// Deadline, by the monotonic clock of the process.
    pub(super) until: tokio::time::Instant,
    /// Token limit, including the tokens of its own children.
    pub(super) tokens: u64,
}

impl Setup {
    /// Returns whose share of the common limits the run uses: the turn's or a child's.
    pub(super) const fn drawn_by(&self) -> DrawnBy {
        if self.bounds.is_some() { DrawnBy::Child } else { DrawnBy::Turn }
    }

    /// Returns `true` if a child, or the run of a task, that used this many tokens must end with what it has.
    pub(super) fn is_at_bound(&self, tokens: u64) -> bool {
        if self.run_tokens.is_some_and(|most| tokens >= most) {
            return true;
        }
        let is_at =
            |bounds: &ChildLimits| tokens >= bounds.tokens || tokio::time::Instant::now() >= bounds.until;
        self.bounds.as_ref().is_some_and(is_at)
    }
}
