//! Passes without a result: the pass broke off, the service refused it, or the model ended without text. In the last
//! case the next model is called. A model that fails before its first text is skipped by the provider layer.

use super::Run;
use super::state::{Answer, RunPhase, TakenBack};
use figaro_domain::model::ModelName;
use figaro_domain::tool::SideEffects;
use figaro_provider::fit::drop_pictures;
use figaro_provider::fold::Pass;

impl Run {
    /// Sets the models to call, in this order.
    #[must_use]
    pub(crate) fn asking(mut self, order: Vec<ModelName>) -> Self {
        self.asked.order = order;
        self
    }

    /// Sets whether the turn may end without text.
    #[must_use]
    pub(crate) fn permitting_silence(mut self, may_be_silent: bool) -> Self {
        self.asked.may_be_silent = may_be_silent;
        self
    }

    /// Returns the models to call, in order: those after the last one that ended without text.
    #[must_use]
    pub(crate) fn models(&self) -> &[ModelName] {
        let order = &self.asked.order;
        let at = self.state.mute.as_ref().and_then(|mute| order.iter().position(|model| model == mute));
        order.get(at.map_or(0, |at| at + 1)..).unwrap_or_default()
    }

    /// Returns `true` if the next model must be called instead of the one with this pass. An empty pass is accepted
    /// once a tool or a child has spoken, in a group, and for a program that is told where an answer was truncated.
    pub(super) fn is_passed_on(&self, pass: &Pass) -> bool {
        let says_nothing = pass.text.trim().is_empty() && (pass.calls.is_empty() || !self.may_call());
        let SideEffects { spoke, shown, said, .. } = &self.side_effects;
        let has_said = *spoke || *shown || !said.is_empty();
        let is_silence = (self.asked.may_be_silent && pass.filtered.is_none()) || self.is_given_cut(pass);
        let behind = self.models().iter().skip_while(|model| Some(*model) != pass.model.as_ref());
        let has_next = behind.count() > 1;
        says_nothing && !has_said && !is_silence && has_next && self.state.taken_back.is_none()
    }

    /// Returns the answer of a turn whose last pass broke off.
    #[must_use]
    pub(crate) fn broken_off(mut self, pass: Pass) -> Answer {
        self.count(&pass);
        self.answer(pass)
    }

    /// Handles a failed pass. If the service refused pictures of results, the model is called again without them. If
    /// the model was rewriting a promise, the first answer stands.
    ///
    /// # Errors
    /// The answer so far, if the turn ends.
    pub(crate) fn model_failed(mut self, failed: Pass, is_refused: bool) -> Result<Self, Box<Answer>> {
        self.count(&failed);
        if is_refused && drop_pictures(&mut self.items) {
            return Ok(self);
        }
        match self.state.taken_back.take() {
            Some(TakenBack { pass: first, mistakes: None, .. }) => {
                self.state.phase = RunPhase::Done(Box::new(self.answer(*first)));
                Ok(self)
            }
            Some(_) | None => Err(Box::new(self.answer(failed))),
        }
    }
}
