//! `/tally`: counts the presses of its button.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{ButtonFamily, TallyButton};
use crate::send::Button;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Counts presses. The button holds the count.
#[derive(Debug)]
pub(super) struct TallyCommand {
    cards: Cards,
}

#[async_trait]
impl Command for TallyCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("tally", Texts::command_tally).group(Group::Chat).families(&[TallyButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.card(request.asker, 0).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let TallyButton::Show(count) = press.data.parse()?;
        Ok(Pressed::card(self.card(press.asker, count)))
    }
}

impl TallyCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone() }
    }

    fn card(&self, asker: &Asker, count: u8) -> Card {
        let (texts, shown) = (self.cards.texts(asker), count.to_string());
        let more = Button::new(texts.button_tally_more(), TallyButton::Show(count.saturating_add(1)));
        Card::titled(texts.tally_title(), fill(texts.tally_count(), &[("count", &shown)])).row(vec![more])
    }
}
