//! Reads the file and reports all mistakes at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use serde_json::Value;

use super::expand::{Expanded, expand, is_name};
use super::keys::{ELSEWHERE, KEYS, OWN, RESERVED, SERVERS};
use super::{Address, Program, ServerConfig, ServerTransport, Substituted};
use figaro_base::secret::SecretString;
use figaro_base::text::with_nearest;
use figaro_files::json::{JsonEntry, JsonKind, JsonNode, parse};
use figaro_files::yaml::{Misfit, TextPosition};

/// Maximum number of servers in a file.
const MAX_SERVERS: usize = 50;
/// Maximum length of a server's name, in characters.
const MAX_NAME: usize = 32;
/// Default timeout of a call, in seconds.
const TIMEOUT: u64 = 60;
const MAX_TIMEOUT: u64 = 600;
/// Reads the servers of a text, sorted by name. `values` holds the variables for `${NAME}`.
///
/// # Errors
/// All mistakes, each with its place where it is known.
pub fn read(text: &str, values: &HashMap<String, String>) -> Result<Vec<ServerConfig>, Vec<Misfit>> {
    let whole = parse(text).map_err(|misfit| vec![misfit])?;
    let mut reading = ServerFileReader { values, substituted: BTreeSet::new(), faults: Vec::new() };
    let mut servers = reading.file(&whole);
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    if reading.faults.is_empty() { Ok(servers) } else { Err(reading.faults) }
}

/// Returns the names of the servers in a text, even if the rest has mistakes.
#[must_use]
pub fn names(text: &str) -> Vec<String> {
    let Ok(JsonNode { kind: JsonKind::Object(entries), .. }) = parse(text) else { return Vec::new() };
    let servers = entries.into_iter().find(|entry| entry.key == SERVERS).map(|entry| entry.value.kind);
    let Some(JsonKind::Object(servers)) = servers else { return Vec::new() };
    servers.into_iter().map(|server| server.key).collect()
}

struct ServerFileReader<'a> {
    values: &'a HashMap<String, String>,
    /// Variable values used in the current server.
    substituted: BTreeSet<&'a str>,
    faults: Vec<Misfit>,
}

/// Name with its value and its position.
struct Pair {
    name: String,
    at: TextPosition,
    value: String,
}

/// Server that is being read: its keys by name.
struct RawServer<'a> {
    name: &'a str,
    at: TextPosition,
    keys: BTreeMap<&'a str, &'a JsonEntry>,
    is_disabled: bool,
}

