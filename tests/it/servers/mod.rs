//! Other MCP servers: agents have the tools that they list, an owner approves each call that no rule opens, and a server that
//! misbehaves fails its own calls and nothing else.

mod after_reading;
mod approvals;
mod foreign;
mod keeping;
mod misbehaving;
mod odd;
mod odd_http;
mod offered;
mod results;
mod rules;

use std::fs;
use std::path::Path;

use figaro_offline::model::{ModelReply, ModelRequest};
use serde_json::{Value, json};

use crate::parking::call;
use crate::support::scene::{labels, text};
use crate::support::{ANN, Bot, TIMEOUT, World, proc};

const MAY_I: &str = "May I do this?";

/// A variable of the environment of the tests.
#[expect(clippy::disallowed_methods, reason = "where programs are is known to the machine alone")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_unset| panic!("{name} is not set"))
}

/// The server of the tests, in this mode.
fn server(mode: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/servers/server.py");
    json!({"command": "python3", "args": [script, mode]})
}

/// The description of a server, with these keys changed.
fn with(mode: &str, keys: Value) -> Value {
    let mut server = server(mode);
    let keys = keys.as_object().unwrap().clone();
    server.as_object_mut().unwrap().extend(keys);
    server
}

/// The file of an agent called `helper` with these tools.
fn helper(tools: &str) -> String {
    format!(
        "type: object\ndescription: Be helpful.\njson_schema_extra:\n  kind: agent\n  name: helper\n  version: 1\n  tools: [{tools}]\n"
    )
}

impl World {
    /// Describes these servers in `mcp.json`.
    fn servers(&self, servers: Value) {
        let text = json!({"mcpServers": servers}).to_string();
        fs::write(self.folder.path().join("mcp.json"), text).unwrap();
    }

    /// The server of the tests, with the folder of this world among its arguments, by which its processes are found.
    fn marked(&self, mode: &str) -> Value {
        let mut server = server(mode);
        server["args"].as_array_mut().unwrap().push(json!(self.folder.path()));
        server
    }

    /// Whether no process of such a server is left.
    async fn no_server_is_left(&self) {
        proc::none_has(&self.folder.path().to_string_lossy()).await;
    }

    /// A bot for everybody with these servers and an agent that has these tools and answers everywhere.
    async fn helped(&self, servers: Value, tools: &str) -> Bot {
        self.servers(servers);
        let default = helper(tools).replace("name: helper", "name: default");
        self.agent("default.yaml", &default);
        self.helped_as_before().await
    }

    /// The same with the servers and the agent of before.
    async fn helped_as_before(&self) -> Bot {
        let bot = self.bot().set("ACCESS", "open").set("PATH", &variable("PATH")).spawn();
        bot.ready().await;
        bot
    }

    /// Somebody has the model call a tool; gives the next request, which has the result.
    fn calls(&self, from: i64, said: &str, name: &str, arguments: Value) {
        self.when(said, ModelReply::turn(vec![call(name, arguments)]));
        self.when(said, ModelReply::text(&format!("End of {said}.")));
        self.say(from, from, said);
    }

    /// The result of the call that was asked for with these words.
    async fn result_of(&self, said: &str) -> Value {
        let find = |requests: &[ModelRequest]| {
            let request = requests.iter().rev().find(|request| request.user_text().contains(said))?;
            let (_, output) = request.tool_results().pop()?;
            Some(serde_json::from_str(&output).unwrap_or_else(|_| json!(output)))
        };
        let found = self.model.wait_until(TIMEOUT, find).await;
        found.unwrap_or_else(|| panic!("no result of {said}"))
    }

    /// Calls a tool as Ann, who approves it.
    async fn approved(&self, said: &str, name: &str, arguments: Value) -> Value {
        self.calls(ANN, said, name, arguments);
        let card = self.asks_to_approve(ANN).await;
        self.press(ANN, &card, "✓ Once").await;
        let result = self.result_of(said).await;
        self.ends_for_ann(said).await;
        result
    }

    /// Waits for the answer to what Ann had the model do.
    async fn ends_for_ann(&self, said: &str) {
        self.see("the end", |view| {
            let all = view.bot_messages(ANN);
            all.into_iter().any(|m| text(m) == format!("End of {said}.")).then_some(())
        })
        .await;
    }

    /// The newest card of a chat that still has its buttons.
    async fn asks_to_approve(&self, chat: i64) -> Value {
        self.see("a call to approve", |view| {
            let all = view.bot_messages(chat);
            let open =
                |m: &&Value| text(m).contains(MAY_I) && labels(m).iter().any(|label| label == "✗ Deny");
            all.into_iter().rfind(open).cloned()
        })
        .await
    }
}
