//! The real `figaro-mcp` as a process of the test: over HTTP with an open MCP session, or by its pipes.

use std::collections::BTreeMap;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use figaro_base::secret::SecretString;
use figaro_mcp_client::client::{Connection, ToolCallOutput};
use figaro_offline::telegram::OfflineTelegram;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::TIMEOUT;

/// The key a server asks of its parent.
const PARENT_KEY: &str = "the-key-of-this-parent";

/// A running server that speaks HTTP; killed when dropped.
pub struct Server {
    pub pipes: Pipes,
    connection: Connection,
}

/// A running process with its three pipes; killed when dropped.
pub struct Pipes {
    child: Child,
    /// A supervised server, and one on standard input, ends once this is gone.
    pub stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
}

/// The environment of a server: the bot of an offline Telegram, any free port, and nothing of the machine's own.
pub fn environment(telegram: &OfflineTelegram) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("TELEGRAM_BOT_TOKEN", telegram.token().to_owned()),
        ("TELEGRAM_API_URL", telegram.url().to_owned()),
        ("MCP_HTTP_PORT", "0".to_owned()),
    ])
}

impl Server {
    /// A server that paces nothing, as under Figaro.
    pub async fn supervised(telegram: &OfflineTelegram) -> Self {
        let mut environment = environment(telegram);
        environment.insert("FIGARO_MCP_KEY", PARENT_KEY.to_owned());
        // Nobody reads its log before the end, and a full pipe would stop it.
        environment.insert("RUST_LOG", "error".to_owned());
        Self::start(&["--supervised", "--with-lifecycle"], &environment).await
    }

    /// Starts one and opens a session.
    pub async fn start(args: &[&str], environment: &BTreeMap<&'static str, String>) -> Self {
        let mut pipes = Pipes::start(args, environment);
        let line = pipes.line().await.expect("it is ready");
        let url = line.strip_prefix("READY ").unwrap_or_else(|| panic!("{line}"));
        // The second test of a process finds it installed.
        drop(rustls::crypto::ring::default_provider().install_default());
        let connection = Connection::open(url, &SecretString::from(PARENT_KEY)).await.unwrap();
        Self { pipes, connection }
    }

    /// Calls a tool with these arguments, an object.
    pub async fn call(&self, tool: &str, arguments: &Value) -> ToolCallOutput {
        let calling = self.connection.call(None, tool, arguments.as_object().unwrap().clone());
        let answer = tokio::time::timeout(TIMEOUT, calling).await.expect("an answer in time");
        answer.unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    }
}

impl Pipes {
    pub fn start(args: &[&str], environment: &BTreeMap<&'static str, String>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_figaro-mcp"));
        command.args(args).env_clear().envs(environment).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, stdout }
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// The next line of its standard output; `None` at the end.
    pub async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(TIMEOUT, self.stdout.next_line()).await;
        line.expect("a line in time").unwrap()
    }

    /// How it ended, and what is left on its standard output and error.
    pub async fn ended(mut self) -> (ExitStatus, Vec<String>, String) {
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        let ending = async {
            let mut rest = Vec::new();
            while let Some(line) = self.stdout.next_line().await.unwrap() {
                rest.push(line);
            }
            stderr.read_to_string(&mut errors).await.unwrap();
            (self.child.wait().await.unwrap(), rest)
        };
        let ended = tokio::time::timeout(TIMEOUT + Duration::from_secs(5), ending).await;
        let (status, rest) = ended.expect("it ends");
        (status, rest, errors)
    }
}
