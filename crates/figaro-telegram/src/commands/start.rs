//! `/start`: introduces the bot, with buttons to begin with. A link to it may carry an owner invite.

use std::sync::Arc;

use async_trait::async_trait;

use super::access::AccessCard;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, CommandOutcome, CommandRequest, CommandSpec, Press, PressError, Pressed};
use super::handles::Handles;
use crate::callback::{self, ButtonFamily, ParentCard};
use crate::send::Button;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_domain::access::looks_like_invite;
use figaro_ledger::Ledger;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Introduces the bot with its first card.
#[derive(Debug)]
pub(super) struct StartCommand {
    cards: Cards,
    ledger: Arc<Ledger>,
    name: String,
    access: AccessCard,
}

impl StartCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            ledger: handles.ledger.clone(),
            name: handles.me.name.clone(),
            access: AccessCard::new(handles),
        }
    }

    fn card(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let model = self.ledger.models.default_model().to_string();
        let values = [("name", self.name.as_str()), ("model", &model)];
        let example = vec![Button::new(texts.button_example(), callback::StartButton::Example)];
        if asker.standing != Standing::Owner {
            return Card::text(fill(texts.start_member(), &values)).row(example);
        }
        let access = vec![
            Button::new(texts.button_access(), callback::StartButton::Access).through(ParentCard::Start),
        ];
        let settings = vec![
            Button::new(texts.button_settings(), callback::ConfigButton::Show).through(ParentCard::Start),
        ];
        Card::text(fill(texts.start_owner(), &values)).row(example).row(access).row(settings)
    }
}

#[async_trait]
impl Command for StartCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("start", Texts::command_start)
            .families(&[callback::StartButton::NAME])
            .arguments(&[("CODE", "use the code of an invitation; its link does so too")])
    }

    fn invitation<'a>(&self, argument: &'a str) -> Option<&'a str> {
        Some(argument).filter(|argument| !argument.is_empty())
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        // A valid invite has already been redeemed.
        if looks_like_invite(request.argument()) && request.asker.standing != Standing::Owner {
            return Ok(Card::text(self.cards.texts(request.asker).owner_invite_void()).into());
        }
        Ok(self.card(request.asker).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let texts = self.cards.texts(press.asker);
        Ok(match press.data.parse()? {
            callback::StartButton::Example => Pressed::Job {
                job: Box::new(Job::Ask(press.ask(texts.example_question(), self.cards.now()))),
                toast: Some(texts.example_question().to_owned()),
                once: false,
            },
            callback::StartButton::Access if press.asker.standing != Standing::Owner => {
                Pressed::toast(texts.owner_only())
            }
            callback::StartButton::Access => Pressed::card(self.access.card(press.asker).await?),
            callback::StartButton::Back => Pressed::card(self.card(press.asker)),
        })
    }

    fn question(&self, press: &Press<'_>) -> Option<Question> {
        let texts = self.cards.texts(press.asker);
        let asks = press.data.parse() == Ok(callback::StartButton::Example);
        asks.then(|| press.ask(texts.example_question(), self.cards.now()))
    }
}
