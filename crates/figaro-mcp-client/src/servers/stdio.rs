//! Server that is a program: started with few of our variables, and reached by its pipes.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufReadExt, AsyncWrite, BufReader, Empty};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use super::lenient::{LenientReader, typed};
use super::pace::Paced;
use super::recipe::{MAX_MESSAGE, ServerRecipe};
use crate::file::{Program, ServerConfig};
use crate::guard;
use crate::lines::{ChildOutput, LogTo, PipeLines};
use figaro_base::secret::ExposeSecret;
use figaro_base::system::in_words;

/// Time for the guard to end the program; it gives the program 1.5 s.
const LEAVE: Duration = Duration::from_millis(2500);

pub(super) struct Started {
    pub(super) process: Process,
    pub(super) said: ChildOutput<Paced<ChildStderr>>,
    pub(super) transport: Pipes,
    /// Number of messages that were skipped because they were too long.
    pub(super) too_long: watch::Receiver<u64>,
}

/// Process of a program, with the handle that closes its standard input.
pub(super) struct Process {
    pub(super) child: Child,
    input: Weak<Mutex<Pipe>>,
}

/// Starts a program. Its standard error goes to our log under the server's name.
///
/// # Errors
/// Reason why the program cannot be started.
pub(super) fn start(
    config: &ServerConfig,
    program: &Program,
    recipe: &ServerRecipe,
) -> Result<Started, String> {
    let mut child = command(program, recipe)
        .spawn()
        .map_err(|error| format!("{} cannot be started: {}", program.command, in_words(&error)))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its pipes are not there".to_owned());
    };
    let redactor = recipe.redactor.and_all(config.secrets());
    let said = ChildOutput::new(PipeLines::new(Paced::new(stderr), redactor), LogTo::server(&config.name));
    let (sender, too_long) = watch::channel(0);
    let input = ServerInput(Arc::new(Mutex::new(Pipe { inner: Some(stdin), waiting: None })));
    let process = Process { child, input: Arc::downgrade(&input.0) };
    let transport = Pipes {
        stdout: BufReader::new(Paced::new(stdout)),
        line: Vec::new(),
        is_over: false,
        too_long: sender,
        reader: LenientReader::default(),
        waiting: VecDeque::new(),
        stdin: AsyncRwTransport::new_client(tokio::io::empty(), input),
    };
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
    // Own process group: Ctrl-C in a terminal is for the bot, which then ends its servers.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The guard ends by itself when its pipe closes, and ends the program first. A killed guard could not do so.
    command.kill_on_drop(recipe.guard.is_none());
    command
}

/// Closes the standard input of a program and waits for it to end. Kills it if it does not end in time.
pub(super) async fn end(name: &str, process: Process) {
    let Process { mut child, input } = process;
    // A writer that waits for a program that does not read would keep the pipe open, and the guard would never see
    // its end.
    close(&input);
    if timeout(LEAVE, child.wait()).await.is_err() {
        tracing::warn!(server = name, "an MCP server did not leave in time; killing it");
        if let Err(error) = child.kill().await {
            tracing::error!(%error, server = name, "an MCP server could not be killed");
        }
    }
}

/// Standard input of a program. It can be closed while a writer waits.
#[derive(Debug)]
pub(super) struct ServerInput(Arc<Mutex<Pipe>>);

#[derive(Debug)]
struct Pipe {
    inner: Option<ChildStdin>,
    /// Waker of the blocked writer.
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

impl ServerInput {
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

impl AsyncWrite for ServerInput {
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

/// Pipes of a program, with the messages on them. A line that is too long is skipped and counted, because a caller
/// waiting for the answer in it would wait in vain.
pub(super) struct Pipes {
    stdout: BufReader<Paced<ChildStdout>>,
    /// Bytes of the next line. A cancelled read is continued from here.
    line: Vec<u8>,
    /// `true` if the line is too long. Its rest is skipped.
    is_over: bool,
    too_long: watch::Sender<u64>,
    reader: LenientReader,
    /// Messages that came together with one that was received.
    waiting: VecDeque<ServerJsonRpcMessage>,
    /// Sends messages. Answers of the program arrive by `stdout`.
    stdin: AsyncRwTransport<RoleClient, Empty, ServerInput>,
}

impl Pipes {
    /// Reads the next line into `line`. Returns `false` at the end of the stream.
    async fn is_read(&mut self) -> bool {
        loop {
            let Ok(read) = self.stdout.fill_buf().await else { return false };
            if read.is_empty() {
                // The last line may have no terminator.
                return !self.line.is_empty();
            }
            let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let piece = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            let length = piece.len();
            if !self.is_over && self.line.len() + length > MAX_MESSAGE {
                self.is_over = true;
                self.line.clear();
                self.too_long.send_modify(|count| *count += 1);
            } else if !self.is_over {
                self.line.extend_from_slice(piece);
            }
            self.stdout.consume(length);
            if end.is_some() && !std::mem::take(&mut self.is_over) {
                return true;
            }
        }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.reader.sent(&message);
        self.stdin.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.waiting.is_empty() && self.is_read().await {
            let messages = self.reader.read(&std::mem::take(&mut self.line), None);
            self.waiting.extend(messages.into_iter().filter_map(typed));
        }
        self.waiting.pop_front()
    }

    async fn close(&mut self) -> io::Result<()> {
        self.stdin.close().await
    }
}
