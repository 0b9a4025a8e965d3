//! Whatever comes in, the server answers it and goes on, and the search and the check come to an end.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use figaro_mcp::catalog::{Catalog, MethodSelection};
use figaro_mcp::check::check;
use figaro_mcp::table::ApiTable;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::samples::{Size, arguments};
use crate::support::{Bench, KEY, NEWEST, handshake, newest, parse};

/// Cases of each property.
const CASES: u32 = 256;
/// Longer than this nobody has to wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

const METHODS: [&str; 14] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/roots/list_changed",
];

/// Strings that have broken programs before.
const STRINGS: [&str; 16] = [
    "",
    " ",
    "\0",
    "\u{feff}",
    "\u{202e}x",
    "👩‍👩‍👧‍👦",
    "İı",
    "ss'\"\\",
    "../../etc/passwd",
    "file:///etc/passwd",
    "attach://file0",
    "telegram-file:///",
    "telegram-file:///note",
    "-9223372036854775808",
    "{{}}%s$(x)",
    "a,b\r\nX: y",
];

/// How a request comes in.
#[derive(Debug, Clone, Copy)]
enum Door {
    /// Without a session.
    None,
    /// In one that is ready.
    Open,
    /// In one whose client never said that it is ready.
    Unready,
    /// In one that there is not.
    Unknown,
    /// In the newest revision, which has none.
    Newest,
}

fn string() -> impl Strategy<Value = String> {
    let long = (any::<char>(), 300..3000_usize).prop_map(|(c, count)| c.to_string().repeat(count));
    prop_oneof![4 => any::<String>(), 4 => select(&STRINGS[..]).prop_map(str::to_owned), 1 => long]
}

