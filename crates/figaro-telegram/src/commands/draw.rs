//! `/draw`: draws a picture, by a turn that is asked for it; and the buttons under each drawn picture.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::{Handles, PictureHandles};
use super::presses::FirstPresses;
use crate::callback::{ButtonFamily, DrawButton};
use crate::inbound;
use crate::send::Button;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_domain::message::{Attachment, Inbound};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Returns the buttons under a drawn picture.
#[must_use]
pub(crate) fn draw_buttons(texts: &Texts) -> Vec<Button> {
    vec![
        Button::new(texts.button_draw_again(), DrawButton::Again),
        Button::new(texts.button_draw_change(), DrawButton::Change),
    ]
}

#[derive(Debug)]
pub(super) struct DrawCommand {
    cards: Cards,
    pictures: PictureHandles,
    presses: FirstPresses,
}

#[async_trait]
impl Command for DrawCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("draw", Texts::command_draw)
            .group(Group::Chat)
            .begins_turn()
            .offered_if(self.pictures.is_on)
            .families(&[DrawButton::NAME])
            .arguments(&[("DESCRIPTION", "draw this, or change the picture that you reply to")])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let what = request.argument();
        if !self.pictures.is_on {
            return Ok(Card::text(texts.draw_off()).into());
        }
        if what.is_empty() {
            return Ok(Card::text(texts.draw_empty()).into());
        }
        let text = fill(texts.draw_request(), &[("what", what)]);
        let part = Inbound { text, ..request.message.clone() };
        Ok(CommandOutcome::Job(Box::new(Job::Ask(Question::new(part, request.asker.standing)))))
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        if !self.pictures.is_on {
            return Err(PressError::Gone);
        }
        match press.data.parse()? {
            // Two presses would be paid twice: the next picture has buttons of its own.
            DrawButton::Again if !self.presses.is_first(press, self.cards.now()) => Ok(Pressed::Stale),
            DrawButton::Again => {
                Ok(Pressed::Job { job: Box::new(Job::Ask(self.again(press))), toast: None, once: true })
            }
            DrawButton::Change => {
                let asker = press.asker;
                let shown = press.shown.map(inbound::quoting);
                let attachments = shown.iter().flat_map(|quoted| &quoted.attachments);
                let picture = attachments.into_iter().find_map(Attachment::picture);
                let file_id = picture.ok_or(PressError::Gone)?.to_owned();
                let texts = self.cards.texts(asker);
                let asked =
                    self.cards.ask(asker, texts.draw_change_question(), texts.draw_change_hint()).await;
                let Some(question) = asked else { return Ok(Pressed::toast(texts.error_internal())) };
                self.pictures.last.ask(asker.place.conversation(), question, file_id);
                Ok(Pressed::Shown { toast: None, card: None })
            }
        }
    }

    fn question(&self, press: &Press<'_>) -> Option<Question> {
        match press.data.parse().ok()? {
            DrawButton::Again => Some(self.again(press)),
            DrawButton::Change => None,
        }
    }
}

impl DrawCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            pictures: handles.pictures.clone(),
            presses: FirstPresses::default(),
        }
    }

    /// Returns the question for another picture, as a reply to the one with the button. Somebody else may have asked for that:
    /// whoever presses lends no rights to their words.
    fn again(&self, press: &Press<'_>) -> Question {
        let words = self.cards.texts(press.asker).draw_again_question();
        let mut question = press.ask(words, self.cards.now());
        for part in &mut question.parts {
            part.quotes = press.shown.map(inbound::quoting).map(Box::new);
        }
        question.borrowed()
    }
}
