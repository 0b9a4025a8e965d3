//! Counters of the gateways of a process, for its metrics.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use figaro_agent::delivery::TurnEnding;

/// Maximum number of client kinds of a bot. Clients choose their own names.
const MAX_CLIENTS: usize = 100;
/// Kind for all further clients, and for those without a name.
const OTHERS: &str = "other";

/// Counters of all gateways of the process. Cheap to clone. They start at 0 with the process.
#[derive(Debug, Clone, Default)]
pub(super) struct GatewayCounters {
    requests: Family<RequestLabels, Counter>,
    turns: Family<EndingLabels, Counter>,
    tokens: Family<BotLabels, Counter>,
    client_turns: Family<ClientLabels, Counter>,
    client_tokens: Family<ClientLabels, Counter>,
    /// Client kinds by bot.
    clients: Arc<Mutex<HashMap<String, HashSet<String>>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct BotLabels {
    pub(super) bot: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    bot: String,
    path: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndingLabels {
    bot: String,
    ended: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClientLabels {
    bot: String,
    client: String,
}

/// Counters of the gateway of a bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BotCounters {
    all: GatewayCounters,
    bot: String,
}

impl GatewayCounters {
    /// Adds the counters to a registry.
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Requests that were answered, by path and status";
        registry.register("http_requests", help, self.requests.clone());
        registry.register("http_turns", "Turns of the gateway, by how they ended", self.turns.clone());
        let help = "Tokens that turns of the gateway have used";
        registry.register("http_tokens", help, self.tokens.clone());
        let help = "Turns of the gateway by the kind of client (X-Client-Id)";
        registry.register("http_client_turns", help, self.client_turns.clone());
        let help = "Tokens of the gateway by the kind of client";
        registry.register("http_client_tokens", help, self.client_tokens.clone());
    }

    pub(super) fn of_bot(&self, bot: String) -> BotCounters {
        BotCounters { all: self.clone(), bot }
    }
}

impl BotCounters {
    /// Counts a request by its route and the status of its answer.
    pub(crate) fn request(&self, path: &str, status: u16) {
        let labels = RequestLabels { bot: self.bot.clone(), path: path.to_owned(), status };
        self.all.requests.get_or_create(&labels).inc();
    }

    /// Counts a finished turn. `ending` is `None` if the turn reported no outcome.
    pub(super) fn turn(&self, client: Option<&str>, ending: Option<&TurnEnding>, tokens: u64) {
        let (all, bot) = (&self.all, &self.bot);
        let client = ClientLabels { bot: bot.clone(), client: self.client(client.unwrap_or(OTHERS)) };
        all.client_turns.get_or_create(&client).inc();
        all.client_tokens.get_or_create(&client).inc_by(tokens);
        let ended = match ending {
            Some(TurnEnding::Answered) => "answered",
            Some(TurnEnding::Stopped) => "stopped",
            Some(TurnEnding::Failed { label, .. }) => label,
            None => "none",
        };
        all.turns.get_or_create(&EndingLabels { bot: bot.clone(), ended }).inc();
        all.tokens.get_or_create(&BotLabels { bot: bot.clone() }).inc_by(tokens);
    }

    fn client(&self, name: &str) -> String {
        let mut clients = self.all.clients.lock();
        let known = clients.entry(self.bot.clone()).or_default();
        if known.len() < MAX_CLIENTS {
            known.insert(name.to_owned());
        }
        if known.contains(name) { name } else { OTHERS }.to_owned()
    }
}
