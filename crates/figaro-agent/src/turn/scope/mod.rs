//! What a turn and the agents that it asks have in common: who of them speaks to the person, what they may take together, and
//! that none of them outlives the turn.

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
use figaro_domain::said::Said;
use figaro_domain::tool::ToolSpent;
use figaro_ledger::{DrawnBy, Ledger, LedgerError, Tree};

/// A turn that ends waits at most so long for its children to be over.
const REST: Duration = Duration::from_secs(1);

/// What the runs of a turn have in common.
#[derive(Debug)]
pub(super) struct TurnScope {
    /// The turn.
    pub(super) root: RunId,
    /// Ends the turn, and says whether it may show or do something: for its children too.
    pub(super) control: Control,
    /// Who of the children speaks to the person.
    pub(super) speakers: Arc<Speakers>,
    /// The children that are at work.
    pub(super) tasks: TaskTracker,
    tree: Mutex<Option<Arc<Tree>>>,
    /// The runs in whose place an agent is answering.
    in_place: Arc<Mutex<Vec<RunId>>>,
    /// What children took of whose end whoever asked has not heard.
    unheard: Mutex<Vec<Unheard>>,
}

/// What a child took of whose end whoever asked has not heard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unheard {
    pub(super) parent: RunId,
    pub(super) child: RunId,
    pub(super) spent: ToolSpent,
}

/// An agent answers in the place of this run.
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
    /// For a turn whose children have said this before a restart.
    pub(super) fn new(root: RunId, control: Control, bus: Bus, said: &[Said]) -> Arc<Self> {
        let speakers = Speakers::new(root, bus, said);
        let (tasks, tree, unheard) = (TaskTracker::new(), Mutex::default(), Mutex::default());
        Arc::new(Self { root, control, speakers, tasks, tree, in_place: Arc::default(), unheard })
    }

    /// What the turn and its children may take together, set aside with the first of them.
    ///
    /// # Errors
    /// As for [`Ledger::tree`].
    pub(super) fn open_tree(
        &self,
        ledger: &Arc<Ledger>,
        model: &ModelName,
        tokens: u64,
    ) -> Result<Arc<Tree>, LedgerError> {
        let mut tree = self.tree.lock();
        if let Some(tree) = &*tree {
            return Ok(Arc::clone(tree));
        }
        let opened = ledger.tree(model, tokens)?;
        *tree = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The place of a run, for an agent that answers in it, until that is dropped; `None` if another one has it.
    pub(super) fn take_place(&self, run: RunId) -> Option<InPlace> {
        let mut all = self.in_place.lock();
        if all.contains(&run) {
            return None;
        }
        all.push(run);
        Some(InPlace { run, all: Arc::clone(&self.in_place) })
    }

    /// What a run draws on: a child on the tree always, the turn itself where a cap of the day holds, which the tree has set
    /// aside for it too.
    pub(super) fn tree(&self, by: DrawnBy) -> Option<Arc<Tree>> {
        self.tree.lock().clone().filter(|tree| by == DrawnBy::Child || tree.is_capped())
    }

    /// A child has ended and took this.
    pub(super) fn add_unheard(&self, unheard: Unheard) {
        let mut all = self.unheard.lock();
        all.retain(|known| known.child != unheard.child);
        all.push(unheard);
    }

    /// What children of this run took of whose end it has not heard; from now on it has.
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

    /// Waits until no child is at work, but not long. Gives what those took that the turn has not heard of.
    pub(super) async fn rest(&self) -> ToolSpent {
        self.tasks.stop();
        if !self.tasks.finish(REST).await {
            tracing::warn!(run = %self.root, "a child takes long to end");
        }
        self.take_unheard(self.root)
    }
}
