//! What the Telegram tools cost: tokens of what a prompt carries against all methods (o200k_base, of the JSON as it is
//! sent), the time in which the rules decide about a call, the time to list them, what a call through the server takes beyond a direct one, and the server's memory.
//! The real release binaries against the offline Telegram: `cargo bench --bench tools`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use figaro_base::ids::ChatId;
use figaro_mcp::table::ApiTable;
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, OfflineModel, ReplyScript};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use figaro_policy::address::Addresses;
use figaro_policy::tools::{CallerRole, Decision, Rules, TelegramCall, decide};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use support::{OWNER, Sizes, listener, start_bot};

const KEY: &str = "bench-key";
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
const LISTS: usize = 20;
const CALLS: usize = 3000;
const SEARCHES: usize = 200;
const DECISIONS: u32 = 20_000;
/// Until answers are no longer kept.
const REST: Duration = Duration::from_secs(12);

type Client = RunningService<RoleClient, ()>;

#[tokio::main]
async fn main() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
    telegram.add_user(Person::new(OWNER, "Ann"));
    telegram.add_private(OWNER).unwrap();

    let offered = offered(&telegram, &runtime).await;
    let (mut server, url) = start_server(&telegram);
    let at_start = Sizes::of(server.id());
    let client = connect(&url).await;
    let all = client.list_all_tools().await.unwrap();
    tokens(&offered, &all);
    decisions();
    lists(&client).await;
    searches(&client).await;
    calls(&telegram, &client).await;
    memory(at_start, &client, server.id()).await;
    drop(client);
    server.kill().unwrap();
    server.wait().unwrap();
    runtime.stop();
}

/// The tools of the first request that the bot makes to its model.
async fn offered(telegram: &OfflineTelegram, runtime: &Runtime) -> Vec<Value> {
    let script = ReplyScript::new();
    script.push(ModelReply::text("Hello!"));
    let model = OfflineModel::start(listener().await, Arc::new(script), runtime).unwrap();
    telegram.say(OWNER, OWNER, "hello").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut bot = start_bot(telegram, &model, folder.path());
    let answered =
        telegram.wait_until(WAIT_TIMEOUT, |view| (!view.bot_messages(OWNER).is_empty()).then_some(())).await;
    answered.expect("the bot answers");
    bot.kill().unwrap();
    bot.wait().unwrap();
    model.requests()[0].body["tools"].as_array().unwrap().clone()
}

/// How long the rules take to decide about a message here, and about one that no early rule is about, behind many rules of an
/// owner's that look at it.
fn decisions() {
    let own: String = (0..100)
        .map(|at| {
            format!(
                "  - {{name: a{at}, method: \"send*\", chat: {}, role: admin, then: allow}}\n",
                -1000 - at
            )
        })
        .collect();
    let many = Rules::read(&format!("rules:\n{own}")).unwrap();
    let method = ApiTable::get().method("sendMessage").unwrap();
    let args = json!({"chat_id": -5, "text": "Good morning!", "reply_markup": {"inline_keyboard": [[{"text": "a", "url": "https://example.org"}]]}});
    let addresses = Addresses::default();
    let call = TelegramCall {
        method,
        args: args.as_object().unwrap(),
        here: ChatId(-5),
        speaker: None,
        role: CallerRole::Member,
        agent: None,
        task: false,
        own: None,
        figaros: false,
        files: &[],
        addresses: &addresses,
        read: None,
        resolved: &[],
    };
    for (words, rules) in
        [("the rules built in", &*Rules::built_in()), ("100 rules of the owner's before them", &many)]
    {
        let start = Instant::now();
        for _ in 0..DECISIONS {
            assert_eq!(decide(rules, std::hint::black_box(&call)).decision, Decision::Allow);
        }
        println!("a decision, {words}: {:?}", start.elapsed() / DECISIONS);
    }
}

