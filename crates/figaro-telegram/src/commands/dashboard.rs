//! `/dashboard`: gives a link that signs the person in to the dashboard in a browser, once and within five minutes.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, CommandOutcome, CommandRequest, CommandSpec, Group};
use super::handles::Handles;
use figaro_agent::sign_in::SignIn;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Beginnings of addresses that lead to the machine of whoever opens them.
const LOCAL: [&str; 3] = ["http://127.", "http://localhost", "http://[::1]"];

/// Gives links to the dashboard.
#[derive(Debug)]
pub(super) struct DashboardCommand {
    cards: Cards,
    sign_in: Option<SignIn>,
    for_everybody: bool,
}

#[async_trait]
impl Command for DashboardCommand {
    fn spec(&self) -> CommandSpec {
        let spec = CommandSpec::new("dashboard", Texts::command_dashboard).offered_if(self.sign_in.is_some());
        match self.for_everybody {
            true => spec.group(Group::Settings),
            false => spec.group(Group::Owner).owners(),
        }
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.card(request.asker).into())
    }
}

impl DashboardCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let (sign_in, for_everybody) =
            handles.sign_in.clone().map_or((None, false), |(sign_in, everybody)| (Some(sign_in), everybody));
        Self { cards: handles.cards.clone(), sign_in, for_everybody }
    }

    fn card(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let Some(sign_in) = &self.sign_in else { return Card::text(texts.dashboard_off()) };
        // In a group everybody could use it.
        if asker.place.is_group() {
            return Card::text(texts.dashboard_private());
        }
        let Some(link) = sign_in.link(&asker.speaker.user) else {
            return Card::text(texts.dashboard_no_link());
        };
        let mut words = fill(texts.dashboard_link(), &[("link", &link)]);
        if LOCAL.iter().any(|beginning| link.starts_with(beginning)) {
            words = format!("{words}\n\n{}", texts.dashboard_local());
        }
        Card::text(words)
    }
}
