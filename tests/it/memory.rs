//! What the server of tools holds in memory when it is sent what costs much. Run with `--nocapture` for the figures.

use std::collections::BTreeMap;

use reqwest::{Client, StatusCode};
use serde_json::json;

use crate::support::server::{Pipes, environment};
use crate::support::wait::eventually;
use crate::support::{World, proc};

/// The most at any moment, in MiB.
const MAX_PEAK: usize = 150;
/// The most that stays, in MiB.
const MAX_SETTLED: usize = 60;

struct Target {
    pipes: Pipes,
    http: Client,
    url: String,
}

impl Target {
    async fn start(world: &World) -> Self {
        let mut variables: BTreeMap<_, _> = environment(&world.telegram);
        variables.insert("RUST_LOG", "error".to_owned());
        let mut pipes = Pipes::start(&[], &variables);
        let line = pipes.line().await.expect("it is ready");
        let url = line.strip_prefix("READY ").unwrap().to_owned();
        // Another test of this process may have been first.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self { pipes, http: Client::builder().no_proxy().build().unwrap(), url }
    }

    async fn post(&self, session: Option<&str>, body: String) -> reqwest::Response {
        let request = self.http.post(&self.url).header("content-type", "application/json").body(body);
        let request = request.header("accept", "application/json, text/event-stream");
        let session = session.map(|id| ("mcp-session-id", id));
        session
            .into_iter()
            .fold(request, |request, (name, id)| request.header(name, id))
            .send()
            .await
            .unwrap()
    }

    async fn session(&self) -> String {
        let info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
        let response = self.post(None, hello.to_string()).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(Some(&session), ready.to_string()).await;
        session
    }

    /// Sends a body from so many clients at once; all get the same answer.
    async fn attack(&self, clients: usize, body: &str, wanted: StatusCode) {
        let client = async || {
            let session = self.session().await;
            let response = self.post(Some(&session), body.to_owned()).await;
            assert_eq!(response.status(), wanted);
            response.bytes().await.unwrap();
        };
        futures::future::join_all((0..clients).map(|_| client())).await;
        println!("{clients} x {} kB: {wanted}, {}", body.len() / 1000, self.figures());
    }

    /// Its memory now and at most, in MiB.
    fn memory(&self) -> (usize, usize) {
        let field = |name: &str| proc::status(self.pipes.pid(), name) / 1024;
        (field("VmRSS"), field("VmHWM"))
    }

    fn figures(&self) -> String {
        let (now, peak) = self.memory();
        format!("now {now} MiB, at most {peak} MiB")
    }
}

/// A call with so many tiny values.
fn tiny(bytes: usize) -> String {
    let items = vec![r#"{"a":0}"#; bytes / 8].join(",");
    let message =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"getMe","arguments":{"x":["#;
    format!("{message}{items}]}}}}}}")
}

#[tokio::test]
async fn bodies_made_to_cost_memory_do_not_and_what_was_taken_goes_back() {
    let world = World::new().await;
    let target = Target::start(&world).await;
    println!("at the start: {}", target.figures());
    target.attack(1, &tiny(14_800_000), StatusCode::PAYLOAD_TOO_LARGE).await;
    target.attack(16, &tiny(1_000_000), StatusCode::PAYLOAD_TOO_LARGE).await;
    // The most that is let in.
    target.attack(16, &tiny(53_000), StatusCode::OK).await;
    eventually(|| target.figures(), async || (target.memory().0 < MAX_SETTLED).then_some(())).await;
    assert!(target.memory().1 < MAX_PEAK, "{}", target.figures());
}
