//! Questions and answers on standard input and output, with or without a terminal.

use std::io::{IsTerminal, stdin};

use futures::StreamExt;
use futures::stream::LocalBoxStream;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use crate::app::failure::StartupError;
use crate::app::terminal::{prompt, say};
use figaro_base::system::in_words;

/// Asks questions until a stop signal ends the dialogue.
pub(super) struct Dialogue {
    lines: Lines<BufReader<Stdin>>,
    stops: LocalBoxStream<'static, ()>,
    on_terminal: bool,
}

impl Dialogue {
    /// Creates a dialogue that the first of `stops` ends.
    pub(super) fn new(stops: LocalBoxStream<'static, ()>) -> Self {
        let lines = BufReader::new(tokio::io::stdin()).lines();
        Self { lines, stops, on_terminal: stdin().is_terminal() }
    }

    /// Returns `true` if standard input is a terminal.
    pub(super) const fn is_at_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Asks a question. Returns the trimmed answer; `None` for Enter alone.
    ///
    /// # Errors
    /// When the dialogue ends.
    pub(super) async fn ask(&mut self, question: &str) -> Result<Option<String>, StartupError> {
        prompt(question)?;
        let line = self.line().await?;
        if !self.on_terminal {
            // Without a terminal no typed Enter ends the line.
            say("");
        }
        let text = line.trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// Like [`Self::ask`], but hides the typed text.
    ///
    /// # Errors
    /// When the dialogue ends.
    pub(super) async fn ask_secret(&mut self, question: &str) -> Result<Option<String>, StartupError> {
        let unseen = Unseen::begin();
        let answer = self.ask(question).await;
        drop(unseen);
        answer
    }

    /// Waits for `work`.
    ///
    /// # Errors
    /// When the dialogue ends first.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, StartupError> {
        tokio::select! {
            done = work => Ok(done),
            _ = self.stops.next() => Err(stopped()),
        }
    }

    async fn line(&mut self) -> Result<String, StartupError> {
        let line = tokio::select! {
            line = self.lines.next_line() => line,
            _ = self.stops.next() => return Err(stopped()),
        };
        match line {
            Ok(Some(line)) => Ok(line),
            Ok(None) => Err(ended("the input ended before all was answered")),
            Err(error) => Err(ended(&format!("the input cannot be read ({})", in_words(&error)))),
        }
    }
}

fn stopped() -> StartupError {
    ended("the setup was ended")
}

fn ended(why: &str) -> StartupError {
    // Ends the line of the question.
    say("");
    StartupError(format!("{why}; nothing was written"))
}

/// Hides typed text on the terminal, except for the newline, until dropped.
struct Unseen(Termios);

impl Unseen {
    /// Returns `None` if standard input is no terminal or the mode cannot be changed.
    fn begin() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        unseen.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(stdin(), OptionalActions::Now, &unseen).ok()?;
        Some(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        tcsetattr(stdin(), OptionalActions::Now, &self.0).unwrap_or_default();
    }
}
