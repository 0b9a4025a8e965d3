//! Output of a child process: read within bounds, held until the child has started or failed, then logged. Used for
//! the Telegram MCP server and for other servers.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::time::{Instant, timeout};

use figaro_base::secret::Redactor;
use figaro_base::text::{is_unseen, one_line};
use figaro_config::LogFormat;

/// Maximum length of a logged line, in bytes.
const MAX_LINE: usize = 8 * 1024;
/// Bytes that are read past the maximum, so that a secret across the cut is still recognised.
const BEYOND: usize = 8 * 1024;
/// Maximum number of lines held until the child has started or failed.
const MAX_HELD: usize = 100;
/// Maximum length of a secret, in bytes.
const MAX_SECRET_BYTES: usize = 1024;
/// Limits on the log of another server: characters of a line, and lines per `WHILE`.
const MAX_SHOWN: usize = 500;
const MAX_LINES: usize = 200;
const WHILE: Duration = Duration::from_secs(60);

/// Lines of a pipe, limited in length and without secrets.
#[derive(Debug)]
pub(super) struct PipeLines<R> {
    pipe: BufReader<R>,
    redactor: Redactor,
    /// Bytes of the next line that were read so far.
    begun: Vec<u8>,
    is_cut: bool,
}

impl<R: AsyncRead + Unpin> PipeLines<R> {
    /// Reads lines of this pipe. The redactor must know the child's secrets too.
    pub(super) fn new(pipe: R, redactor: Redactor) -> Self {
        Self { pipe: BufReader::new(pipe), redactor, begun: Vec::new(), is_cut: false }
    }

    /// Returns the next line, or `None` at the end. Cancel-safe: bytes read so far are kept.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            let read = self.pipe.fill_buf().await.ok()?;
            if read.is_empty() && self.begun.is_empty() {
                return None;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let piece = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            let room = (MAX_LINE + BEYOND).saturating_sub(self.begun.len());
            self.is_cut |= piece.len() > room;
            self.begun.extend_from_slice(piece.get(..room).unwrap_or(piece));
            let (used, is_over) = (piece.len() + usize::from(end.is_some()), read.is_empty());
            self.pipe.consume(used);
            if end.is_some() || is_over {
                let (line, is_cut) = (std::mem::take(&mut self.begun), std::mem::take(&mut self.is_cut));
                return Some(self.shown(&line, is_cut));
            }
        }
    }

    fn shown(&self, line: &[u8], is_cut: bool) -> String {
        let mut text = self.redactor.clean(String::from_utf8_lossy(line).trim_end());
        // The first half of a secret may stand right before the cut.
        let whole = if is_cut { text.len().saturating_sub(MAX_SECRET_BYTES) } else { text.len() };
        let kept = whole.min(MAX_LINE);
        if kept < text.len() {
            text.truncate(text.floor_char_boundary(kept));
            text.push_str("… (cut)");
        }
        text
    }

    /// Returns the address in the line `READY http://…`, or `None` if the child ends without one. The address must be
    /// on this machine, because the key is sent to it.
    pub(super) async fn ready_url(&mut self) -> Option<String> {
        while let Some(line) = self.next().await {
            if let Some(url) = line.strip_prefix("READY ") {
                return Some(url.trim().to_owned()).filter(|url| is_own(url));
            }
        }
        None
    }
}

/// Returns `true` if the address has the form that our own server reports.
fn is_own(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| {
        url.scheme() == "http" && url.host_str() == Some("127.0.0.1") && url.username().is_empty()
    })
}

/// Output of a child, held until the child has started or failed. Then it is logged, or it explains the failure.
#[derive(Debug)]
pub(super) struct ChildOutput<R> {
    lines: PipeLines<R>,
    /// Lines not logged yet.
    held: VecDeque<String>,
    log: LogTo,
}

