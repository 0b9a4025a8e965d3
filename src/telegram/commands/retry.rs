//! `/retry`, and the buttons under an answer that broke off or failed: again, with another model, go on.

use std::sync::PoisonError;

use chrono::TimeDelta;
use serde_json::json;

use super::{Asker, Card, Commands, EXAMPLE, Pressed};
use crate::domain::delivery::Action;
use crate::domain::message::Inbound;
use crate::ids::{MessageId, RunId, UpdateId};
use crate::outbound::Urgency;
use crate::prompts::texts::Texts;
use crate::store::StoreError;
use crate::telegram::api::EditMessageReplyMarkup;
use crate::telegram::send::Button;
use crate::turn::question::{Again, Question};
use crate::turn::queue::Job;
use crate::turn::rights::{LAST_MESSAGES, last_asked};

/// For so long a message whose button was pressed is remembered: until the turn that it began is stored.
const REMEMBERED: TimeDelta = TimeDelta::minutes(1);

/// So much of a turn's id stands in a button.
const TAG_BYTES: usize = 10;

/// The buttons under the answer of a turn. Each says for which turn it is: `retry:VERB:TURN`.
#[must_use]
pub fn action_buttons(actions: &[Action], run: RunId, texts: &Texts) -> Vec<Vec<Button>> {
    let button = |action: &Action| {
        let of_turn = |label, verb| Button::new(label, format!("retry:{verb}:{}", tag(run)));
        let of_task = |label, verb, task| Button::new(label, format!("tasks:{verb}:{task}"));
        match *action {
            Action::GoOn => of_turn(&texts.button_go_on, "go_on"),
            Action::Retry => of_turn(&texts.button_retry, "again"),
            Action::OtherModel => of_turn(&texts.button_other_model, "choose"),
            Action::RunTask(task) => of_task(&texts.button_run_now, "run", task),
            Action::SkipTask(task) => of_task(&texts.button_skip, "skip", task),
            Action::ResumeTask(task) => of_task(&texts.button_resume, "resume", task),
            Action::CancelTask(task) => of_task(&texts.button_cancel, "cancel", task),
        }
    };
    let row: Vec<Button> = actions.iter().map(button).collect();
    if row.is_empty() { Vec::new() } else { vec![row] }
}

/// The end of a turn's id, which tells it from all others; whole it would leave no room for the name of a model.
fn tag(run: RunId) -> String {
    let id = run.to_string();
    id.get(id.len().saturating_sub(TAG_BYTES)..).unwrap_or(&id).to_owned()
}

/// What a button says: `retry:VERB:TURN`, and for `with` a model behind it.
#[derive(Debug, Clone, Copy)]
struct Wish<'a> {
    verb: &'a str,
    turn: &'a str,
    model: &'a str,
}

fn wish(data: &str) -> Option<Wish<'_>> {
    let (verb, rest) = data.strip_prefix("retry:")?.split_once(':')?;
    let (turn, model) = rest.split_once(':').unwrap_or((rest, ""));
    Some(Wish { verb, turn, model })
}

impl Commands {
    /// What `/retry` has done: the last question again, by the model it names.
    ///
    /// # Errors
    /// What to show instead, where that model may not be had.
    pub async fn retry(&self, asker: &Asker, part: Inbound, name: &str) -> Result<Job, Card> {
        let model = self.chosen(asker, name).await.map_err(Card::text)?;
        Ok(Job::Again(Again { asked: Question::new(part, asker.standing), model: Some(model) }))
    }

    /// Whether a button is still good: any other than ours, or one under the last turn of its conversation that a person
    /// began. The answer of a task that came since goes on too.
    pub(super) async fn is_current(&self, data: &str, asker: &Asker) -> Result<bool, StoreError> {
        let Some(wish) = wish(data) else { return Ok(true) };
        let session = self.store.session(asker.place.conversation(), self.now()).await?;
        let messages = self.store.recent(session.id, LAST_MESSAGES).await?;
        let is_meant = |turn: Option<RunId>| turn.is_some_and(|turn| tag(turn) == wish.turn);
        let last = messages.iter().rev().find_map(|message| message.turn);
        Ok(is_meant(last_asked(&messages)) || wish.verb == "go_on" && is_meant(last))
    }

    /// Whether this is the first press under a message: of two in a moment only one counts.
    pub(super) fn is_first(&self, asker: &Asker, message: MessageId) -> bool {
        let now = self.now();
        let mut pressed = self.pressed.lock().unwrap_or_else(PoisonError::into_inner);
        pressed.retain(|_, at| now - *at < REMEMBERED);
        pressed.insert((asker.place.chat, message), now).is_none()
    }

    /// What a button says as if the person had typed it; `None` for all that ask nothing.
    pub(super) fn question_behind(&self, update: UpdateId, data: &str, asker: &Asker) -> Option<Question> {
        let texts = self.texts(asker);
        let words = match wish(data).map(|wish| wish.verb) {
            None if data == EXAMPLE => &texts.example_question,
            Some("go_on") => {
                let question = self.spoken(update, asker, &texts.go_on_question);
                // What goes on may be what others have asked for: that is looked up when the turn begins.
                return Some(Question { goes_on: true, ..question });
            }
            Some("again" | "with") => "",
            _ => return None,
        };
        Some(self.spoken(update, asker, words))
    }

    /// The question or the further try that a button asks for; `None` for all other buttons.
    pub(super) async fn job_of(&self, update: UpdateId, data: &str, asker: &Asker) -> Option<Job> {
        let asked = self.question_behind(update, data, asker)?;
        match wish(data) {
            Some(Wish { verb: "again", .. }) => Some(Job::Again(Again { asked, model: None })),
            Some(Wish { verb: "with", model, .. }) => {
                let model = Some(self.chosen(asker, model).await.ok()?);
                Some(Job::Again(Again { asked, model }))
            }
            _ => Some(Job::Ask(asked)),
        }
    }

    /// The buttons that begin no turn.
    pub(super) async fn press_retry(&self, data: &str, asker: &Asker) -> Pressed {
        let gone = || Pressed::toast(&self.texts(asker).gone);
        match (wish(data), asker.message) {
            (Some(Wish { verb: "choose", turn, .. }), Some(message)) => {
                if !self.is_first(asker, message) {
                    return gone();
                }
                let card = match self.models_card(asker, &format!("retry:with:{turn}:")).await {
                    Ok(card) => card,
                    Err(error) => return Pressed::toast(self.failed(asker, &error).body),
                };
                self.without_buttons(asker, message).await;
                self.show(&Asker { message: None, ..asker.clone() }, card).await;
                Pressed::default()
            }
            (Some(Wish { verb: "with", model, .. }), _) => {
                self.chosen(asker, model).await.err().map_or_else(gone, Pressed::toast)
            }
            _ => gone(),
        }
    }

    /// Takes the buttons off a message, so that what they do is done once.
    pub(super) async fn without_buttons(&self, asker: &Asker, message: MessageId) {
        let body = json!({"chat_id": asker.place.chat, "message_id": message});
        if let Err(unsent) =
            self.sender.once(asker.place.chat, EditMessageReplyMarkup(body), Urgency::Answer).await
        {
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
            from_person: false,
            task: None,
            borrowed: false,
        };
        Question::new(part, asker.standing)
    }
}
