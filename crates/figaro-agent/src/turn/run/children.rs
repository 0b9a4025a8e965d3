//! Effects of children on a run's state machine: their usage, their texts for the person, a child that answers in the
//! run's place, and a run that is itself a child and must hand back its results.

use super::anew::hand_back;
use super::state::RunPhase;
use super::{Answer, Run};
use figaro_domain::said::SentText;
use figaro_domain::tool::ToolSpent;
use figaro_domain::usage::Usage;
use figaro_provider::fold::Pass;

impl Run {
    /// Returns the answer if another agent has answered in place of the turn.
    pub(super) fn taken_over(&self) -> Answer {
        let by = self.side_effects.taken_over.as_ref();
        let model = by.and_then(|by| by.model.as_ref()?.parse().ok());
        let text = by.and_then(|by| by.text.clone()).unwrap_or_default();
        // The other agent's answer need not have the required form.
        Answer { is_misfit: false, ..self.answer(Pass { model, text, ..Pass::default() }) }
    }

    /// Tells the model to make no more calls and to hand back its results.
    #[must_use]
    pub(crate) fn handing_back(mut self) -> Self {
        if !self.state.hands_back && self.state.phase == RunPhase::Asking {
            self.state.hands_back = true;
            self.items.push(hand_back());
        }
        self
    }

    /// Returns those of these texts of children that were not shown with a question yet.
    #[must_use]
    pub(crate) fn untold_of(&self, said: Vec<SentText>) -> Vec<SentText> {
        said.into_iter().filter(|said| !self.state.told.contains(&said.order)).collect()
    }

    /// Returns the texts of children that were not shown with a question yet.
    #[must_use]
    pub(crate) fn untold(&self) -> Vec<SentText> {
        self.untold_of(self.side_effects.said.clone())
    }

    /// Marks these texts of children as shown with a question.
    #[must_use]
    pub(crate) fn telling(mut self, said: &[SentText]) -> Self {
        self.state.told.extend(said.iter().map(|said| said.order));
        self
    }

    /// Returns the tokens used so far, including those of children.
    #[must_use]
    pub(crate) const fn usage(&self) -> Usage {
        self.state.usage
    }

    /// Returns their cost in nano-dollars; `None` once a price was unknown.
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