impl<R: AsyncRead + Unpin + Send + 'static> ChildOutput<R> {
    pub(super) const fn new(lines: PipeLines<R>, log: LogTo) -> Self {
        Self { lines, held: VecDeque::new(), log }
    }

    /// Reads the output while `other` runs. A child whose pipe is full would block.
    pub(super) async fn during<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        loop {
            tokio::select! {
                outcome = &mut other => return outcome,
                Some(line) = self.lines.next() => self.hold(line),
            }
        }
    }

    /// Returns the last line that is not empty, once the child has ended or `within` is over.
    pub(super) async fn last_words(mut self, within: Duration) -> Option<String> {
        let reading = async {
            while let Some(line) = self.lines.next().await {
                self.hold(line);
            }
        };
        // The lines read so far are enough.
        drop(timeout(within, reading).await);
        self.held.into_iter().rev().find(|line| !line.is_empty())
    }

    /// Logs all lines, now and until the child ends. The task ends with the pipe.
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends with the child's pipe, and must outlast a stop to empty it"
    )]
    pub(super) fn forward(mut self) {
        self.held.drain(..).for_each(|line| self.log.write(&line));
        drop(tokio::spawn(async move {
            while let Some(line) = self.lines.next().await {
                self.log.write(&line);
            }
        }));
    }

    fn hold(&mut self, line: String) {
        self.held.push_back(line);
        if self.held.len() > MAX_HELD
            && let Some(first) = self.held.pop_front()
        {
            self.log.write(&first);
        }
    }
}

#[derive(Debug)]
pub(super) enum LogTo {
    /// Lines are events of our own log, in this format.
    Own(LogFormat),
    /// Lines are output of the server with this name.
    Server(Arc<str>, Flow),
}

impl LogTo {
    /// Returns the destination for the lines of another server.
    pub(super) fn server(name: &str) -> Self {
        Self::Server(name.into(), Flow { since: Instant::now(), lines: 0 })
    }

    fn write(&mut self, line: &str) {
        match self {
            Self::Own(format) => write(line, *format),
            Self::Server(server, flow) => {
                if let Some(left_out) = flow.left_out() {
                    tracing::warn!(%server, left_out, "an MCP server wrote more lines to its log than are kept");
                }
                if flow.takes() {
                    let line: String = line.chars().filter(|c| !c.is_control() && !is_unseen(*c)).collect();
                    tracing::info!(%server, line = one_line(&line, MAX_SHOWN), "an MCP server says something");
                }
            }
        }
    }
}

/// Counter of lines within a `WHILE`.
#[derive(Debug)]
pub(super) struct Flow {
    since: Instant,
    lines: usize,
}

impl Flow {
    /// Returns the number of lines dropped in the last `WHILE`, once it is over.
    fn left_out(&mut self) -> Option<usize> {
        if self.since.elapsed() < WHILE {
            return None;
        }
        let left_out = self.lines.saturating_sub(MAX_LINES);
        *self = Self { since: Instant::now(), lines: 0 };
        Some(left_out).filter(|left_out| *left_out > 0)
    }

    /// Returns `true` if one more line is kept.
    fn takes(&mut self) -> bool {
        self.lines += 1;
        self.lines <= MAX_LINES
    }
}

/// Logs a line of the child.
fn write(line: &str, log: LogFormat) {
    // A log collector reads JSON only, so a line that is not an event is wrapped in one of ours.
    if log == LogFormat::Json && serde_json::from_str::<Map<String, Value>>(line).is_err() {
        tracing::warn!(line, "the Telegram MCP server says something");
        return;
    }
    // The reader of the log may be gone.
    drop(writeln!(io::stderr(), "{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_base::secret::SecretString;

    const SECRET: &str = "sesame-sesame";

    async fn lines(text: &str) -> Vec<String> {
        let redactor = Redactor::new([&SecretString::from(SECRET)]);
        let mut lines = PipeLines::new(text.as_bytes(), redactor);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    #[tokio::test]
    async fn lines_are_bounded_and_hold_no_secret_wherever_they_are_cut() {
        assert_eq!(lines("one\n\ntwo sesame-sesame\r\nend").await, ["one", "", "two [secret]", "end"]);
        assert_eq!(lines("").await, Vec::<String>::new());
        for length in [MAX_LINE, MAX_LINE + BEYOND, 3 * MAX_LINE] {
            for shift in 0..SECRET.len() + 2 {
                let before = "é".repeat((length - shift) / 2);
                let text = format!("{before}{SECRET}{}\nnext\n", "x".repeat(9 * MAX_LINE));
                let lines = lines(&text).await;
                assert_eq!(lines.len(), 2);
                assert!(lines[0].ends_with("(cut)") && lines[0].len() <= MAX_LINE + 20, "{length} {shift}");
                assert!(!lines[0].contains("ses"), "{length} {shift}");
            }
        }
        // What is taken out makes the line short, and the last one is cut.
        let many = lines(&SECRET.repeat(2000)).await;
        assert!(!many[0].contains("ses"), "{}", many[0]);
    }
}
