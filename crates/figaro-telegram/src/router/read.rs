//! Completes a message from the store: the language of its chat, the task that it is about.

use super::Router;
use crate::inbound;
use crate::views::MessageView;
use figaro_base::ids::UpdateId;
use figaro_domain::message::Inbound;
use figaro_domain::task::Task;
use figaro_store::StoreError;

impl Router {
    /// Reads a message with the language for replies; `None` if it is neither by a person nor by a bot that is
    /// allowed in its group.
    pub(super) fn read(&self, id: UpdateId, view: &MessageView) -> Result<Option<Inbound>, StoreError> {
        let part = match inbound::read(id, view, &self.me) {
            Some(part) => Some(part),
            None => self.read_bot(id, view)?,
        };
        let Some(part) = part else { return Ok(None) };
        let language = self.commands.language(part.place.chat, part.language.as_deref());
        Ok(Some(Inbound { language, ..part }))
    }

    /// Adds the task to a message that replies to the card of a task.
    pub(super) fn about_task(&self, mut part: Inbound) -> Result<Inbound, StoreError> {
        if let Some(quoted) = part.quotes.as_mut().filter(|_| part.reply_to_bot)
            && let Some(message) = quoted.message
        {
            let (chat, tasks) = (part.place.chat, self.tasks.of_chat(part.place.chat)?);
            let is_meant = |task: &&Task| task.is_live() && task.message(chat, message).is_some();
            quoted.task = tasks.iter().find(is_meant).map(|task| task.id);
        }
        Ok(part)
    }
}
