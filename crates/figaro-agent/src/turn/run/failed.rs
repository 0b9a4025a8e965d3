//! A pass that came to nothing: it broke off, its service refused it, or the model ended without a word. For such a model the next is
//! asked; one that fails before its first word is passed over by the provider.

use super::Run;
use super::state::{Answer, Phase, TakenBack};
use figaro_domain::model::ModelName;
use figaro_provider::fit::drop_pictures;
use figaro_provider::fold::Pass;

impl Run {
    /// The same turn, which asks these models in turn.
    #[must_use]
    pub(crate) fn asking(mut self, order: Vec<ModelName>) -> Self {
        self.asked.order = order;
        self
    }

    /// The same turn, where silence may be an answer.
    #[must_use]
    pub(crate) fn permitting_silence(mut self, may_be_silent: bool) -> Self {
        self.asked.may_be_silent = may_be_silent;
        self
    }

    /// The models to ask in turn: those behind the last one that has said nothing.
    #[must_use]
    pub(crate) fn models(&self) -> &[ModelName] {
        let order = &self.asked.order;
        let at = self.state.mute.as_ref().and_then(|mute| order.iter().position(|model| model == mute));
        order.get(at.map_or(0, |at| at + 1)..).unwrap_or_default()
    }

    /// `true` if the next model is asked in place of one that has written this. Silence counts where it is an answer: once a tool or a
    /// child has spoken, in a group, and for a program that is told where an answer was cut.
    pub(super) fn is_passed_on(&self, pass: &Pass) -> bool {
        let says_nothing = pass.text.trim().is_empty() && (pass.calls.is_empty() || !self.may_call());
        let has_said = self.side_effects.spoke || !self.side_effects.said.is_empty();
        let is_silence = (self.asked.may_be_silent && pass.filtered.is_none()) || self.is_given_cut(pass);
        let behind = self.models().iter().skip_while(|model| Some(*model) != pass.model.as_ref());
        let has_next = behind.count() > 1;
        says_nothing && !has_said && !is_silence && has_next && self.state.taken_back.is_none()
    }

    /// What the turn has come to where its last pass broke off.
    #[must_use]
    pub(crate) fn broken_off(mut self, pass: Pass) -> Answer {
        self.count(&pass);
        self.answer(pass)
    }

    /// The model has failed in this pass. Where its service has refused it with pictures of results, it is asked without them; where
    /// it was to write a promise anew, that answer stands.
    ///
    /// # Errors
    /// With what the turn has come to, where that is its end.
    pub(crate) fn model_failed(mut self, failed: Pass, is_refused: bool) -> Result<Self, Box<Answer>> {
        self.count(&failed);
        if is_refused && drop_pictures(&mut self.items) {
            return Ok(self);
        }
        match self.state.taken_back.take() {
            Some(TakenBack { pass: first, mistakes: None, .. }) => {
                self.state.phase = Phase::Done(Box::new(self.answer(*first)));
                Ok(self)
            }
            Some(_) | None => Err(Box::new(self.answer(failed))),
        }
    }
}
