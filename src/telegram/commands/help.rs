//! `/help`: what can be asked for, and the commands that the person may give.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Access, Command, Group, Outcome, Request};
use super::handles::Handles;
use crate::policy::access::Standing;
use crate::prompts::texts::Texts;
use crate::store::StoreError;

/// Lists the commands by group.
#[derive(Debug)]
pub(super) struct Help {
    cards: Cards,
}

impl Help {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone() }
    }
}

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        &texts.command_help
    }

    fn group(&self) -> Option<Group> {
        None
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let is_owner = request.asker.standing == Standing::Owner;
        let mut body = texts.help.trim().to_owned();
        for group in Group::ALL {
            let of_group = request.commands.iter().filter(|command| command.group() == Some(group));
            let lines: Vec<String> = of_group
                .filter(|command| is_owner || command.access() == Access::Everybody)
                .map(|command| format!("/{} – {}", command.name(), command.about(texts)))
                .collect();
            if !lines.is_empty() {
                body += &format!("\n\n{}\n{}", group.heading(texts), lines.join("\n"));
            }
        }
        let card = match body.split_once('\n') {
            Some((title, rest)) => Card::titled(title, rest),
            None => Card::text(body),
        };
        Ok(card.into())
    }
}
