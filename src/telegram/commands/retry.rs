//! `/retry`, and the buttons under an answer that broke off or failed: again, with another model, go on.

use super::{Asker, Card, Commands, EXAMPLE, Pressed};
use crate::domain::delivery::Action;
use crate::domain::message::Inbound;
use crate::ids::{MessageId, UpdateId};
use crate::prompts::texts::Texts;
use crate::session::mailbox::Job;
use crate::session::question::{Again, Question};
use crate::telegram::api::EditMessageReplyMarkup;
use crate::telegram::send::Button;
use serde_json::json;

/// What each button sends.
const AGAIN: &str = "retry:again";
const GO_ON: &str = "retry:go_on";
const CHOOSE: &str = "retry:choose";
pub(super) const WITH: &str = "retry:with:";

/// The buttons under an answer.
#[must_use]
pub fn action_buttons(actions: &[Action], texts: &Texts) -> Vec<Vec<Button>> {
    let button = |action: &Action| match action {
        Action::GoOn => Button::new(&texts.button_go_on, GO_ON),
        Action::Retry => Button::new(&texts.button_retry, AGAIN),
        Action::OtherModel => Button::new(&texts.button_other_model, CHOOSE),
    };
    let row: Vec<Button> = actions.iter().map(button).collect();
    if row.is_empty() { Vec::new() } else { vec![row] }
}

impl Commands {
    /// What `/retry` has done: the last question again, by the model it names.
    ///
    /// # Errors
    /// What to show instead, where that model may not be had.
    pub async fn retry(&self, asker: &Asker, part: Inbound, argument: &str) -> Result<Job, Card> {
        let model = match argument {
            "" => None,
            name => Some(self.chosen(asker, name).await.map_err(Card::text)?),
        };
        let asked = Question { parts: vec![part], standing: asker.standing };
        Ok(Job::Again(Again { asked, model }))
    }

    /// The question or the further try that a button asks for; `None` for all other buttons.
    pub(super) async fn job_of(&self, update: UpdateId, data: &str, asker: &Asker) -> Option<Job> {
        let texts = self.texts(asker);
        match data {
            EXAMPLE => Some(Job::Ask(self.spoken(update, asker, &texts.example_question))),
            GO_ON => Some(Job::Ask(self.spoken(update, asker, &texts.go_on_question))),
            AGAIN => Some(Job::Again(Again { asked: self.spoken(update, asker, ""), model: None })),
            _ => {
                let model = self.chosen(asker, data.strip_prefix(WITH)?).await.ok()?;
                Some(Job::Again(Again { asked: self.spoken(update, asker, ""), model: Some(model) }))
            }
        }
    }

    pub(super) async fn press_retry(&self, data: &str, asker: &Asker) -> Pressed {
        if data == "choose" {
            let card = self.models_card(asker, WITH).await;
            self.show(&Asker { message: None, ..asker.clone() }, card).await;
            return Pressed::default();
        }
        Pressed::toast(&self.texts(asker).gone)
    }

    /// Takes the buttons off a message, so that what they do is done once.
    pub(super) async fn without_buttons(&self, asker: &Asker, message: MessageId) {
        let body = json!({"chat_id": asker.place.chat, "message_id": message});
        if let Err(unsent) = self.sender.once(asker.place.chat, EditMessageReplyMarkup(body)).await {
            tracing::debug!(chat = %asker.place.chat, ?unsent, "buttons could not be taken off a message");
        }
    }

    /// These words as if the person had typed them.
    fn spoken(&self, update: UpdateId, asker: &Asker, words: &str) -> Question {
        let part = Inbound {
            update,
            message: asker.message.unwrap_or(MessageId(0)),
            place: asker.place.clone(),
            speaker: asker.speaker.clone(),
            language: asker.language.clone(),
            sent_at: self.now(),
            text: words.to_owned(),
            attachments: Vec::new(),
            quotes: None,
            mentioned: true,
            reply_to_bot: false,
            joins: None,
            forwarded_from: None,
        };
        Question { parts: vec![part], standing: asker.standing }
    }
}
