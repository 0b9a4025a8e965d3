//! End of a request to answer again that found no question.

use super::end::Ender;
use super::question::Question;

impl Ender {
    /// Says that there is no question to retry. An edit says nothing: a newer question came before, and only the record changes.
    pub(super) async fn nothing_to_ask(&self, asked: &Question, is_edit: bool) {
        match asked.parts.first() {
            Some(edited) if is_edit => {
                let stored = self.conversations.edit_message(edited).await;
                self.reporter.or_without(stored, "the edit of a message");
            }
            Some(first) => self.delivery.decline(first, self.texts(asked).retry_nothing()).await,
            None => {}
        }
    }
}
