//! What the gateway counts, in the text form that Prometheus reads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use figaro_agent::delivery::TurnEnding;

/// Counts what happens. Its numbers begin at 0 with the process.
#[derive(Debug, Default)]
pub struct Meters {
    /// The requests by the path that they match and their status.
    requests: Mutex<BTreeMap<Answered, u64>>,
    /// The turns by how they ended.
    turns: Mutex<BTreeMap<&'static str, u64>>,
    tokens: AtomicU64,
    /// Questions and tokens of clients, by kind.
    clients: Mutex<BTreeMap<String, Used>>,
}

/// Questions and tokens of clients of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    turns: u64,
    tokens: u64,
}

/// So many kinds of clients are told apart: they name themselves.
const MAX_CLIENTS: usize = 100;
/// Those beyond, and those without a name.
const OTHERS: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Answered {
    path: String,
    status: u16,
}

/// A number of the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge {
    /// Its name, without the prefix.
    pub(crate) name: &'static str,
    /// What the figure says, as `/metrics` tells it to whoever reads it.
    pub(crate) help: &'static str,
    /// The number.
    pub(crate) value: u64,
}

impl Meters {
    /// A request of this path, as the router has it, was answered with this status.
    pub(crate) fn request(&self, path: &str, status: u16) {
        let answered = Answered { path: path.to_owned(), status };
        *self.requests.lock().entry(answered).or_default() += 1;
    }

    /// A turn has ended, in this way or in none that it has told.
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

    /// All of it, with these numbers of the moment.
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
