//! Form of the answer of a turn that ends.

use super::end::Ender;
use super::outcome::Outcome;
use super::question::Question;
use figaro_domain::chat::AnswerFormat;

impl Ender {
    /// Returns `true` if the chat takes this answer as rich messages.
    pub(super) fn is_rich(&self, question: &Question, outcome: &Outcome) -> bool {
        let first = question.parts.first().filter(|_| matches!(outcome, Outcome::Answered(_)));
        let Some(first) = first else { return false };
        let config = self.settings.chat_config(first.place.chat);
        let config =
            config.inspect_err(|error| self.reporter.report(error, "the format of a chat could not be read"));
        config.is_ok_and(|config| config.format == AnswerFormat::Auto)
    }
}