fn tokens(offered: &[Value], all: &[Tool]) {
    let words = tiktoken_rs::o200k_base().unwrap();
    let count = |value: &Value| words.encode_ordinary(&value.to_string()).len();
    let telegram = |tool: &&Value| {
        // What the provider hosts has no name.
        let name = tool["name"].as_str().unwrap_or_default();
        name == "find_tools" || all.iter().any(|known| known.name == name)
    };
    let core: Vec<&Value> = offered.iter().filter(telegram).collect();
    let as_function = |tool: &Tool| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema});
    println!("tokens of tools, as JSON in o200k_base (target: the Telegram tools of a prompt under 2,500)");
    println!("  {:>3} of a prompt       {:>7}", offered.len(), count(&json!(offered)));
    println!("  {:>3} of them Telegram's{:>7}", core.len(), count(&json!(core)));
    println!("  {:>3} the whole server's{:>7}", all.len(), count(&all.iter().map(as_function).collect()));
}

async fn lists(client: &Client) {
    let mut times = Vec::new();
    for _ in 0..LISTS {
        let began = Instant::now();
        drop(client.list_all_tools().await.unwrap());
        times.push(began.elapsed());
    }
    println!("listing all tools, page by page, {LISTS} times");
    println!("  {}", spread(times));
}

async fn searches(client: &Client) {
    let mut times = Vec::new();
    for at in 0..SEARCHES {
        let query = ["kick someone", "make a poll", "change group picture", "who is admin here"][at % 4];
        let arguments = json!({"query": query}).as_object().unwrap().clone();
        let began = Instant::now();
        let asked = CallToolRequestParams::new("find_telegram_methods").with_arguments(arguments);
        drop(client.call_tool(asked).await.unwrap());
        times.push(began.elapsed());
    }
    println!("one search, {SEARCHES} times");
    println!("  {}", spread(times));
}

/// Direct calls and calls through the server take turns, so that both meet the same noise.
async fn calls(telegram: &OfflineTelegram, client: &Client) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/bot{}/getMe", telegram.url(), telegram.token());
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let began = Instant::now();
        let answer: Value = http.post(&url).json(&json!({})).send().await.unwrap().json().await.unwrap();
        direct.push(began.elapsed());
        assert_eq!(answer["ok"], true);
        let began = Instant::now();
        let result = client.call_tool(CallToolRequestParams::new("getMe")).await.unwrap();
        through.push(began.elapsed());
        assert_eq!(result.is_error, Some(false));
    }
    direct.sort();
    through.sort();
    let added = ms(through[CALLS / 2]) - ms(direct[CALLS / 2]);
    println!("one call of getMe, {CALLS} of each kind in turn (target: under 1 ms added at p50)");
    println!("  direct              {}", spread(direct));
    println!("  through the server  {}", spread(through));
    println!("  added at p50        {added:.2} ms");
}

/// Answers are kept for a while, for clients whose connection broke.
async fn memory(start: Sizes, client: &Client, server: u32) {
    let busy = Sizes::of(server);
    tokio::time::sleep(REST).await;
    drop(client.call_tool(CallToolRequestParams::new("getMe")).await.unwrap());
    println!("memory of figaro-mcp (target: under 15 MB)");
    start.print("at its start");
    busy.print("after all this");
    Sizes::of(server).print("12 s later");
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| ms(times[(times.len() - 1) * share / 100]);
    format!("min {:.2} ms   p50 {:.2} ms   p99 {:.2} ms", at(0), at(50), at(99))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Supervised, so that it leaves pacing to its parent; and the address it says.
fn start_server(telegram: &OfflineTelegram) -> (Child, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_figaro-mcp"))
        .arg("--supervised")
        .env_clear()
        .envs([
            ("TELEGRAM_BOT_TOKEN", telegram.token()),
            ("TELEGRAM_API_URL", telegram.url()),
            ("MCP_HTTP_PORT", "0"),
            ("FIGARO_MCP_KEY", KEY),
            ("RUST_LOG", "error"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.take().unwrap()), &mut line)
        .unwrap();
    (server, line.trim().strip_prefix("READY ").unwrap().to_owned())
}

async fn connect(url: &str) -> Client {
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(KEY);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    ().serve(StreamableHttpClientTransport::with_client(http, config)).await.unwrap()
}
