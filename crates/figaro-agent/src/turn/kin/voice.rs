//! Where the words of a run go while it writes them: those of a turn to whoever follows it, those of a child that speaks to the
//! person to the floor, those of all others to whoever follows the turn closely.

use std::sync::Arc;

use parking_lot::Mutex;

use super::super::run::Unrepeated;
use super::floor::{Floor, GAP};
use crate::delivery::{Bus, ChildEvent, TurnEventKind};
use figaro_base::ids::RunId;

/// Where the words of a run go.
#[derive(Debug)]
pub(in crate::turn) enum Voice {
    /// A turn's, behind what its children have said.
    Turn {
        /// What its children have said.
        floor: Arc<Floor>,
        /// The pass that is being written, if children have said something before.
        pass: Mutex<Option<OwnPass>>,
    },
    /// A child's that speaks to the person.
    Speaking {
        /// Who speaks when.
        floor: Arc<Floor>,
        /// The child.
        child: RunId,
    },
    /// A child's whose words are for whoever asked it.
    Working {
        /// The events of the turn.
        bus: Bus,
        /// The turn.
        root: RunId,
        /// The child.
        child: RunId,
        /// The name of its agent.
        agent: String,
    },
}

/// What a turn writes in a pass behind what its children have said.
#[derive(Debug)]
pub(in crate::turn) struct OwnPass {
    filter: Unrepeated,
    has_shown: bool,
}

impl OwnPass {
    fn after(heard: &str) -> Self {
        Self { filter: Unrepeated::after(heard), has_shown: false }
    }

    /// What is to be shown of more words, with a gap before the first.
    fn write(&mut self, text: &str) -> String {
        let shown = self.filter.push(text);
        if self.has_shown || shown.trim().is_empty() {
            return if self.has_shown { shown } else { String::new() };
        }
        self.has_shown = true;
        format!("{GAP}{}", shown.trim_start())
    }
}

impl Voice {
    /// A turn's.
    pub(in crate::turn) fn of_turn(floor: Arc<Floor>) -> Self {
        Self::Turn { floor, pass: Mutex::default() }
    }

    /// Whether people may see its words: then nothing of the turn can begin again.
    pub(in crate::turn) const fn is_seen(&self) -> bool {
        !matches!(self, Self::Working { .. })
    }

    /// More of the pass in progress.
    pub(in crate::turn) fn write(&self, text: String) {
        match self {
            Self::Turn { floor, pass } => {
                let heard = floor.heard();
                if heard.is_empty() {
                    return floor.publish_own(text);
                }
                let mut pass = pass.lock();
                let pass = pass.get_or_insert_with(|| OwnPass::after(&heard));
                let shown = pass.write(&text);
                if !shown.is_empty() {
                    floor.publish_own(shown);
                }
            }
            Self::Speaking { floor, child } => floor.add(*child, &text),
            Self::Working { bus, root, child, agent } => {
                let event = ChildEvent::Delta(text);
                bus.publish(*root, TurnEventKind::Child { child: *child, agent: agent.clone(), event });
            }
        }
    }

    /// The pass in progress was no answer: it ended with calls, or is written anew.
    pub(in crate::turn) fn end_pass(&self) {
        match self {
            Self::Turn { floor, pass } => {
                *pass.lock() = None;
                floor.own_pass_ended();
            }
            Self::Speaking { floor, child } => floor.take_back(*child),
            Self::Working { bus, root, child, agent } => {
                let event = ChildEvent::PassEnded;
                bus.publish(*root, TurnEventKind::Child { child: *child, agent: agent.clone(), event });
            }
        }
    }
}
