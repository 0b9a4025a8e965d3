//! What children have to do with the machine of a run: what they took, what they have said, that one has answered in its place,
//! and that the run, itself a child, has to hand back what it has.

use super::anew::hand_back;
use super::state::Phase;
use super::{Answer, Run};
use figaro_domain::said::Said;
use figaro_domain::tool::ToolSpent;
use figaro_domain::usage::Usage;
use figaro_provider::fold::Pass;

impl Run {
    /// The answer of a turn in whose place another agent has answered.
    pub(super) fn taken_over(&self) -> Answer {
        let by = self.side_effects.taken_over.as_ref();
        let model = by.and_then(|by| by.model.as_ref()?.parse().ok());
        let text = by.and_then(|by| by.text.clone()).unwrap_or_default();
        // Whatever form the answer was to have, another agent has given it.
        Answer { is_misfit: false, ..self.answer(Pass { model, text, ..Pass::default() }) }
    }

    /// The same run, which makes no more calls: the model is told to hand back what it has.
    #[must_use]
    pub(crate) fn handing_back(mut self) -> Self {
        if !self.state.hands_back && self.state.phase == Phase::Asking {
            self.state.hands_back = true;
            self.items.push(hand_back());
        }
        self
    }

    /// What of this, which children have said, is not told yet.
    #[must_use]
    pub(crate) fn untold_of(&self, said: Vec<Said>) -> Vec<Said> {
        said.into_iter().filter(|said| !self.state.told.contains(&said.order)).collect()
    }

    /// What children have said to the person and is not told yet.
    #[must_use]
    pub(crate) fn untold(&self) -> Vec<Said> {
        self.untold_of(self.side_effects.said.clone())
    }

    /// The same run, of whose children the person is told this with a question.
    #[must_use]
    pub(crate) fn telling(mut self, said: &[Said]) -> Self {
        self.state.told.extend(said.iter().map(|said| said.order));
        self
    }

    /// The tokens that it took so far, those of children counted.
    #[must_use]
    pub(crate) const fn usage(&self) -> Usage {
        self.state.usage
    }

    /// What they cost in nano-dollars; `None` once a price was not known.
    #[must_use]
    pub(crate) const fn nano_usd(&self) -> Option<u64> {
        self.state.nano_usd
    }

    pub(super) fn add_spent(&mut self, spent: ToolSpent) {
        let state = &mut self.state;
        state.usage += spent.usage;
        state.nano_usd = state.nano_usd.zip(spent.nano_usd).map(|(all, one)| all.saturating_add(one));
    }
}
