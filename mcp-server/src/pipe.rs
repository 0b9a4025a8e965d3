//! MCP messages on standard input and output, one a line. Used by `stdio`. The library's own transport does not answer
//! invalid JSON.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::JsonRpcError;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio::sync::Mutex;

use crate::malformed;

/// Transport for the one client that started this process.
pub(crate) struct LinePipe {
    input: BufReader<Stdin>,
    /// Part of a line that was read so far. `receive` may be dropped while it waits for the rest.
    line: Vec<u8>,
    /// Maximum size of a line in bytes. The rest of a longer one is dropped.
    longest: usize,
    is_too_long: bool,
    /// Error to be sent to the client.
    refusal: Option<JsonRpcError>,
    /// `true` until the last error is written.
    is_unwritten: bool,
    output: Arc<Mutex<PipeOutput>>,
}

/// Output with the bytes that are not written yet, so that a dropped future tears no line.
struct PipeOutput {
    stdout: Stdout,
    pending: Vec<u8>,
}

impl LinePipe {
    pub(crate) fn new(longest: usize) -> Self {
        let output = PipeOutput { stdout: tokio::io::stdout(), pending: Vec::new() };
        Self {
            input: BufReader::new(tokio::io::stdin()),
            line: Vec::new(),
            longest,
            is_too_long: false,
            refusal: None,
            is_unwritten: false,
            output: Arc::new(Mutex::new(output)),
        }
    }

    /// Reads up to the end of a line; `false` at the end of the input.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let piece = self.input.fill_buf().await?;
            let (end, is_whole) = match piece.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (piece.len(), piece.is_empty()),
            };
            self.is_too_long |= self.line.len() + end > self.longest;
            if self.is_too_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(piece.get(..end).unwrap_or_default());
            }
            self.input.consume(end);
            if is_whole {
                return Ok(end > 0 || !self.line.is_empty());
            }
        }
    }

    /// Takes the line that was read: a message, or nothing and a refusal.
    fn take_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            self.refusal = Some(malformed::too_long(self.longest));
            return None;
        }
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        match serde_json::from_slice(line) {
            Ok(message) => Some(message),
            Err(error) => {
                tracing::debug!(%error, "a line is not MCP");
                self.refusal = Some(malformed::error(line));
                None
            }
        }
    }

    /// Sends the error for the last line, if there is one.
    async fn refuse(&mut self) -> io::Result<()> {
        if self.refusal.is_none() && !self.is_unwritten {
            return Ok(());
        }
        let mut output = self.output.lock().await;
        if let Some(refusal) = self.refusal.take() {
            self.is_unwritten = true;
            output.add(&refusal)?;
        }
        output.write().await?;
        self.is_unwritten = false;
        Ok(())
    }

    async fn next_message(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        loop {
            self.refuse().await?;
            if !self.read_line().await? {
                return Ok(None);
            }
            if let Some(message) = self.take_message() {
                return Ok(Some(message));
            }
        }
    }
}

impl PipeOutput {
    fn add(&mut self, message: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.pending, message)?;
        self.pending.push(b'\n');
        Ok(())
    }

    async fn write(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            let written = self.stdout.write(&self.pending).await?;
            self.pending.drain(..written);
        }
        self.stdout.flush().await
    }
}

impl Transport<RoleServer> for LinePipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut output = output.lock().await;
            output.add(&item)?;
            output.write().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.next_message().await.unwrap_or_else(|error| {
            tracing::error!(%error, "the client can not be heard");
            None
        })
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.write().await
    }
}
