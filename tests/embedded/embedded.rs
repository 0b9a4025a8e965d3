//! The bot within the test's own process, as a program that embeds it runs it: with additions.

use std::collections::HashMap;

use figaro::app::{self, Additions, AppFailure};
use figaro_config::Settings;
use futures::stream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::support::bot::Recipe;
use crate::support::{TIMEOUT, World};

/// A running bot; it ends with the test.
pub struct Embedded {
    stop: oneshot::Sender<()>,
    running: JoinSet<()>,
}

impl Embedded {
    /// Starts it and waits until it has told Telegram its commands.
    pub async fn start(world: &World, recipe: Recipe, additions: Additions) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let settings = settings(world, recipe, &additions);
        let (stop, stopped) = oneshot::channel::<()>();
        let mut running = JoinSet::new();
        running.spawn(async move {
            let stops = Box::pin(stream::once(async move { drop(stopped.await) }));
            app::run_with(&settings, stops, &additions).await.unwrap();
        });
        world
            .see("the list of commands", |view| {
                view.calls_of("setMyCommands").iter().any(|call| call.ok).then_some(())
            })
            .await;
        Self { stop, running }
    }

    /// Starts one that refuses to, and gives why. Its settings are read with the additions of `read`, and it starts with
    /// those of `run`.
    pub async fn refused(world: &World, recipe: Recipe, read: &Additions, run: &Additions) -> AppFailure {
        drop(rustls::crypto::ring::default_provider().install_default());
        let settings = settings(world, recipe, read);
        let running = app::run_with(&settings, stream::pending(), run);
        tokio::time::timeout(TIMEOUT, running).await.expect("it refuses").unwrap_err()
    }

    /// Tells it to stop, and waits for its end.
    pub async fn end(mut self) {
        self.stop.send(()).unwrap();
        let ended = tokio::time::timeout(TIMEOUT, self.running.join_next()).await;
        ended.expect("it ends").unwrap().unwrap();
    }
}

/// The settings of a bot of the world, with its store in the world's folder.
fn settings(world: &World, recipe: Recipe, additions: &Additions) -> Settings {
    let recipe = recipe
        .set("MCP_SERVER_BIN", env!("CARGO_BIN_EXE_figaro-mcp"))
        .set("STORE_URL", &world.store_url().to_string());
    let values: HashMap<String, String> = recipe.variables().clone().into_iter().collect();
    app::settings(&values, additions).unwrap()
}
