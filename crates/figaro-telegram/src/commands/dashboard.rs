//! `/dashboard`: gives a link that signs the person in to the dashboard in a browser, once and within five minutes, a button
//! that opens it in Telegram, and one that signs the person out everywhere.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{ButtonFamily, SignOutButton};
use crate::send::Button;
use figaro_agent::sign_in::OfferedDashboard;
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, Audited};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{AuditStore, StoreError};

/// Beginnings of addresses that lead to the machine of whoever opens them.
const LOCAL: [&str; 3] = ["http://127.", "http://localhost", "http://[::1]"];

/// Gives links to the dashboard.
#[derive(Debug)]
pub(super) struct DashboardCommand {
    cards: Cards,
    dashboard: Option<OfferedDashboard>,
    audit: AuditStore,
}

#[async_trait]
impl Command for DashboardCommand {
    fn spec(&self) -> CommandSpec {
        let spec =
            CommandSpec::new("dashboard", Texts::command_dashboard).offered_if(self.dashboard.is_some());
        let spec = spec.families(&[SignOutButton::NAME]);
        match self.dashboard.as_ref().is_some_and(|dashboard| dashboard.for_everybody) {
            true => spec.group(Group::Settings),
            false => spec.group(Group::Owner).owners(),
        }
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.card(request.asker).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let SignOutButton = press.data.parse()?;
        let Some(dashboard) = &self.dashboard else { return Err(PressError::Gone) };
        let user = &press.asker.speaker.user;
        dashboard.sign_in.sign_out_everywhere(user);
        let event = AuditEvent::new(AuditKind::SignedOut, AuditActor::Person(user.clone()), self.cards.now());
        if let Err(error) = self.audit.add(vec![Audited { event, arguments: None }]).await {
            tracing::error!(%error, %user, "a person signed out everywhere, and the audit log lacks it");
        }
        // The link of the card is void.
        Ok(Pressed::card(Card::text(self.cards.texts(press.asker).dashboard_signed_out_everywhere())))
    }
}

impl DashboardCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let Handles { cards, dashboard, store, .. } = handles;
        Self { cards: cards.clone(), dashboard: dashboard.clone(), audit: store.audit() }
    }

    fn card(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let Some(dashboard) = &self.dashboard else { return Card::text(texts.dashboard_off()) };
        // In a group everybody could use it.
        if asker.place.is_group() {
            return Card::text(texts.dashboard_private());
        }
        let Some(link) = dashboard.sign_in.link(&asker.speaker.user) else {
            return Card::text(texts.dashboard_no_link());
        };
        let mut words = fill(texts.dashboard_link(), &[("link", &link)]);
        if LOCAL.iter().any(|beginning| link.starts_with(beginning)) {
            words = format!("{words}\n\n{}", texts.dashboard_local());
        }
        let here = dashboard.mini_app.iter().map(|url| Button::mini_app(texts.dashboard_open(), &**url));
        let out = Button::new(texts.dashboard_sign_out_everywhere(), SignOutButton);
        Card::text(words).row(here.collect()).row(vec![out])
    }
}
