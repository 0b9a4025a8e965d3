//! Where the words of a run go while it writes them: those of a turn to whoever follows it, those of a child that speaks to the
//! person to the speakers, those of all others to whoever follows the turn closely.

use std::sync::Arc;

use parking_lot::Mutex;

use super::super::run::Unrepeated;
use super::speakers::{GAP, Speakers};
use crate::delivery::{Bus, ChildEvent, TurnEventKind};
use figaro_base::ids::RunId;

/// Where the words of a run go.
#[derive(Debug)]
pub(in crate::turn) enum TextSink {
    /// A turn's, behind what its children have said.
    Turn {
        /// What its children have said.
        speakers: Arc<Speakers>,
        /// The pass that is being written, if children have said something before.
        pass: Mutex<Option<OwnPass>>,
    },
    /// A child's that speaks to the person.
    Speaking {
        /// Who speaks when.
        speakers: Arc<Speakers>,
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

impl TextSink {
    /// A turn's.
    pub(in crate::turn) fn of_turn(speakers: Arc<Speakers>) -> Self {
        Self::Turn { speakers, pass: Mutex::default() }
    }

    /// Whether people may see its words: then nothing of the turn can begin again.
    pub(in crate::turn) const fn is_seen(&self) -> bool {
        !matches!(self, Self::Working { .. })
    }

    /// More of the pass in progress.
    pub(in crate::turn) fn write(&self, text: String) {
        match self {
            Self::Turn { speakers, pass } => {
                let heard = speakers.heard();
                if heard.is_empty() {
                    return speakers.publish_own(text);
                }
                let mut pass = pass.lock();
                let pass = pass.get_or_insert_with(|| OwnPass::after(&heard));
                let shown = pass.write(&text);
                if !shown.is_empty() {
                    speakers.publish_own(shown);
                }
            }
            Self::Speaking { speakers, child } => speakers.add(*child, &text),
            Self::Working { bus, root, child, agent } => {
                let event = ChildEvent::Delta(text);
                bus.publish(*root, TurnEventKind::Child { child: *child, agent: agent.clone(), event });
            }
        }
    }

    /// The pass in progress was no answer: it ended with calls, or is written anew.
    pub(in crate::turn) fn end_pass(&self) {
        match self {
            Self::Turn { speakers, pass } => {
                *pass.lock() = None;
                speakers.own_pass_ended();
            }
            Self::Speaking { speakers, child } => speakers.take_back(*child),
            Self::Working { bus, root, child, agent } => {
                let event = ChildEvent::PassEnded;
                bus.publish(*root, TurnEventKind::Child { child: *child, agent: agent.clone(), event });
            }
        }
    }
}
