//! Receivers of a run's text while it is written. Text of a turn goes to its followers; text of a child that speaks to
//! the person goes to the speakers; text of other children goes to those who follow the turn's details.

use std::sync::Arc;

use parking_lot::Mutex;

use super::super::run::Unrepeated;
use super::speakers::{GAP, Speakers};
use crate::delivery::{Bus, ChildEvent, TurnEventKind};
use figaro_base::ids::RunId;

#[derive(Debug)]
pub(in crate::turn) enum TextSink {
    /// Text of a turn, shown after the texts of its children.
    Turn {
        speakers: Arc<Speakers>,
        /// Pass in progress, if children have spoken before it.
        pass: Mutex<Option<OwnPass>>,
    },
    /// Text of a child that speaks to the person.
    Speaking {
        /// Order of speech of all children of the turn.
        speakers: Arc<Speakers>,
        child: RunId,
    },
    /// Text of a child that only its parent reads.
    Working {
        bus: Bus,
        /// Id of the turn that the events belong to.
        root: RunId,
        child: RunId,
        agent: String,
    },
}

/// Text of a turn's pass after texts of its children.
#[derive(Debug)]
pub(in crate::turn) struct OwnPass {
    filter: Unrepeated,
    has_shown: bool,
}

impl OwnPass {
    fn after(heard: &str) -> Self {
        Self { filter: Unrepeated::after(heard), has_shown: false }
    }

    /// Returns the part of further text to show, with a gap before the first.
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
    /// Creates the sink of a turn.
    pub(in crate::turn) fn of_turn(speakers: Arc<Speakers>) -> Self {
        Self::Turn { speakers, pass: Mutex::default() }
    }

    /// Returns `true` if people may see the text. Once it is shown, the turn cannot begin again.
    pub(in crate::turn) const fn is_seen(&self) -> bool {
        !matches!(self, Self::Working { .. })
    }

    /// Writes more text of the pass in progress.
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

    /// Withdraws the pass in progress: it ended with calls, or is written again.
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
