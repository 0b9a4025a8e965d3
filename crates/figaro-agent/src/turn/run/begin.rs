//! What a run is told before its first step: what stood before it, what it may promise, what form its answer is to have.

use super::{Run, Shown};
use figaro_domain::form::Form;
use figaro_domain::tool::SideEffects;
use figaro_policy::address::Addresses;
use figaro_provider::Earlier;
use figaro_provider::fold::Pass;

impl Run {
    /// The same turn, whose first items are from before it.
    #[must_use]
    pub(crate) fn after(self, earlier: Earlier) -> Self {
        Self { earlier, ..self }
    }

    /// The same turn, which can store tasks: an answer that promises something for later and stored none is written
    /// anew, once.
    #[must_use]
    pub(crate) fn keeping_promises(self, keeps_promises: bool) -> Self {
        Self { keeps_promises, ..self }
    }

    /// The same turn, which is shown these memories.
    #[must_use]
    pub(crate) fn remembering(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// The same turn, whose answer is to have this form: one that has not is written anew, once. It promises nothing.
    #[must_use]
    pub(crate) fn shaped(self, form: Option<Form>) -> Self {
        let keeps_promises = self.keeps_promises && form.is_none();
        Self { form, keeps_promises, ..self }
    }

    /// The same turn, whose answer is for a program that is told where it was cut by its length: it gets it as it is.
    #[must_use]
    pub(crate) fn giving_cut(self, gives_cut: bool) -> Self {
        Self { gives_cut, ..self }
    }

    pub(super) const fn is_given_cut(&self, pass: &Pass) -> bool {
        self.gives_cut && pass.cut_short
    }

    /// The form that its answer is to have.
    #[must_use]
    pub(crate) const fn form(&self) -> Option<&Form> {
        self.form.as_ref()
    }

    /// The same turn, which knows the addresses that people wrote.
    #[must_use]
    pub(crate) fn knowing(mut self, written: Addresses) -> Self {
        self.addresses = written;
        self.find_sources();
        self
    }

    /// The same turn with what was found before it, and what its calls left behind before a restart, in their order.
    #[must_use]
    pub(crate) fn with_side_effects(mut self, before: impl IntoIterator<Item = SideEffects>) -> Self {
        before.into_iter().for_each(|side_effects| self.add_side_effects(side_effects));
        self
    }
}
