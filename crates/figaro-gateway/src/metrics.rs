//! Metrics of the process and its bots, in the text format of OpenMetrics, which Prometheus reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::counters::{BotCounters, BotLabels, GatewayCounters};
use super::hub::Hub;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::clock::Clock;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_ledger::Ledger;
use figaro_store::StoreMeters;

/// Content type of the text.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Metrics of the process. Cheap to clone. Counters start at 0 with the process.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<ProcessMetrics>);

#[derive(Debug)]
struct ProcessMetrics {
    registry: Registry,
    counters: GatewayCounters,
    paused: Family<BotLabels, Gauge>,
    gauges: BotGauges,
    /// Running bots by name. Locked while their gauges are read.
    running: Mutex<BTreeMap<String, BotSources>>,
}

/// Values of running bots at the moment.
#[derive(Debug, Default)]
struct BotGauges {
    uptime: Family<BotLabels, Gauge>,
    running: Family<BotLabels, Gauge>,
    waiting: Family<BotLabels, Gauge>,
    open: Family<BotLabels, Gauge>,
    tokens_today: Family<BotLabels, Gauge>,
}

/// Parts of a running bot that know its values.
#[derive(Debug)]
pub struct BotSources {
    /// Time when the bot started.
    pub started_at: DateTime<Utc>,
    /// Source of the current time.
    pub clock: Clock,
    /// Turns that run and questions that wait, in Telegram and over HTTP.
    pub mailboxes: Mailboxes,
    /// Tokens of the day.
    pub ledger: Arc<Ledger>,
    /// Turns of the gateway; `None` if it is off.
    pub hub: Option<Hub>,
}

impl Metrics {
    /// Makes the metrics of a process with these stores.
    #[must_use]
    pub fn new(stores: &StoreMeters) -> Self {
        let mut registry = Registry::with_prefix("figaro");
        let (counters, paused, gauges, running) = Default::default();
        stores.register(&mut registry);
        let mut metrics = ProcessMetrics { registry, counters, paused, gauges, running };
        metrics.register();
        Self(Arc::new(metrics))
    }

    /// Returns the part of these metrics that a bot counts in.
    #[must_use]
    pub fn of_bot(&self, bot: String) -> BotMetrics {
        BotMetrics { all: self.clone(), bot }
    }

    /// Notes that a bot is paused after a fault of its own, or no longer.
    pub fn set_paused(&self, bot: &str, is_paused: bool) {
        let labels = BotLabels { bot: bot.to_owned() };
        match is_paused {
            true => drop(self.0.paused.get_or_create(&labels).set(1)),
            false => drop(self.0.paused.remove(&labels)),
        }
    }

    /// Returns all metrics as text.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        let running = self.0.running.lock();
        self.0.gauges.read(&running);
        let mut text = String::new();
        // Nothing that is written into a string fails.
        text::encode(&mut text, &self.0.registry).unwrap_or_default();
        text
    }
}

impl ProcessMetrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        self.counters.register(registry);
        let help = "Bots that stopped by a fault of their own and are tried again";
        registry.register("bot_paused", help, self.paused.clone());
        let gauges = &self.gauges;
        registry.register("uptime_seconds", "Since the bot started", gauges.uptime.clone());
        let help = "Turns that run, in Telegram and over HTTP";
        registry.register("turns_running", help, gauges.running.clone());
        let help = "Questions and tasks that wait, in Telegram and over HTTP";
        registry.register("questions_waiting", help, gauges.waiting.clone());
        let help = "Turns of the gateway that wait or run";
        registry.register("http_turns_open", help, gauges.open.clone());
        let help = "Tokens of all model calls of the day";
        registry.register("tokens_today", help, gauges.tokens_today.clone());
    }
}

impl BotGauges {
    /// Sets the values of these bots, and removes those of all others.
    fn read(&self, running: &BTreeMap<String, BotSources>) {
        let all = [&self.uptime, &self.running, &self.waiting, &self.open, &self.tokens_today];
        all.iter().for_each(|family| family.clear());
        for (bot, of) in running {
            let labels = BotLabels { bot: bot.clone() };
            let set = |family: &Family<BotLabels, Gauge>, value: i64| {
                family.get_or_create(&labels).set(value);
            };
            let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
            set(&self.uptime, (of.clock.now() - of.started_at).num_seconds());
            set(&self.running, count(of.mailboxes.running().len()));
            set(&self.waiting, count(of.mailboxes.waiting()));
            let tokens = of.ledger.spent(&BudgetAxis::Bot, Period::Day).tokens;
            set(&self.tokens_today, i64::try_from(tokens).unwrap_or(i64::MAX));
            if let Some(hub) = &of.hub {
                set(&self.open, count(hub.open()));
            }
        }
    }
}

/// Metrics of a bot among those of the process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BotMetrics {
    /// Metrics of the process.
    pub all: Metrics,
    bot: String,
}

/// A bot whose values are read, until this is dropped.
#[derive(Debug)]
pub struct MeteredBot(BotMetrics);

impl Drop for MeteredBot {
    fn drop(&mut self) {
        // It may be the last to hold the store, which waits for the disk as it closes: not while others wait for the lock.
        let gone = self.0.all.0.running.lock().remove(&self.0.bot);
        drop(gone);
    }
}

impl BotMetrics {
    /// Has the values of the bot read from now on.
    #[must_use]
    pub fn run(&self, sources: BotSources) -> MeteredBot {
        let gone = self.all.0.running.lock().insert(self.bot.clone(), sources);
        drop(gone);
        MeteredBot(self.clone())
    }

    /// Returns the counters of its gateway.
    #[must_use]
    pub fn gateway(&self) -> BotCounters {
        self.all.0.counters.of_bot(self.bot.clone())
    }
}

#[cfg(test)]
mod tests {
    use figaro_agent::delivery::TurnEnding;

    use super::*;

    #[test]
    fn clients_without_bound_are_counted_together() {
        let metrics = Metrics::new(&StoreMeters::default());
        let meters = metrics.of_bot("sales".to_owned()).gateway();
        meters.turn(Some("a\"b"), None, 1);
        for number in 0..200 {
            meters.turn(Some(&format!("client{number}")), Some(&TurnEnding::Answered), 1);
        }
        metrics.of_bot("family".to_owned()).gateway().turn(Some("own"), None, 1);
        meters.request("/v1/models", 200);
        metrics.set_paused("family", true);
        let text = metrics.text();
        for line in [
            "figaro_http_requests_total{bot=\"sales\",path=\"/v1/models\",status=\"200\"} 1",
            "figaro_http_turns_total{bot=\"sales\",ended=\"none\"} 1",
            "figaro_http_tokens_total{bot=\"sales\"} 201",
            "figaro_http_client_turns_total{bot=\"sales\",client=\"a\\\"b\"} 1",
            "figaro_http_client_turns_total{bot=\"sales\",client=\"other\"} 101",
            "figaro_http_client_turns_total{bot=\"family\",client=\"own\"} 1",
            "figaro_bot_paused{bot=\"family\"} 1",
            "figaro_store_conflicts_total 0",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        metrics.set_paused("family", false);
        assert!(!metrics.text().contains("bot_paused{"));
    }
}
