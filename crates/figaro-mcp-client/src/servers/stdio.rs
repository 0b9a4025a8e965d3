//! A server that is a program: started with little of our environment, spoken to by its pipes.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use super::pace::Paced;
use super::recipe::{MAX_MESSAGE, ServerRecipe};
use crate::file::{Program, ServerConfig};
use crate::guard;
use crate::lines::{Lines, LogTo, Said};
use figaro_base::secret::ExposeSecret;

/// How long the guard may take to end the program, which has 1.5 s for itself.
const LEAVE: Duration = Duration::from_millis(2500);

/// A program that was started.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) said: Said<Paced<ChildStderr>>,
    pub(super) transport: AsyncRwTransport<RoleClient, Counted, Input>,
    /// How many messages were too long, which the transport has thrown away.
    pub(super) too_long: watch::Receiver<u64>,
}

/// The process of a program, and the way to close its standard input.
pub(super) struct Process {
    pub(super) child: Child,
    input: Weak<Mutex<Pipe>>,
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
    let said = Said::new(Lines::new(Paced::new(stderr), redactor), LogTo::server(&config.name));
    let (sender, too_long) = watch::channel(0);
    let counted = Counted { inner: Paced::new(stdout), line: 0, too_long: sender };
    let input = Input(Arc::new(Mutex::new(Pipe { inner: Some(stdin), waiting: None })));
    let process = Process { child, input: Arc::downgrade(&input.0) };
    let transport = AsyncRwTransport::new_client(counted, input).with_max_line_length(MAX_MESSAGE);
    Ok(Started { process, said, transport, too_long })
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

/// Closes the standard input of a program and waits for its end; kills it if it does not leave.
pub(super) async fn end(name: &str, process: Process) {
    let Process { mut child, input } = process;
    // Whoever waits to write to a program that does not read holds it open: the guard would not hear of the end.
    close(&input);
    if timeout(LEAVE, child.wait()).await.is_err() {
        tracing::warn!(server = name, "an MCP server did not leave in time; killing it");
        if let Err(error) = child.kill().await {
            tracing::error!(%error, server = name, "an MCP server could not be killed");
        }
    }
}

/// Standard input of a program. It can be closed while somebody waits to write to it.
#[derive(Debug)]
pub(super) struct Input(Arc<Mutex<Pipe>>);

#[derive(Debug)]
struct Pipe {
    inner: Option<ChildStdin>,
    /// Whoever waits to write.
    waiting: Option<Waker>,
}

fn close(input: &Weak<Mutex<Pipe>>) {
    let Some(pipe) = input.upgrade() else { return };
    let waiting = {
        let mut pipe = pipe.lock();
        drop(pipe.inner.take());
        pipe.waiting.take()
    };
    waiting.into_iter().for_each(Waker::wake);
}

impl Input {
    fn poll<T>(
        &self,
        context: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut ChildStdin>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut pipe = self.0.lock();
        let Some(inner) = pipe.inner.as_mut() else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let polled = act(Pin::new(inner), context);
        pipe.waiting = polled.is_pending().then(|| context.waker().clone());
        polled
    }
}

impl AsyncWrite for Input {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(context, |pipe, context| pipe.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(context, |pipe, context| pipe.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(context, |pipe, context| pipe.poll_shutdown(context))
    }
}

/// Standard output of a program. It notes which lines are too long: the transport throws those away without a word, and
/// whoever waits for the answer in one would wait in vain.
#[derive(Debug)]
pub(super) struct Counted {
    inner: Paced<ChildStdout>,
    /// The bytes of the line so far.
    line: usize,
    too_long: watch::Sender<u64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
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
