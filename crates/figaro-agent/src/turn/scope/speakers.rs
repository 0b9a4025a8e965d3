//! Order of speech of a turn's children: one speaks at a time, in the order in which they began, so that their texts
//! are not mixed. Their texts stay before everything that the turn itself writes.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::delivery::{Bus, TurnEventKind};
use figaro_base::ids::RunId;
use figaro_domain::said::SentText;

/// Separator between the texts of two speakers.
pub(super) const GAP: &str = "\n\n";

/// Texts of a turn's children for the person, and the order in which they speak.
#[derive(Debug)]
pub(in crate::turn) struct Speakers {
    /// Turn whose answer includes the texts.
    run: RunId,
    bus: Bus,
    speeches: Mutex<Vec<Speech>>,
}

#[derive(Debug)]
struct Speech {
    /// Id of the child; `None` for text from before a restart.
    child: Option<RunId>,
    order: u32,
    text: String,
    has_ended: bool,
}

impl Speakers {
    /// Creates the speakers of a turn. `said` holds the texts of its children from before a restart.
    pub(in crate::turn) fn new(run: RunId, bus: Bus, said: &[SentText]) -> Arc<Self> {
        let speech = |said: &SentText| Speech {
            child: None,
            order: said.order,
            text: said.text.clone(),
            has_ended: true,
        };
        let speakers = Self { run, bus, speeches: Mutex::new(said.iter().map(speech).collect()) };
        speakers.publish("", &speakers.heard());
        Arc::new(speakers)
    }

    /// Adds texts from before a restart that are not known yet.
    pub(in crate::turn) fn seed(&self, said: &[SentText]) {
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

    /// Adds further text of a child.
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

    /// Clears the text of a child's pass that was no answer.
    pub(super) fn take_back(&self, child: RunId) {
        self.change(|speeches| {
            let speech = speeches.iter_mut().find(|speech| speech.child == Some(child));
            speech.into_iter().for_each(|speech| speech.text.clear());
        });
    }

    /// Ends a child with its final text; an empty text removes it. Returns the final text with its place in the order.
    pub(in crate::turn) fn end(&self, child: RunId, words: &str) -> Option<SentText> {
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
                said = Some(SentText { order: speech.order, text: speech.text.clone() });
            }
        });
        said
    }

    /// Returns the texts that the person has seen so far.
    pub(in crate::turn) fn heard(&self) -> String {
        heard(&self.speeches())
    }

    /// Returns the texts that the person has seen besides the known ones, in order.
    pub(in crate::turn) fn heard_beside(&self, known: &[SentText]) -> Vec<SentText> {
        let speeches = self.speeches();
        let is_new = |speech: &&Speech| known.iter().all(|said| said.order != speech.order);
        let new = until_now(&speeches).filter(is_new).filter(|speech| !speech.text.trim().is_empty());
        new.map(|speech| SentText { order: speech.order, text: speech.text.trim().to_owned() }).collect()
    }

    /// Publishes text of the turn itself, after the texts of its children.
    pub(super) fn publish_own(&self, text: String) {
        self.bus.publish(self.run, TurnEventKind::Delta(text));
    }

    /// Publishes the end of the turn's own pass; the texts of its children stay.
    pub(super) fn own_pass_ended(&self) {
        self.bus.publish(self.run, TurnEventKind::PassEnded { kept: self.heard() });
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Speech>)) {
        // Published under the lock, so that events have the order of the changes.
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

/// Returns the speeches up to the first that has not ended. Later ones wait for it.
fn until_now(speeches: &[Speech]) -> impl Iterator<Item = &Speech> {
    let ended = speeches.iter().take_while(|speech| speech.has_ended).count();
    speeches.iter().take(ended + 1)
}

fn heard(speeches: &[Speech]) -> String {
    let texts = until_now(speeches).map(|speech| speech.text.as_str());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(GAP)
}
