//! Choice of the model within the limits on spending.

use super::super::question::Question;
use super::Preparer;
use figaro_domain::agent::Agent;
use figaro_domain::model::ModelName;

impl Preparer {
    /// Returns the model that answers, which is a cheaper one if a limit on spending is nearly used up, and the tokens that
    /// one run of a task may use.
    pub(super) fn within_budget(
        &self,
        question: &Question,
        agent: Option<&Agent>,
        chosen: Option<ModelName>,
    ) -> (ModelName, Option<u64>) {
        let model = chosen.unwrap_or_else(|| self.models.default_model().clone());
        let Some(payer) = question.payer(agent.map(|agent| agent.name.as_str())) else {
            return (model, None);
        };
        let model = self.ledger.model_for(&payer, model);
        let run_tokens = self.ledger.run_tokens(&payer, &model);
        (model, run_tokens)
    }
}
