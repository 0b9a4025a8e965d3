//! State shared by a turn and its child agents: which of them speaks to the person, their common limits, and the
//! guarantee that no child outlives the turn.

mod sink;
mod speakers;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

pub(super) use self::sink::TextSink;
pub(super) use self::speakers::Speakers;
use super::control::Control;
use crate::delivery::Bus;
use figaro_base::ids::RunId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::model::ModelName;
use figaro_domain::said::SentText;
use figaro_domain::tool::ToolSpent;
use figaro_domain::usage::Payer;
use figaro_ledger::{DrawnBy, Ledger, LedgerError, Tree};

/// Maximum time that an ending turn waits for its children.
const REST: Duration = Duration::from_secs(1);

/// State shared by the runs of a turn.
#[derive(Debug)]
pub(super) struct TurnScope {
    pub(super) root: RunId,
    /// Ends the turn, and tells whether it may show or do something. Also applies to its children.
    pub(super) control: Control,
    /// Texts of children for the person.
    pub(super) speakers: Arc<Speakers>,
    /// Background tasks in which the children run.
    pub(super) tasks: TaskTracker,
    tree: Mutex<Option<Arc<Tree>>>,
    /// Runs that another agent answers in place of.
    in_place: Arc<Mutex<Vec<RunId>>>,
    /// Usage of children that was not reported to their parents yet.
    unheard: Mutex<Vec<Unheard>>,
}

/// Usage of a child that was not reported to its parent yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unheard {
    pub(super) parent: RunId,
    pub(super) child: RunId,
    pub(super) spent: ToolSpent,
}

/// Guard while an agent answers in place of this run. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct InPlace {
    run: RunId,
    all: Arc<Mutex<Vec<RunId>>>,
}

impl Drop for InPlace {
    fn drop(&mut self) {
        self.all.lock().retain(|run| *run != self.run);
    }
}

impl TurnScope {
    /// Creates the scope of a turn. `said` holds the texts of its children from before a restart.
    pub(super) fn new(root: RunId, control: Control, bus: Bus, said: &[SentText]) -> Arc<Self> {
        let speakers = Speakers::new(root, bus, said);
        let (tasks, tree, unheard) = (TaskTracker::new(), Mutex::default(), Mutex::default());
        Arc::new(Self { root, control, speakers, tasks, tree, in_place: Arc::default(), unheard })
    }

    /// Returns the budget shared by the turn and its children. Reserves it when the first child starts.
    ///
    /// # Errors
    /// As for [`Ledger::tree`].
    pub(super) fn open_tree(
        &self,
        ledger: &Arc<Ledger>,
        models: &[ModelName],
        tokens: u64,
        payer: &Payer,
    ) -> Result<Arc<Tree>, LedgerError> {
        let mut tree = self.tree.lock();
        if let Some(tree) = &*tree {
            return Ok(Arc::clone(tree));
        }
        let opened = ledger.tree(models, tokens, payer)?;
        *tree = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Reserves the place of a run for an agent that answers in it. Returns `None` if another agent has it.
    pub(super) fn take_place(&self, run: RunId) -> Option<InPlace> {
        let mut all = self.in_place.lock();
        if all.contains(&run) {
            return None;
        }
        all.push(run);
        Some(InPlace { run, all: Arc::clone(&self.in_place) })
    }

    /// Returns the budget that a run uses. A child always uses the shared one; the turn itself only if it has a
    /// limit, since the shared one then includes its part.
    pub(super) fn tree(&self, by: DrawnBy) -> Option<Arc<Tree>> {
        self.tree.lock().clone().filter(|tree| by == DrawnBy::Child || tree.is_capped())
    }

    /// Adds the usage of a child that has ended.
    pub(super) fn add_unheard(&self, unheard: Unheard) {
        let mut all = self.unheard.lock();
        all.retain(|known| known.child != unheard.child);
        all.push(unheard);
    }

    /// Returns the unreported usage of this run's children, and marks it as reported.
    pub(super) fn take_unheard(&self, parent: RunId) -> ToolSpent {
        let mut sum = ToolSpent::NONE;
        self.unheard.lock().retain(|unheard| {
            let is_its = unheard.parent == parent;
            if is_its {
                sum.add(unheard.spent);
            }
            !is_its
        });
        sum
    }

    /// Waits a short time until all children have ended. Returns their usage that was not reported to the turn.
    pub(super) async fn rest(&self) -> ToolSpent {
        self.tasks.stop();
        if !self.tasks.finish(REST).await {
            tracing::warn!(run = %self.root, "a child takes long to end");
        }
        self.take_unheard(self.root)
    }
}
