//! A server that is a program: started with little of our environment, spoken to by its pipes.

use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use super::recipe::{MAX_MESSAGE, ServerRecipe};
use crate::mcp::file::{Program, ServerConfig};
use crate::mcp::guard;
use crate::mcp::lines::{Lines, LogTo, Said};
use crate::secret::ExposeSecret;

/// How long the guard may take to end the program, which has 1.5 s for itself.
const LEAVE: Duration = Duration::from_millis(2500);

/// A program that was started.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) said: Said<ChildStderr>,
    pub(super) transport: AsyncRwTransport<RoleClient, Counted, ChildStdin>,
    /// How many messages were too long, which the transport has thrown away.
    pub(super) too_long: watch::Receiver<u64>,
}

/// Starts a program. What it writes to standard error goes to our log under the name of the server.
///
/// # Errors
/// Why it cannot be started.
pub(super) fn start(
    config: &ServerConfig,
    program: &Program,
    recipe: &ServerRecipe,
) -> Result<Started, String> {
    let mut child = command(program, recipe)
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", program.command))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its pipes are not there".to_owned());
    };
    let redactor = recipe.redactor.and_all(config.secrets());
    let said = Said::new(Lines::new(stderr, redactor), LogTo::server(&config.name));
    let (sender, too_long) = watch::channel(0);
    let counted = Counted { inner: stdout, line: 0, too_long: sender };
    let transport = AsyncRwTransport::new_client(counted, stdin).with_max_line_length(MAX_MESSAGE);
    Ok(Started { child, said, transport, too_long })
}

fn command(program: &Program, recipe: &ServerRecipe) -> Command {
    let mut command = match &recipe.guard {
        Some(guard) => {
            let mut command = Command::new(guard);
            command.arg(guard::SUBCOMMAND).arg(&program.command);
            command
        }
        None => Command::new(&program.command),
    };
    command.args(&program.args).env_clear().envs(recipe.inherited.inherited());
    for (name, value) in &program.env {
        command.env(name, value.expose_secret());
    }
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    // A group of its own: Ctrl-C in a terminal is for the bot, which then ends its servers.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The guard ends by itself when its pipe closes, and then ends the program; one that is killed could not.
    command.kill_on_drop(recipe.guard.is_none());
    command
}

/// Waits for the end of a program whose standard input is closed; kills it if it does not leave.
pub(super) async fn end(name: &str, mut child: Child) {
    if timeout(LEAVE, child.wait()).await.is_err() {
        tracing::warn!(server = name, "an MCP server did not leave in time; killing it");
        if let Err(error) = child.kill().await {
            tracing::error!(%error, server = name, "an MCP server could not be killed");
        }
    }
}

/// Standard output of a program. It notes which lines are too long: the transport throws those away without a word, and
/// whoever waits for the answer in one would wait in vain.
#[derive(Debug)]
pub(super) struct Counted {
    inner: ChildStdout,
    /// The bytes of the line so far.
    line: usize,
    too_long: watch::Sender<u64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = buffer.filled().get(before..).unwrap_or_default();
        for piece in read.split_inclusive(|byte| *byte == b'\n') {
            let was_long = self.line > MAX_MESSAGE;
            self.line = self.line.saturating_add(piece.len());
            if self.line > MAX_MESSAGE && !was_long {
                self.too_long.send_modify(|count| *count += 1);
            }
            if piece.ends_with(b"\n") {
                self.line = 0;
            }
        }
        polled
    }
}
