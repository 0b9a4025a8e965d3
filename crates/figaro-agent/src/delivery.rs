//! Ports of a turn: the events it publishes while it works, and the delivery of its answer. `turn` uses both; `telegram`
//! shows the events and delivers.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use figaro_base::ids::{RunId, UserId};
use figaro_domain::chat::Place;
use figaro_domain::child::ChildEnd;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::language::ByLanguage;
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::observation::Observation;
use figaro_domain::origin::Origin;
use figaro_domain::tool::{Call, StatusKey, ToolStatus};
use figaro_domain::usage::Usage;

/// An event of a running turn. Events are not stored.
#[derive(Debug, Clone)]
pub struct TurnEvent {
    /// Id of the turn.
    pub run: RunId,
    /// Kind of the event, with its details.
    pub kind: TurnEventKind,
}

/// Kinds of events, in the order in which they occur.
#[derive(Debug, Clone)]
pub enum TurnEventKind {
    /// The turn begins. First event of a turn, also after a restart or a person's answer.
    Started {
        /// Origin of the question. Nobody waits for a task's run, so it gets no preview.
        origin: Origin,
        /// Chat and topic of the answer.
        place: Place,
        /// IETF language tag of the person's client.
        language: Option<String>,
    },
    /// `stream:delta`: more text of the current pass.
    Delta(String),
    /// The pass ended with calls or is rewritten. Its text was no answer, except what other agents said to the person.
    PassEnded {
        /// Text of the other agents; the next pass begins with it.
        kept: String,
    },
    /// `tool:start`. Calls of unknown tools publish nothing.
    ToolStarted {
        /// The call as the model made it. Calls of a provider's own search have no id.
        call: Call,
        /// Key of the status text shown meanwhile.
        status: StatusKey,
        /// Most telling argument, for a status line.
        hint: Option<String>,
    },
    /// `tool:complete`. A call ended, successfully or not.
    ToolEnded {
        /// The call as the model made it.
        call: Call,
        /// Outcome of the call.
        status: ToolStatus,
        /// Result as JSON text. Untrusted data.
        result: String,
        /// Duration of the call in milliseconds.
        duration_ms: u64,
    },
    /// `action`: the model noted an observation about its answer.
    Action {
        /// The observation, as this call gave it.
        observation: Box<Observation>,
    },
    /// `memory:update`: memories were extracted from a person's messages. May come after the turn has ended.
    MemoryUpdated {
        /// Person the memories are about.
        user: UserId,
        /// Number of memories added.
        added: usize,
        /// Number of memories reworded.
        changed: usize,
        /// Number of memories removed.
        removed: usize,
    },
    /// An event of a child agent that does not speak to the person. Events of other children are published as the turn's
    /// own.
    Child {
        /// Id of the child's run.
        child: RunId,
        /// Name of the child's agent.
        agent: String,
        /// The child's event.
        event: ChildEvent,
    },
    /// `stream:complete`: the turn is over. [`Delivery`] delivers its answer.
    Ended,
    /// Result of the turn, once stored and delivered. Last event of a turn. A turn that waits for a person or continues
    /// later has none.
    Closed(Box<TurnClosing>),
}

/// Result of a turn: outcome, text and usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnClosing {
    /// Outcome of the turn: answered, stopped or failed.
    pub ending: TurnEnding,
    /// Text of the last model pass, without Figaro's additions; empty if there was none.
    pub(crate) text: String,
    /// Model that wrote the text; `None` if none did.
    pub model: Option<ModelName>,
    /// Token usage of all passes.
    pub usage: Usage,
    /// `true` if the answer was cut at its length limit.
    pub is_cut: bool,
}

impl TurnClosing {
    /// Returns the whole answer: the model's text, or the delivered words if they begin with it and continue.
    #[must_use]
    pub fn whole(&self, delivered: &str) -> String {
        // Programs get the raw text: the chat version wraps JSON in a code block and marks a cut answer at its end.
        let has_more = !self.is_cut && (self.text.is_empty() || delivered.starts_with(&self.text));
        if has_more { delivered.trim_end() } else { &self.text }.to_owned()
    }
}

/// Events for a requester outside of Telegram.
#[derive(Debug, Clone)]
pub enum OutsideEvent {
    /// An event of the running turn.
    Event(TurnEvent),
    /// Final words of the turn, in Markdown.
    Words(String),
    /// Reason why the question was rejected.
    Declined(String),
}

/// Outcome of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnding {
    /// The turn ended with an answer, which may be empty.
    Answered,
    /// A person stopped the turn before its end.
    Stopped,
    /// The turn failed.
    Failed {
        /// Short stable name of the error.
        label: &'static str,
        /// Description of the error for the operator. It may quote a provider.
        reason: String,
        /// Request parameter that no model supports, if it caused the error.
        param: Option<&'static str>,
        /// End of the used-up limit on spending, if it caused the error.
        until: Option<DateTime<Utc>>,
    },
}

/// Events of a child agent. Its calls are published as the turn's own.
#[derive(Debug, Clone)]
pub enum ChildEvent {
    /// The child begins, or resumes after a restart.
    Started,
    /// More text of the current pass, for the requester of the child.
    Delta(String),
    /// The pass ended with calls; its text was no answer.
    PassEnded,
    /// The child ended with this result.
    Ended(ChildEnd),
}

/// Receives the events of all turns in order. Called within the turn, so it must return at once.
pub trait Listener: Debug + Send + Sync {
    /// Handles one event. Must not block; long work is spawned.
    fn hear(&self, event: &TurnEvent);
}

/// Passes events to all listeners. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus(Arc<[Arc<dyn Listener>]>);

impl Bus {
    /// Makes a bus that calls these listeners in this order.
    #[must_use]
    pub fn new(listeners: Vec<Arc<dyn Listener>>) -> Self {
        Self(listeners.into())
    }

    /// Publishes an event of a turn. Returns when all listeners have handled it.
    pub(crate) fn publish(&self, run: RunId, kind: TurnEventKind) {
        let event = TurnEvent { run, kind };
        self.0.iter().for_each(|listener| listener.hear(&event));
    }
}

/// Notifies the bot's owners of faults that only they can fix.
#[async_trait]
pub trait Owners: Debug + Send + Sync {
    /// Sends a text to each owner in private, in the language of that chat. Failures are only logged.
    async fn tell(&self, words: ByLanguage<String>);
}

/// Delivers answers to a chat. Implemented by Telegram; called by turns, parking and recovery.
#[async_trait]
pub trait Delivery: Debug + Send + Sync {
    /// Delivers a reply and records each confirmed part. Returns when the reply is delivered, has failed for good, or the
    /// bot stops. An undelivered rest stays in the outbox for the next start. Cancelling `stop`, as a person's stop does,
    /// ends the delivery for good after the current part.
    async fn deliver(&self, delivery: PendingDelivery, stop: &CancellationToken);

    /// Returns `true` if a finished turn has shown words in a message that stays.
    async fn has_shown(&self, run: RunId) -> bool;

    /// Withdraws what a turn has shown if it ends without words. Failures are only logged; the next start retries.
    async fn withdraw(&self, run: RunId);

    /// Shows that a message could not be answered: with `words` in a private chat, with a reaction in a group. Failures are
    /// only logged.
    async fn decline(&self, message: &Inbound, words: &str);
}