fn name() -> impl Strategy<Value = String> {
    let real: Vec<&str> = ApiTable::get().methods().iter().map(|method| method.name.as_str()).collect();
    prop_oneof![6 => select(real).prop_map(str::to_owned), 2 => Just("find_telegram_methods".to_owned()), 1 => string()]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        string().prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((string(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    let deep = (1..300_usize, any::<bool>()).prop_map(|(depth, is_list)| {
        (0..depth).fold(json!(1), |inner, _| if is_list { json!([inner]) } else { json!({"text": inner}) })
    });
    let wide = (1..3000_usize).prop_map(|count| (0..count).map(|at| (at.to_string(), json!(at))).collect());
    prop_oneof![8 => tree, 1 => deep, 1 => wide]
}

/// Arguments for a method: anything, or valid ones with something else in one place.
fn arguments_of(name: String) -> BoxedStrategy<Value> {
    let query = string().prop_map(|query| json!({"query": query}));
    let Some(method) = ApiTable::get().method(&name) else {
        return prop_oneof![query, json_value()].boxed();
    };
    let valid = select(vec![Size::Minimal, Size::Full]).prop_map(|size| arguments(method, size));
    let spoilt =
        (valid.clone(), any::<prop::sample::Index>(), json_value()).prop_map(|(mut args, at, value)| {
            let keys: Vec<String> = args.keys().cloned().collect();
            let key = if keys.is_empty() { "chat_id".to_owned() } else { at.get(&keys).clone() };
            args.insert(key, value);
            args
        });
    prop_oneof![2 => valid.prop_map(Value::from), 4 => spoilt.prop_map(Value::from), 1 => json_value()]
        .boxed()
}

fn params(method: &'static str) -> BoxedStrategy<Value> {
    let shaped = match method {
        "tools/call" => name()
            .prop_flat_map(|name| (Just(name.clone()), arguments_of(name)))
            .prop_map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
            .boxed(),
        "resources/read" => string().prop_map(|uri| json!({"uri": uri})).boxed(),
        "tools/list" => string().prop_map(|cursor| json!({"cursor": cursor})).boxed(),
        "initialize" => string().prop_map(|revision| handshake(&revision)["params"].clone()).boxed(),
        "notifications/cancelled" => json_value().prop_map(|id| json!({"requestId": id})).boxed(),
        _ => Just(json!({})).boxed(),
    };
    prop_oneof![9 => shaped, 1 => json_value()].boxed()
}

/// Something like a JSON-RPC message.
fn rpc() -> impl Strategy<Value = Value> {
    let weights = METHODS.map(|method| {
        (
            if method == "tools/call" { 12 } else { 1 },
            params(method).prop_map(move |params| (method.to_owned(), params)).boxed(),
        )
    });
    let known = Union::new_weighted(weights.to_vec());
    let unknown = (string(), json_value());
    let id = prop_oneof![20 => any::<i64>().prop_map(Value::from), 8 => string().prop_map(Value::from), 1 => json_value()];
    let version = prop_oneof![30 => Just(json!("2.0")), 1 => json_value()];
    (version, id, prop_oneof![9 => known, 1 => unknown], 0..50_u8).prop_map(
        |(version, id, (method, params), lack)| {
            let is_notification = method.starts_with("notifications/");
            let mut message = json!({"jsonrpc": version, "id": id, "method": method, "params": params});
            let fields = message.as_object_mut().unwrap();
            match lack {
                0 => drop(fields.remove("jsonrpc")),
                1 => drop(fields.remove("params")),
                2 => drop(fields.insert("result".to_owned(), json!({}))),
                3 => drop(fields.remove("method").map(|method| fields.insert("result".to_owned(), method))),
                _ => {}
            }
            if lack == 4 || is_notification {
                fields.remove("id");
            }
            message
        },
    )
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |value: Value| value.to_string().into_bytes();
    prop_oneof![
        30 => rpc().prop_map(bytes),
        1 => vec(rpc(), 0..4).prop_map(Value::from).prop_map(bytes),
        2 => json_value().prop_map(bytes),
        2 => vec(any::<u8>(), 0..2000),
        1 => (rpc(), any::<prop::sample::Index>()).prop_map(move |(message, at)| {
            let mut cut = bytes(message);
            cut.truncate(at.index(cut.len()));
            cut
        }),
    ]
}

/// The server with a session that is fuzzed, and one that is only asked whether it still lives.
struct Target {
    bench: Bench,
    witness: String,
    open: String,
    unready: String,
}

impl Target {
    async fn new() -> Self {
        let (bench, witness) = Bench::unpaced(&[]).await;
        let open = bench.open_session().await;
        let unready = Self::unready(&bench).await;
        Self { bench, witness, open, unready }
    }

    async fn unready(bench: &Bench) -> String {
        let response = bench.post(&[KEY], &handshake("2025-11-25")).await;
        response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    }

    /// Sends the bytes, and waits for the whole answer: its HTTP status, or what went wrong.
    async fn answer(&self, door: Door, body: Vec<u8>) -> Result<u16, String> {
        let (headers, body) = self.through(door, body);
        let accept = "application/json, text/event-stream";
        let request = self.bench.http.post(&self.bench.url).headers(headers).body(body);
        let request = request.header("accept", accept).header("content-type", "application/json");
        let asking = async {
            let response = request.header(KEY.0, KEY.1).send().await?;
            let status = response.status().as_u16();
            response.bytes().await.map(|_| status)
        };
        let Ok(answered) = tokio::time::timeout(ANSWER_TIMEOUT, asking).await else {
            return Err("no answer in time".to_owned());
        };
        answered.map_err(|error| format!("{error:?}"))
    }

    fn through(&self, door: Door, body: Vec<u8>) -> (HeaderMap, Vec<u8>) {
        let mut headers = HeaderMap::new();
        let session = match door {
            Door::None => return (headers, body),
            Door::Newest => return in_newest(body),
            Door::Open => &self.open,
            Door::Unready => &self.unready,
            Door::Unknown => "nobody",
        };
        headers.insert("mcp-session-id", HeaderValue::from_str(session).unwrap());
        (headers, body)
    }

    /// Whether it answers a ping; sessions that ended are opened again.
    async fn lives(&mut self) -> Result<(), String> {
        let ping = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#.to_vec();
        let status = self.answer(Door::Open, ping).await?;
        if status == 404 {
            self.open = self.bench.open_session().await;
        }
        self.unready = Self::unready(&self.bench).await;
        let whole = self.bench.text(&self.witness, "ping", json!({})).await;
        if parse(&whole)["result"] == json!({}) { Ok(()) } else { Err(whole) }
    }
}

/// A message with what the newest revision wants around it, as far as that is possible.
fn in_newest(body: Vec<u8>) -> (HeaderMap, Vec<u8>) {
    let mut headers = HeaderMap::new();
    headers.insert("mcp-protocol-version", HeaderValue::from_static(NEWEST));
    let Ok(Value::Object(mut message)) = serde_json::from_slice(&body) else {
        return (headers, body);
    };
    if let Some(params @ Value::Object(_)) = message.get_mut("params") {
        *params = newest(params.take());
    }
    let message = Value::Object(message);
    let name = message.pointer("/params/name").or(message.pointer("/params/uri"));
    for (header, value) in [("mcp-method", message.get("method")), ("mcp-name", name)] {
        let value = value.and_then(Value::as_str).and_then(|value| HeaderValue::from_str(value).ok());
        headers.extend(value.map(|value| (HeaderName::from_static(header), value)));
    }
    (headers, message.to_string().into_bytes())
}

fn config() -> Config {
    Config { cases: CASES, failure_persistence: None, max_shrink_iters: 200, ..Config::default() }
}

#[test]
fn whatever_is_posted_is_answered() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let target = std::cell::RefCell::new(runtime.block_on(Target::new()));
    let statuses = std::cell::RefCell::new(std::collections::BTreeMap::<u16, usize>::new());
    let doors = select(vec![Door::None, Door::Open, Door::Open, Door::Unready, Door::Unknown, Door::Newest]);
    let outcome = TestRunner::new(config()).run(&(doors, body()), |(door, body)| {
        let mut target = target.borrow_mut();
        let text = String::from_utf8_lossy(&body).chars().take(400).collect::<String>();
        let status = runtime.block_on(async {
            let status = target.answer(door, body).await?;
            target.lives().await.map(|()| status)
        });
        let status = status.map_err(|why| TestCaseError::fail(format!("{why}: {door:?} {text}")))?;
        *statuses.borrow_mut().entry(status).or_default() += 1;
        Ok(())
    });
    println!("answers by HTTP status: {:?}", statuses.borrow());
    outcome.unwrap_or_else(|error| panic!("{error}"));
    runtime.block_on(target.into_inner().bench.stop());
}

#[test]
fn every_request_in_words_comes_to_an_end() {
    let catalog = Catalog::new(&MethodSelection { with_lifecycle: true, ..MethodSelection::default() });
    let words = vec(prop_oneof![name(), string()], 0..8).prop_map(|words| words.join(" "));
    TestRunner::new(Config { cases: CASES / 4, ..config() })
        .run(&words, |query| {
            let found = catalog.find(&query).unwrap_or_default();
            prop_assert!(found.methods.len() <= 4);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_argument_is_checked_to_an_end() {
    let calls = name()
        .prop_filter_map("no method", |name| ApiTable::get().method(&name))
        .prop_flat_map(|method| (Just(method), arguments_of(method.name.clone())));
    TestRunner::new(Config { cases: 4 * CASES, ..config() })
        .run(&calls, |(method, args)| {
            let args: Map<String, Value> = args.as_object().cloned().unwrap_or_default();
            let checked = check(method, &args);
            let told = checked.map_err(|fault| fault.to_string());
            prop_assert!(told.err().is_none_or(|fault| !fault.is_empty()));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
