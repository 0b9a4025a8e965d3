//! `/status`: in two words for members, in full for owners.

use std::sync::Arc;

use async_trait::async_trait;
use chrono_tz::Tz;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::model::ChatModels;
use super::usage::cap_lines;
use crate::callback::{self, Family};
use crate::send::Button;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::text::duration;
use figaro_domain::model::ModelName;
use figaro_domain::usage::tokens;
use figaro_mcp_client::supervisor::Mcp;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{Store, StoreError, StoreHealth};

/// A store that takes so many times what it holds is told to be compacted, unless it is small all the same.
const MUCH: u64 = 5;
const FEW_BYTES: u64 = 64 << 20;

/// Shows how the bot is doing.
#[derive(Debug)]
pub(super) struct Status {
    cards: Cards,
    store: Arc<dyn Store>,
    models: ChatModels,
    mailboxes: Mailboxes,
    mcp: Mcp,
    default_zone: Tz,
}

#[async_trait]
impl Command for Status {
    fn name(&self) -> &'static str {
        "status"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_status()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Settings)
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.card(request.asker).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[callback::Status::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let callback::Status = press.data.parse()?;
        Ok(Pressed::card(self.card(press.asker).await?))
    }
}

impl Status {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            models: ChatModels::new(handles),
            mailboxes: handles.mailboxes.clone(),
            mcp: handles.mcp.clone(),
            default_zone: handles.default_zone,
        }
    }

    async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, vitals) = (self.cards.texts(asker), &self.cards.vitals);
        let config = self.store.chat_config(asker.place.chat).await?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        let since = vitals.started_at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string();
        // In a group everybody would read an owner's figures.
        if !asker.is_owner_alone() {
            let model = self.models.of(&config).to_string();
            return Ok(Card::text(fill(texts.status_member(), &[("since", &since), ("model", &model)])));
        }
        let health = self.store.health().await?;
        let undelivered = self.store.deliveries().await?.len();
        let error = vitals.last_error().map_or_else(
            || texts.status_no_error().to_owned(),
            |(at, label)| format!("{label}, {}", at.with_timezone(&zone).format("%Y-%m-%d %H:%M")),
        );
        let spent = self.models.ledger.spent_today();
        let (count, money) = (tokens(spent.tokens), spent.money());
        let mut today = vec![fill(texts.status_today(), &[("tokens", &count), ("money", &money)])];
        today.extend(cap_lines(&self.models.ledger, texts));
        let today = today.join("\n");
        let values = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("uptime", duration((self.cards.now() - vitals.started_at).num_seconds())),
            ("model", self.model_line(texts, &self.models.of(&config))),
            ("today", today),
            ("queue", (self.mailboxes.waiting() + undelivered).to_string()),
            ("error", error),
            ("memory", memory([std::process::id(), self.mcp.child_pid()]).await),
            ("store", store_line(texts, &health)),
            ("restarts", self.mcp.restarts().to_string()),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refresh = vec![Button::new(texts.button_refresh(), callback::Status)];
        Ok(Card::text(fill(texts.status_owner(), &values)).row(refresh))
    }

    /// The model that is to answer here, and the one that did where another had to stand in.
    fn model_line(&self, texts: &Texts, model: &ModelName) -> String {
        let order: Vec<String> =
            self.models.ledger.models.order(model).iter().map(ToString::to_string).collect();
        let model = order.join(" › ");
        match self.cards.vitals.last_model().filter(|last| Some(last) != order.first()) {
            Some(last) => fill(texts.status_model(), &[("model", &model), ("last", &last)]),
            None => model,
        }
    }
}

/// What the store takes and holds. Where it takes far more than it holds, what to do.
fn store_line(texts: &Texts, health: &StoreHealth) -> String {
    let (size, live) = (mebibytes(health.bytes), mebibytes(health.live));
    let unreadable = health.unreadable.to_string();
    let values = [("size", size.as_str()), ("live", &live), ("unreadable", &unreadable)];
    let line = fill(texts.status_store(), &values);
    match health.bytes > FEW_BYTES && health.bytes / MUCH > health.live {
        true => format!("{line}\n{}", texts.status_store_large()),
        false => line,
    }
}

/// The proportional set size of each process, as Linux gives it in `/proc/PID/smaps_rollup`.
async fn memory(processes: [u32; 2]) -> String {
    let mut sizes = Vec::new();
    for pid in processes {
        let text = tokio::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).await.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        sizes.push(kib.map_or_else(|| "?".to_owned(), |kib| mebibytes(kib * 1024)));
    }
    sizes.join(" + ")
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_prompts::texts::Locales;

    #[test]
    fn a_store_that_takes_far_more_than_it_holds_is_told_of() {
        let locales = Locales::load().unwrap();
        let texts = locales.of(None);
        let mib = |count: u64| count << 20;
        for (bytes, live, is_told) in
            [(mib(60), 1, false), (mib(100), mib(20), false), (mib(100), mib(19), true), (mib(101), 0, true)]
        {
            let line = store_line(texts, &StoreHealth { bytes, live, unreadable: 3 });
            assert!(line.contains("3 unreadable"), "{line}");
            assert_eq!(line.contains("figaro store compact"), is_told, "{line}");
        }
    }
}
