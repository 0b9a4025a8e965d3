//! Configuration of a run before its first step: earlier items, promises, memories, and the form of its answer.

use super::{Run, ShownMemories};
use figaro_domain::form::Form;
use figaro_domain::tool::SideEffects;
use figaro_policy::address::Addresses;
use figaro_provider::fold::Pass;
use figaro_provider::{Earlier, Item};

impl Run {
    /// Sets the items from before the turn.
    #[must_use]
    pub(crate) fn after(self, earlier: Earlier) -> Self {
        Self { earlier, ..self }
    }

    /// Sets whether promises are checked: an answer that promises something for later without a stored task is
    /// rewritten once.
    #[must_use]
    pub(crate) fn keeping_promises(self, keeps_promises: bool) -> Self {
        Self { keeps_promises, ..self }
    }

    /// Sets the memories in the prompt.
    #[must_use]
    pub(crate) fn remembering(self, shown: ShownMemories) -> Self {
        Self { shown, ..self }
    }

    /// Sets the form of the answer. An answer that does not fit is rewritten once. Promises are not checked then.
    #[must_use]
    pub(crate) fn shaped(self, form: Option<Form>) -> Self {
        let keeps_promises = self.keeps_promises && form.is_none();
        Self { form, keeps_promises, ..self }
    }

    /// Sets whether a truncated answer is returned unchanged, for a program that is told about it.
    #[must_use]
    pub(crate) fn giving_cut(self, gives_cut: bool) -> Self {
        Self { gives_cut, ..self }
    }

    pub(super) const fn is_given_cut(&self, pass: &Pass) -> bool {
        self.gives_cut && pass.cut_short
    }

    /// Returns the required form of the answer.
    #[must_use]
    pub(crate) const fn form(&self) -> Option<&Form> {
        self.form.as_ref()
    }

    /// Adds the items of the turn's steps before it was stored.
    #[must_use]
    pub(crate) fn having_done(mut self, done: Vec<Item>) -> Self {
        self.items.extend(done);
        self
    }

    /// Sets the addresses that people wrote.
    #[must_use]
    pub(crate) fn knowing(mut self, written: Addresses) -> Self {
        self.addresses = written;
        self.find_sources();
        self
    }

    /// Adds earlier side effects in order: tools found in the session, and those of the turn's calls before a restart.
    #[must_use]
    pub(crate) fn with_side_effects(mut self, before: impl IntoIterator<Item = SideEffects>) -> Self {
        before.into_iter().for_each(|side_effects| self.add_side_effects(side_effects));
        self
    }
}
