//! Prints a turn: streamed text on standard output and tool calls on standard error, or each event as a JSON line.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, Stdout};

use figaro_agent::delivery::{ChildEvent, OutsideEvent, TurnClosing, TurnEvent, TurnEventKind};
use figaro_base::ids::RunId;
use figaro_domain::tool::{Call, StatusKey, ToolStatus};
use figaro_prompts::texts::{Locales, fill};

/// Default status of tools without their own. Its text mentions a chat, so it is not printed.
const OF_CHAT: StatusKey = StatusKey("tool_telegram");

/// Prints one turn and keeps the events of its end.
#[derive(Debug)]
pub(super) struct Printer {
    out: Stdout,
    as_json: bool,
    locales: Arc<Locales>,
    /// Printed text of the current pass.
    shown: String,
    /// Id of the turn that answers the question; set by the first event.
    pub(super) run: Option<RunId>,
    /// Final text of the turn, with additions by Figaro.
    words: String,
    pub(super) declined: Option<String>,
    pub(super) closing: Option<TurnClosing>,
}

impl Printer {
    pub(super) fn new(as_json: bool, locales: Arc<Locales>) -> Self {
        Self {
            out: tokio::io::stdout(),
            as_json,
            locales,
            shown: String::new(),
            run: None,
            words: String::new(),
            declined: None,
            closing: None,
        }
    }

    /// Prints an event of a working turn; keeps an event of its end.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) async fn tell(&mut self, told: OutsideEvent) -> io::Result<()> {
        match told {
            OutsideEvent::Event(event) => self.event(event).await,
            told => {
                self.note(told);
                Ok(())
            }
        }
    }

    /// Keeps an event of the end of the turn. Prints nothing.
    pub(super) fn note(&mut self, told: OutsideEvent) {
        match told {
            OutsideEvent::Words(words) => self.words = words,
            OutsideEvent::Declined(words) => self.declined = Some(words),
            OutsideEvent::Event(TurnEvent { run, kind: TurnEventKind::Closed(closing) })
                if self.is_own(run) =>
            {
                self.closing = Some(*closing);
            }
            OutsideEvent::Event(_) => {}
        }
    }

    /// Returns `true` if this turn answers the question; `false` for a turn that it started.
    fn is_own(&self, run: RunId) -> bool {
        self.run == Some(run)
    }

    async fn event(&mut self, event: TurnEvent) -> io::Result<()> {
        let TurnEvent { run, kind } = event;
        let is_own = *self.run.get_or_insert(run) == run;
        match kind {
            TurnEventKind::Delta(text) if is_own => self.delta(&text).await,
            TurnEventKind::PassEnded { kept } if is_own => self.end_of_pass(kept).await,
            TurnEventKind::Child { agent, event, .. } => self.child(&agent, &event).await,
            TurnEventKind::ToolStarted { call: Call { name, .. }, status, hint } => {
                let doing = self.doing(&name, status, hint.as_deref());
                match self.as_json {
                    true => {
                        self.line(
                            &json!({"event": "tool_start", "name": name, "status": doing, "hint": hint}),
                        )
                        .await
                    }
                    false => {
                        aside(&doing);
                        Ok(())
                    }
                }
            }
            TurnEventKind::ToolEnded { call, status, duration_ms, .. } => {
                self.tool_ended(&call.name, status, duration_ms).await
            }
            kind @ TurnEventKind::Closed(_) => {
                self.note(OutsideEvent::Event(TurnEvent { run, kind }));
                Ok(())
            }
            TurnEventKind::Started { .. }
            | TurnEventKind::Delta(_)
            | TurnEventKind::PassEnded { .. }
            | TurnEventKind::Action { .. }
            | TurnEventKind::MemoryUpdated { .. }
            | TurnEventKind::Ended => Ok(()),
        }
    }

    async fn delta(&mut self, text: &str) -> io::Result<()> {
        self.shown.push_str(text);
        match self.as_json {
            true => self.line(&json!({"event": "delta", "text": text})).await,
            false => self.print(text).await,
        }
    }

    /// Ends a pass. Text printed before a tool call stays, separated from the next pass by a blank line.
    async fn end_of_pass(&mut self, kept: String) -> io::Result<()> {
        let said = std::mem::replace(&mut self.shown, kept);
        match self.as_json {
            true => self.line(&json!({"event": "pass_end", "kept": self.shown})).await,
            false if said.trim() == self.shown.trim() => Ok(()),
            false => self.print("\n\n").await,
        }
    }

    /// Prints an event of another agent as JSON. Plain output omits it: its text is for the agent that asked.
    async fn child(&mut self, agent: &str, event: &ChildEvent) -> io::Result<()> {
        if !self.as_json {
            return Ok(());
        }
        let line = match event {
            ChildEvent::Started => json!({"event": "agent_start", "agent": agent}),
            ChildEvent::Delta(text) => json!({"event": "agent_delta", "agent": agent, "text": text}),
            ChildEvent::PassEnded => json!({"event": "agent_pass_end", "agent": agent}),
            ChildEvent::Ended(end) => json!({"event": "agent_end", "agent": agent, "outcome": end.word()}),
        };
        self.line(&line).await
    }

    async fn tool_ended(&mut self, name: &str, status: ToolStatus, duration_ms: u64) -> io::Result<()> {
        if self.as_json {
            let ended =
                json!({"event": "tool_end", "name": name, "status": status, "duration_ms": duration_ms});
            return self.line(&ended).await;
        }
        let what = match status {
            ToolStatus::Running | ToolStatus::Complete => return Ok(()),
            ToolStatus::Failed => "failed",
            ToolStatus::Denied => "is not allowed",
            ToolStatus::Unknown => "did not end in time",
        };
        aside(&format!("{name} {what}"));
        Ok(())
    }

    /// Short description of a running tool.
    fn doing(&self, name: &str, status: StatusKey, hint: Option<&str>) -> String {
        let text = self.locales.of(None).get(status.0).filter(|_| status != OF_CHAT);
        let text = text.map(|text| fill(text, &[("hint", hint.unwrap_or("…"))]));
        let text = text.unwrap_or_else(|| name.to_owned());
        text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }

    /// Prints the rest of the answer that was not streamed, and ends the line. Returns the whole answer.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) async fn answer(&mut self, closing: &TurnClosing) -> io::Result<String> {
        let whole = closing.whole(&self.words);
        if self.as_json {
            return Ok(whole);
        }
        match whole.strip_prefix(self.shown.trim()) {
            Some(rest) => {
                // The printed text may end with a newline already.
                let line = if rest.is_empty() && self.shown.ends_with('\n') { "" } else { "\n" };
                self.print(&format!("{rest}{line}")).await?;
            }
            None => self.print(&format!("\n\n{whole}\n")).await?,
        }
        Ok(whole)
    }

    /// Ends the line of an incomplete answer.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) async fn break_off(&mut self) -> io::Result<()> {
        match self.as_json || self.shown.is_empty() || self.shown.ends_with('\n') {
            true => Ok(()),
            false => self.print("\n").await,
        }
    }

    /// Prints the last event if the output is JSON.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) async fn end(&mut self, event: &Value) -> io::Result<()> {
        if self.as_json { self.line(event).await } else { Ok(()) }
    }

    async fn line(&mut self, event: &Value) -> io::Result<()> {
        self.print(&format!("{event}\n")).await
    }

    async fn print(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes()).await?;
        self.out.flush().await
    }
}

/// Prints a progress line to standard error. Ignores write errors.
fn aside(words: &str) {
    drop(writeln!(io::stderr(), "… {words}"));
}
