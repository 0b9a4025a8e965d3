//! Who of a turn's children speaks to the person: one at a time, in the order in which they began to speak, so that the words of
//! no two are mixed. What was said stays in front of whatever the turn itself writes.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::delivery::{Bus, TurnEventKind};
use figaro_base::ids::RunId;
use figaro_domain::said::Said;

/// Stands between the words of two.
pub(super) const GAP: &str = "\n\n";

/// What the children of a turn say to the person, and who of them speaks.
#[derive(Debug)]
pub(in crate::turn) struct Speakers {
    /// The turn whose answer it becomes.
    run: RunId,
    bus: Bus,
    speeches: Mutex<Vec<Speech>>,
}

/// What one of them says.
#[derive(Debug)]
struct Speech {
    /// Who speaks; `None` for what was said before a restart.
    child: Option<RunId>,
    order: u32,
    text: String,
    has_ended: bool,
}

impl Speakers {
    /// For a turn whose children have said this before a restart.
    pub(in crate::turn) fn new(run: RunId, bus: Bus, said: &[Said]) -> Arc<Self> {
        let speech =
            |said: &Said| Speech { child: None, order: said.order, text: said.text.clone(), has_ended: true };
        let speakers = Self { run, bus, speeches: Mutex::new(said.iter().map(speech).collect()) };
        speakers.publish("", &speakers.heard());
        Arc::new(speakers)
    }

    /// Takes in what was said before a restart and is not known yet.
    pub(in crate::turn) fn seed(&self, said: &[Said]) {
        self.change(|speeches| {
            for said in said {
                if speeches.iter().all(|speech| speech.order != said.order) {
                    let (child, text) = (None, said.text.clone());
                    speeches.push(Speech { child, order: said.order, text, has_ended: true });
                }
            }
            speeches.sort_by_key(|speech| speech.order);
        });
    }

    /// A child writes more.
    pub(super) fn add(&self, child: RunId, text: &str) {
        self.change(|speeches| {
            let at = speeches.iter().position(|speech| speech.child == Some(child)).unwrap_or_else(|| {
                let order = speeches.last().map_or(0, |last| last.order + 1);
                speeches.push(Speech { child: Some(child), order, text: String::new(), has_ended: false });
                speeches.len() - 1
            });
            if let Some(speech) = speeches.get_mut(at) {
                speech.text.push_str(text);
            }
        });
    }

    /// What a child wrote in this pass was no answer.
    pub(super) fn take_back(&self, child: RunId) {
        self.change(|speeches| {
            let speech = speeches.iter_mut().find(|speech| speech.child == Some(child));
            speech.into_iter().for_each(|speech| speech.text.clear());
        });
    }

    /// A child has ended with these words, or without any that count. Gives what it has said.
    pub(in crate::turn) fn end(&self, child: RunId, words: &str) -> Option<Said> {
        self.add(child, "");
        let mut said = None;
        self.change(|speeches| {
            let Some(at) = speeches.iter().position(|speech| speech.child == Some(child)) else { return };
            if words.trim().is_empty() {
                speeches.remove(at);
                return;
            }
            if let Some(speech) = speeches.get_mut(at) {
                words.trim().clone_into(&mut speech.text);
                speech.has_ended = true;
                said = Some(Said { order: speech.order, text: speech.text.clone() });
            }
        });
        said
    }

    /// What the person has heard of all this so far.
    pub(in crate::turn) fn heard(&self) -> String {
        heard(&self.speeches())
    }

    /// What the person has heard beside these words, in order.
    pub(in crate::turn) fn heard_beside(&self, known: &[Said]) -> Vec<Said> {
        let speeches = self.speeches();
        let is_new = |speech: &&Speech| known.iter().all(|said| said.order != speech.order);
        let new = until_now(&speeches).filter(is_new).filter(|speech| !speech.text.trim().is_empty());
        new.map(|speech| Said { order: speech.order, text: speech.text.trim().to_owned() }).collect()
    }

    /// Publishes words that the turn itself writes behind what was said.
    pub(super) fn publish_own(&self, text: String) {
        self.bus.publish(self.run, TurnEventKind::Delta(text));
    }

    /// A pass of the turn itself has ended with calls: what was said before stays.
    pub(super) fn own_pass_ended(&self) {
        self.bus.publish(self.run, TurnEventKind::PassEnded { kept: self.heard() });
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Speech>)) {
        // Published under the lock: the order of the events is that of the changes.
        let mut speeches = self.speeches();
        let before = heard(&speeches);
        change(&mut speeches);
        self.publish(&before, &heard(&speeches));
    }

    fn publish(&self, before: &str, after: &str) {
        if before == after {
            return;
        }
        match after.strip_prefix(before) {
            Some(more) => self.bus.publish(self.run, TurnEventKind::Delta(more.to_owned())),
            None => self.bus.publish(self.run, TurnEventKind::PassEnded { kept: after.to_owned() }),
        }
    }

    fn speeches(&self) -> MutexGuard<'_, Vec<Speech>> {
        self.speeches.lock()
    }
}

/// The speeches up to the first that has not ended: the others wait for it.
fn until_now(speeches: &[Speech]) -> impl Iterator<Item = &Speech> {
    let ended = speeches.iter().take_while(|speech| speech.has_ended).count();
    speeches.iter().take(ended + 1)
}

fn heard(speeches: &[Speech]) -> String {
    let texts = until_now(speeches).map(|speech| speech.text.as_str());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(GAP)
}