impl ServerFileReader<'_> {
    fn fault(&mut self, at: TextPosition, words: impl Into<String>) {
        self.faults.push(Misfit { at: Some(at), words: words.into() });
    }

    fn file(&mut self, whole: &JsonNode) -> Vec<ServerConfig> {
        let JsonKind::Object(entries) = &whole.kind else {
            self.fault(
                whole.at,
                format!("the file is {}, and takes an object with {SERVERS}", whole.kind.name()),
            );
            return Vec::new();
        };
        let mut found = None;
        for entry in entries {
            match entry.key.as_str() {
                "$schema" => {}
                SERVERS if found.is_some() => self.fault(entry.at, format!("{SERVERS} stands twice")),
                SERVERS => found = Some(&entry.value),
                "servers" => self.fault(entry.at, format!("unknown key servers: did you mean {SERVERS}?")),
                "inputs" => {
                    self.fault(entry.at, "inputs is not known here: set a variable and write \"${NAME}\"");
                }
                key => {
                    let words = format!("unknown key {key}");
                    self.fault(entry.at, with_nearest(words, key, [SERVERS]));
                }
            }
        }
        match found {
            Some(servers) => self.servers(servers),
            None => {
                if self.faults.is_empty() {
                    self.fault(
                        whole.at,
                        format!("{SERVERS} is missing: it holds the servers by their names"),
                    );
                }
                Vec::new()
            }
        }
    }

    fn servers(&mut self, servers: &JsonNode) -> Vec<ServerConfig> {
        let JsonKind::Object(entries) = &servers.kind else {
            let is = servers.kind.name();
            self.fault(
                servers.at,
                format!("{SERVERS} is {is}, and takes an object that has a key for each server"),
            );
            return Vec::new();
        };
        if entries.len() > MAX_SERVERS {
            self.fault(servers.at, format!("there are more than {MAX_SERVERS} servers"));
        }
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for entry in entries {
            if !seen.insert(entry.key.as_str()) {
                self.fault(entry.at, format!("two servers have the name {}", entry.key));
            }
            self.name(entry);
            all.extend(self.server(entry));
        }
        all
    }

    fn name(&mut self, entry: &JsonEntry) {
        let name = entry.key.as_str();
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        // Otherwise the tool `b` of `a_` and the tool `_b` of `a` would have the same name.
        let is_apart = !name.contains("__") && !name.ends_with('_');
        if !begins || name.len() > MAX_NAME || !name.bytes().all(fits) || !is_apart {
            self.fault(
                entry.at,
                format!(
                    "the name `{name}` does not do: it begins with a letter and takes up to {MAX_NAME} letters, digits, _ \
                     and -, no two _ in a row and none at its end"
                ),
            );
        } else if OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            self.fault(entry.at, format!("{name} is Figaro's own: give the server another name"));
        }
    }

    fn server(&mut self, entry: &JsonEntry) -> Option<ServerConfig> {
        let name = entry.key.as_str();
        let JsonKind::Object(entries) = &entry.value.kind else {
            let is = entry.value.kind.name();
            self.fault(entry.value.at, format!("{name} is {is}, and takes an object with command or url"));
            return None;
        };
        let mut keys = BTreeMap::new();
        for one in entries {
            let key = one.key.as_str();
            if keys.insert(key, one).is_some() {
                self.fault(one.at, format!("{name}: {key} stands twice"));
            }
            if !KEYS.contains(&key) {
                let elsewhere = ELSEWHERE.iter().find(|(theirs, _)| *theirs == key);
                let words = match elsewhere {
                    Some((_, remedy)) => format!("{name}: {key} is not known here: {remedy}"),
                    None => with_nearest(format!("{name}: unknown key {key}"), key, KEYS),
                };
                self.fault(one.at, words);
            }
        }
        let mut raw = RawServer { name, at: entry.at, keys, is_disabled: false };
        raw.is_disabled = self.flag(&raw, "disabled");
        let (timeout, way) = (self.timeout(&raw), self.way(&raw));
        let mut auto_approve = self.texts(&raw, "autoApprove");
        auto_approve.extend(self.texts(&raw, "alwaysAllow"));
        let disabled_tools = self.texts(&raw, "disabledTools");
        let is_disabled = raw.is_disabled;
        let substituted = std::mem::take(&mut self.substituted);
        let substituted = Substituted(substituted.into_iter().map(SecretString::from).collect());
        Some(ServerConfig {
            name: name.to_owned(),
            way: way?,
            timeout,
            auto_approve,
            disabled_tools,
            is_disabled,
            substituted,
        })
    }

    fn way(&mut self, raw: &RawServer<'_>) -> Option<ServerTransport> {
        let (command, url) = (raw.keys.get("command"), raw.keys.get("url"));
        let name = raw.name;
        let is_http = match (command, url) {
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some(_), Some(url)) => {
                self.fault(url.at, format!("{name}: it has command and url, and takes one of them"));
                return None;
            }
            (None, None) => {
                self.fault(
                    raw.at,
                    format!("{name}: it has neither command, which starts a program, nor url"),
                );
                return None;
            }
        };
        self.kind(raw, is_http);
        let (others, with) =
            if is_http { (&["args", "env", "cwd"][..], "command") } else { (&["headers"][..], "url") };
        for key in others.iter().filter_map(|key| raw.keys.get(*key)) {
            self.fault(key.at, format!("{name}: {} goes with {with}", key.key));
        }
        if is_http {
            self.address(raw).map(ServerTransport::Http)
        } else {
            self.program(raw).map(ServerTransport::Stdio)
        }
    }

    /// Checks that `type` agrees with the other keys.
    fn kind(&mut self, raw: &RawServer<'_>, is_http: bool) {
        let Some(entry) = raw.keys.get("type") else { return };
        let (name, at) = (raw.name, entry.value.at);
        let Some(word) = self.text(raw, entry, "type") else { return };
        match word.as_str() {
            "stdio" if !is_http => {}
            "http" | "streamable-http" | "streamableHttp" if is_http => {}
            "sse" => self.fault(
                at,
                format!(
                    "{name}: type is sse, the transport of old, which is not supported: give the server's address for \
                     streamable HTTP, and type http"
                ),
            ),
            "stdio" => self.fault(at, format!("{name}: type is stdio, which goes with command")),
            "http" | "streamable-http" | "streamableHttp" => {
                self.fault(at, format!("{name}: type is {word}, which goes with url"));
            }
            _ => {
                let words = format!("{name}: type is `{word}`, and takes stdio or http");
                self.fault(at, with_nearest(words, &word, ["stdio", "http"]));
            }
        }
    }

    fn program(&mut self, raw: &RawServer<'_>) -> Option<Program> {
        let entry = raw.keys.get("command")?;
        let command = self.text(raw, entry, "command");
        if command.as_ref().is_some_and(|command| command.trim().is_empty()) {
            self.fault(entry.value.at, format!("{}: command is empty: it names a program", raw.name));
        }
        let args = self.texts(raw, "args");
        let env = self.pairs(raw, "env");
        for Pair { name, at, .. } in env.iter().filter(|pair| !is_name(&pair.name)) {
            self.fault(*at, format!("{}: env: `{name}` is no name of a variable", raw.name));
        }
        let folder = raw.keys.get("cwd").and_then(|entry| self.text(raw, entry, "cwd")).map(Into::into);
        let env = env.into_iter().map(|pair| (pair.name, pair.value.into())).collect();
        Some(Program { command: command?, args, env, folder })
    }

    fn address(&mut self, raw: &RawServer<'_>) -> Option<Address> {
        let entry = raw.keys.get("url")?;
        let url = self.text(raw, entry, "url");
        let parsed = url.as_ref().and_then(|url| url::Url::parse(url).ok());
        let parsed = parsed.filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
        match parsed {
            None if url.is_some() => self.fault(
                entry.value.at,
                format!("{}: url is no address: it begins with http:// or https://", raw.name),
            ),
            Some(url) if !url.username().is_empty() || url.password().is_some() => self.fault(
                entry.value.at,
                format!("{}: url has a name or password in it: put them into headers", raw.name),
            ),
            None | Some(_) => {}
        }
        let headers = self.pairs(raw, "headers");
        for Pair { name, at, value } in &headers {
            let known = HeaderName::try_from(name.as_str()).ok();
            let words = match known {
                None => "is no name of a header",
                Some(known) if RESERVED.contains(&known.as_str()) => "is set by the protocol: leave it out",
                Some(_) if HeaderValue::try_from(value.as_str()).is_err() => {
                    "has a value that no header takes, such as a line break"
                }
                Some(_) => continue,
            };
            self.fault(*at, format!("{}: headers: `{name}` {words}", raw.name));
        }
        let headers = headers.into_iter().map(|pair| (pair.name, SecretString::from(pair.value))).collect();
        Some(Address { url: url?, headers })
    }

    fn timeout(&mut self, raw: &RawServer<'_>) -> Duration {
        let Some(entry) = raw.keys.get("timeout") else { return Duration::from_secs(TIMEOUT) };
        let seconds = match &entry.value.kind {
            JsonKind::Plain(value) => value.as_u64().filter(|seconds| (1..=MAX_TIMEOUT).contains(seconds)),
            JsonKind::Object(_) | JsonKind::Array(_) => None,
        };
        let seconds = seconds.unwrap_or_else(|| {
            let words = format!("{}: timeout takes whole seconds, from 1 to {MAX_TIMEOUT}", raw.name);
            self.fault(entry.value.at, words);
            TIMEOUT
        });
        Duration::from_secs(seconds)
    }

    fn flag(&mut self, raw: &RawServer<'_>, key: &str) -> bool {
        let Some(entry) = raw.keys.get(key) else { return false };
        match &entry.value.kind {
            JsonKind::Plain(Value::Bool(flag)) => *flag,
            other => {
                let words = format!("{}: {key} is {}, and takes true or false", raw.name, other.name());
                self.fault(entry.value.at, words);
                false
            }
        }
    }

    fn text(&mut self, raw: &RawServer<'_>, entry: &JsonEntry, key: &str) -> Option<String> {
        self.word(raw, &entry.value, key)
    }

    /// Reads a text and replaces its variables.
    fn word(&mut self, raw: &RawServer<'_>, value: &JsonNode, key: &str) -> Option<String> {
        let name = raw.name;
        let JsonKind::Plain(Value::String(text)) = &value.kind else {
            let is = value.kind.name();
            let quotes = match value.kind {
                JsonKind::Plain(Value::Number(_) | Value::Bool(_)) => ": put it in quotes",
                JsonKind::Plain(_) | JsonKind::Object(_) | JsonKind::Array(_) => "",
            };
            self.fault(value.at, format!("{name}: {key} is {is}, and takes a text{quotes}"));
            return None;
        };
        match expand(text, self.values) {
            Ok(Expanded { text, values }) => {
                self.substituted.extend(values);
                Some(text)
            }
            // A disabled server needs no variables.
            Err(_) if raw.is_disabled => Some(text.clone()),
            Err(fault) => {
                self.fault(value.at, format!("{name}: {key}: {fault}"));
                None
            }
        }
    }

    fn texts(&mut self, raw: &RawServer<'_>, key: &str) -> Vec<String> {
        let Some(entry) = raw.keys.get(key) else { return Vec::new() };
        let JsonKind::Array(items) = &entry.value.kind else {
            let words = format!("{}: {key} is {}, and takes a list", raw.name, entry.value.kind.name());
            self.fault(entry.value.at, words);
            return Vec::new();
        };
        items.iter().filter_map(|item| self.word(raw, item, key)).collect()
    }

    fn pairs(&mut self, raw: &RawServer<'_>, key: &str) -> Vec<Pair> {
        let Some(entry) = raw.keys.get(key) else { return Vec::new() };
        let JsonKind::Object(entries) = &entry.value.kind else {
            let words = format!("{}: {key} is {}, and takes an object", raw.name, entry.value.kind.name());
            self.fault(entry.value.at, words);
            return Vec::new();
        };
        let pair = |one: &JsonEntry| {
            let value = self.word(raw, &one.value, &format!("{key}.{}", one.key))?;
            Some(Pair { name: one.key.clone(), at: one.at, value })
        };
        entries.iter().filter_map(pair).collect()
    }
}
