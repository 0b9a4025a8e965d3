//! Counters of the gateway, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use figaro_agent::delivery::TurnEnding;

/// Counters of requests, turns and tokens. They start at 0 with the process.
#[derive(Debug, Default)]
pub struct Meters {
    /// Requests by matched path and status.
    requests: Mutex<BTreeMap<Answered, u64>>,
    /// Turns by outcome.
    turns: Mutex<BTreeMap<&'static str, u64>>,
    tokens: AtomicU64,
    /// Questions and tokens by kind of client.
    clients: Mutex<BTreeMap<String, Used>>,
}

/// Questions and tokens of one kind of client.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    turns: u64,
    tokens: u64,
}

/// Maximum number of client kinds. Clients choose their own names.
const MAX_CLIENTS: usize = 100;
/// Kind for all further clients, and for those without a name.
const OTHERS: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Answered {
    path: String,
    status: u16,
}

/// Value at this moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge {
    /// Name of the metric, without the prefix.
    pub(crate) name: &'static str,
    /// Help text of the metric in `/metrics`.
    pub(crate) help: &'static str,
    pub(crate) value: u64,
}

impl Meters {
    /// Counts a request by its route and the status of its answer.
    pub(crate) fn request(&self, path: &str, status: u16) {
        let answered = Answered { path: path.to_owned(), status };
        *self.requests.lock().entry(answered).or_default() += 1;
    }

    /// Counts a finished turn. `ending` is `None` if the turn reported no outcome.
    pub(super) fn turn(&self, client: Option<&str>, ending: Option<&TurnEnding>, tokens: u64) {
        self.client(client.unwrap_or(OTHERS), tokens);
        let label = match ending {
            Some(TurnEnding::Answered) => "answered",
            Some(TurnEnding::Stopped) => "stopped",
            Some(TurnEnding::Failed { label, .. }) => label,
            None => "none",
        };
        *self.turns.lock().entry(label).or_default() += 1;
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }

    fn client(&self, name: &str, tokens: u64) {
        let is_plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ';
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let mut clients = self.clients.lock();
        let is_known = clients.contains_key(&name) || clients.len() < MAX_CLIENTS;
        let used = clients.entry(if is_known { name } else { OTHERS.to_owned() }).or_default();
        *used = Used { turns: used.turns + 1, tokens: used.tokens + tokens };
    }

    /// Returns all counters and these gauges as text.
    #[must_use]
    pub(crate) fn text(&self, gauges: &[Gauge]) -> String {
        let mut text = String::new();
        head(&mut text, "http_requests_total", "Requests that were answered, by path and status.", "counter");
        for (Answered { path, status }, count) in &*self.requests.lock() {
            line(&mut text, &format!("http_requests_total{{path=\"{path}\",status=\"{status}\"}}"), *count);
        }
        head(&mut text, "http_turns_total", "Turns of the gateway, by how they ended.", "counter");
        for (label, count) in &*self.turns.lock() {
            line(&mut text, &format!("http_turns_total{{ended=\"{label}\"}}"), *count);
        }
        head(&mut text, "http_tokens_total", "Tokens that turns of the gateway have used.", "counter");
        line(&mut text, "http_tokens_total", self.tokens.load(Ordering::Relaxed));
        let clients = self.clients.lock().clone();
        head(
            &mut text,
            "http_client_turns_total",
            "The same by the kind of client (X-Client-Id).",
            "counter",
        );
        for (client, Used { turns, .. }) in &clients {
            line(&mut text, &format!("http_client_turns_total{{client=\"{client}\"}}"), *turns);
        }
        head(&mut text, "http_client_tokens_total", "Tokens by the kind of client.", "counter");
        for (client, Used { tokens, .. }) in &clients {
            line(&mut text, &format!("http_client_tokens_total{{client=\"{client}\"}}"), *tokens);
        }
        for Gauge { name, help, value } in gauges {
            head(&mut text, name, help, "gauge");
            line(&mut text, name, *value);
        }
        text
    }
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    text.push_str(&format!("# HELP figaro_{name} {help}\n# TYPE figaro_{name} {kind}\n"));
}

fn line(text: &mut String, name: &str, value: u64) {
    text.push_str(&format!("figaro_{name} {value}\n"));
}
