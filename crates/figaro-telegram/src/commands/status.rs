//! `/status`: tells how the bot is doing, briefly to members, in full to owners.

use async_trait::async_trait;
use chrono::{DateTime, Datelike, Utc};
use figaro_base::tz::Tz;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::model::ChatModels;
use super::usage::cap_lines;
use crate::callback::{self, ButtonFamily};
use crate::send::Button;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::telemetry::vitals::LastCall;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_domain::model::ModelName;
use figaro_mcp_client::supervisor::Mcp;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{Store, StoreError, StoreHealth};

/// A store larger than this multiple of its live data should be compacted, unless it is small.
const MUCH: u64 = 5;
const FEW_BYTES: u64 = 64 << 20;

/// Shows the state of the bot.
#[derive(Debug)]
pub(super) struct StatusCommand {
    cards: Cards,
    store: Store,
    models: ChatModels,
    mailboxes: Mailboxes,
    extractor: Extractor,
    mcp: Mcp,
    /// `true` if people can ask the bot from other chats.
    answers_elsewhere: bool,
    default_zone: Tz,
}

#[async_trait]
impl Command for StatusCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("status", Texts::command_status)
            .group(Group::Settings)
            .families(&[callback::StatusButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.card(request.asker).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let callback::StatusButton = press.data.parse()?;
        Ok(Pressed::card(self.card(press.asker).await?))
    }
}

impl StatusCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            store: handles.store.clone(),
            models: ChatModels::new(handles),
            mailboxes: handles.mailboxes.clone(),
            extractor: handles.extractor.clone(),
            mcp: handles.mcp.clone(),
            answers_elsewhere: handles.me.answers_elsewhere,
            default_zone: handles.default_zone,
        }
    }

    async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let (texts, vitals) = (self.cards.texts(asker), &self.cards.vitals);
        let config = self.store.settings().chat_config(asker.place.chat)?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        let this_year = self.cards.now().with_timezone(&zone).year();
        let moment = |at: DateTime<Utc>| texts.dated(&at.with_timezone(&zone), this_year);
        let since = moment(vitals.started_at);
        // In a group everybody would read the figures for owners.
        if !asker.is_owner_alone() {
            let model = self.models.of(&config).to_string();
            let now = self.cards.now().with_timezone(&zone);
            let spoken = |at: DateTime<Utc>| texts.spoken(&at.with_timezone(&zone), &now);
            let state = model_state(texts, &model, vitals.last_call(&model), spoken);
            return Ok(Card::text(format!("{} {state}", fill(texts.status_member(), &[("since", &since)]))));
        }
        let health = self.store.health().await?;
        let undelivered = self.store.outbox().deliveries()?.len();
        let spent = self.models.ledger.spent(&BudgetAxis::Bot, Period::Day);
        let (count, money) = (texts.tokens(spent.tokens), spent.money());
        let mut today = vec![fill(texts.status_today(), &[("tokens", &count), ("money", &money)])];
        today.extend(cap_lines(&self.models.ledger, texts));
        let today = today.join("\n");
        let values = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("uptime", texts.span((self.cards.now() - vitals.started_at).num_seconds())),
            ("model", self.model_line(texts, &self.models.of(&config))),
            ("today", today),
            ("memory", memory([std::process::id(), self.mcp.child_pid()]).await),
            ("store", megabytes(health.bytes)),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let count =
            |words: &str, count: u64| (count > 0).then(|| fill(words, &[("count", &count.to_string())]));
        let waiting = u64::try_from(self.mailboxes.waiting() + undelivered).unwrap_or(u64::MAX);
        let error = vitals.last_error().map(|(at, label)| {
            fill(texts.status_error(), &[("error", &texts.error(label)), ("time", &moment(at))])
        });
        // Zero counts and absent faults get no line.
        let lines = [
            Some(fill(texts.status_owner(), &values)),
            count(texts.status_waiting(), waiting),
            error,
            count(texts.status_restarts(), u64::from(self.mcp.restarts())),
            count(texts.status_unreadable(), health.unreadable),
            is_too_large(&health).then(|| texts.status_store_large().to_owned()),
            (!self.answers_elsewhere).then(|| texts.status_inline().to_owned()),
        ];
        let broken =
            vitals.broken().into_iter().map(|faults| fill(texts.status_broken(), &[("faults", &faults)]));
        let now = self.cards.now();
        let resting = self.extractor.trials.all(now).into_iter().filter_map(|(model, trial)| {
            let until = trial.rests_until.filter(|until| *until > now)?;
            Some(fill(texts.status_model_rests(), &[("model", &model), ("time", &moment(until))]))
        });
        let lines: Vec<String> = lines.into_iter().flatten().chain(broken).chain(resting).collect();
        let refresh = vec![Button::new(texts.button_refresh(), callback::StatusButton)];
        Ok(Card::text(lines.join("\n")).row(refresh))
    }

    /// Returns the models in their order of use, and the last model that answered if it was not the first.
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

/// Returns the sentence about a model for members, by its last call. `spoken` formats a time.
fn model_state(
    texts: &Texts,
    model: &str,
    last: Option<LastCall>,
    spoken: impl Fn(DateTime<Utc>) -> String,
) -> String {
    let (text, model, time) = match &last {
        None => (texts.status_member_model(), model, String::new()),
        Some(LastCall::Answered(by)) => (texts.status_member_answers(), by.as_str(), String::new()),
        Some(LastCall::Unreachable(at)) => (texts.status_member_unreachable(), model, spoken(*at)),
        Some(LastCall::Unusable(at)) => (texts.status_member_unusable(), model, spoken(*at)),
    };
    fill(text, &[("model", model), ("time", &time)])
}

/// Returns `true` if the store is much larger than its live data.
const fn is_too_large(health: &StoreHealth) -> bool {
    health.bytes > FEW_BYTES && health.bytes / MUCH > health.live
}

/// Returns the total memory of these processes: the proportional set size from Linux's `/proc/PID/smaps_rollup`.
async fn memory(processes: [u32; 2]) -> String {
    let mut bytes = 0;
    for pid in processes {
        let text = tokio::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).await.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        let Some(kib) = kib else { return "?".to_owned() };
        bytes += kib * 1024;
    }
    megabytes(bytes)
}

fn megabytes(bytes: u64) -> String {
    match bytes / 1_000_000 {
        0 => "< 1 MB".to_owned(),
        count => format!("{count} MB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_takes_far_more_than_it_holds_is_told_of() {
        let mib = |count: u64| count << 20;
        for (bytes, live, is_told) in
            [(mib(60), 1, false), (mib(100), mib(20), false), (mib(100), mib(19), true), (mib(101), 0, true)]
        {
            assert_eq!(is_too_large(&StoreHealth { bytes, live, unreadable: 3 }), is_told, "{bytes} {live}");
        }
    }
}
