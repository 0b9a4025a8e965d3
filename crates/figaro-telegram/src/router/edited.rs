//! Edited messages: updates the stored message and its pins, and answers an edited question again.

use super::{Arrival, Router, UpdateFate};
use crate::inbound;
use crate::views::MessageView;
use figaro_agent::turn::question::{Question, RepeatRequest};
use figaro_agent::turn::queue::admission::WaitingSlot;
use figaro_agent::turn::queue::{Job, QueuedJob};
use figaro_base::ids::UpdateId;
use figaro_domain::chat::AnswerWhen;
use figaro_domain::conversation::Message;
use figaro_domain::message::{Attachment, AttachmentKind, HearingResult, Inbound};
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

impl Router {
    /// Applies an edit to the stored message and its pins. If the message is part of the last question, the question is
    /// answered again in place of the earlier answer, and the stored message keeps the words that the earlier answer is to.
    pub(super) async fn edited(
        &self,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some(edited) = inbound::read(id, view, &self.me) else { return Ok(UpdateFate::Settled) };
        let is_asked = self.asks_again(view, &edited, arrival)?;
        let is_taken_up = self.mailboxes.edit(&edited);
        let standing = self.follow_edit(view, &edited).await?;
        if let Some(standing) = standing.filter(|_| is_asked && !is_taken_up)
            && let Some(slot) = self.room_to_ask(&edited, arrival)?
        {
            return self.ask_again(edited, standing, slot).await;
        }
        self.conversations.edit_message(&edited).await?;
        Ok(UpdateFate::Settled)
    }

    /// Applies a change of a message that asks nothing anew.
    pub(super) async fn correct(&self, id: UpdateId, view: &MessageView) -> Result<(), StoreError> {
        let Some(edited) = inbound::read(id, view, &self.me) else { return Ok(()) };
        self.mailboxes.edit(&edited);
        self.conversations.edit_message(&edited).await?;
        self.follow_edit(view, &edited).await.map(drop)
    }

    /// Updates the pins of a message. Returns the standing of its writer; `None` if they may not talk to the bot.
    async fn follow_edit(
        &self,
        view: &MessageView,
        edited: &Inbound,
    ) -> Result<Option<Standing>, StoreError> {
        let list = self.settings.access()?;
        let verdict = judge(&self.access, &list, &edited.place, &edited.speaker.user, self.clock.now());
        let Verdict::Allow(standing) = verdict else { return Ok(None) };
        // For a command, the pin contains only its argument.
        let words =
            inbound::command(view, &self.me).map_or_else(|| edited.text.clone(), |line| line.argument);
        if let Some(message) = edited.origin.message() {
            self.pins.follow_edit(edited.place.chat, message, &words).await?;
        }
        Ok(Some(standing))
    }

    /// Returns `true` if the message is part of the last question, and the edit changes what is asked.
    fn asks_again(&self, view: &MessageView, edited: &Inbound, arrival: Arrival) -> Result<bool, StoreError> {
        if edited.borrowed || inbound::command(view, &self.me).is_some() {
            return Ok(false);
        }
        let exchange = self.conversations.last_exchange(edited.place.conversation())?;
        let asked = exchange.iter().find(|message| message.is_written_in(edited));
        // Before a restart, the edit may have been stored already.
        Ok(asked.is_some_and(|asked| arrival == Arrival::Accepted || is_reworded(asked, edited)))
    }

    /// Returns a place in the queue for an edited question; `None` if the chat wants no answers or too much waits.
    fn room_to_ask(&self, edited: &Inbound, arrival: Arrival) -> Result<Option<WaitingSlot>, StoreError> {
        let config = self.settings.chat_config(edited.place.chat)?;
        if edited.place.is_group() && config.answer_when == AnswerWhen::Off {
            return Ok(None);
        }
        Ok(self.slot(edited, arrival).ok())
    }

    /// Posts the question again. An earlier edit of the same message that has not been answered yet gives way.
    async fn ask_again(
        &self,
        edited: Inbound,
        standing: Standing,
        slot: WaitingSlot,
    ) -> Result<UpdateFate, StoreError> {
        let language = self.commands.language(edited.place.chat, edited.language.as_deref());
        let edited = Inbound { language, ..edited };
        let conversation = edited.place.conversation();
        let superseded = self.mailboxes.withdraw_edits(&edited);
        let asked = Question::new(edited, standing);
        let job = Job::Again(RepeatRequest { asked, model: None, is_edit: true });
        self.mailboxes.post(conversation, QueuedJob::new(job, Some(slot)));
        self.settle(&superseded).await;
        Ok(UpdateFate::Pending)
    }
}

/// Returns `true` if an edit changes the words or the files of a message. Telegram reports other changes as edits too, such as
/// each step of a live location.
fn is_reworded(asked: &Message, edited: &Inbound) -> bool {
    // The text of a message that was heard is its words, which an edit of the caption does not have.
    let is_heard = asked.attachments.iter().any(|one| one.heard == Some(HearingResult::Words));
    let files = |attachments: &[Attachment]| -> Vec<Option<String>> {
        let files = attachments.iter().filter(|one| one.kind != AttachmentKind::Location);
        files.map(|one| one.file_id.clone()).collect()
    };
    !is_heard && (asked.text != edited.text || files(&asked.attachments) != files(&edited.attachments))
}
