//! The port between a run and the outside: what a run tells while it works, and how its answer leaves. Runs publish;
//! Telegram draws; whoever else wants to know listens too.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::domain::chat::Place;
use crate::domain::delivery::PendingDelivery;
use crate::domain::tool::{StatusKey, ToolStatus};
use crate::ids::{MessageId, RunId};

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub struct TurnEvent {
    /// The run.
    pub run: RunId,
    /// What happened.
    pub kind: TurnEventKind,
}

/// What can happen in a run, in the order it happens.
#[derive(Debug, Clone)]
pub enum TurnEventKind {
    /// It begins.
    Started {
        /// Where.
        place: Place,
        /// The message it answers; none if nobody waits for it, as for a task: then nobody watches it grow, either.
        message: Option<MessageId>,
        /// The IETF tag of the language that the person's client speaks.
        language: Option<String>,
    },
    /// `stream:delta`: more text of the pass in progress.
    Delta(String),
    /// The pass ended with calls, or is written anew: its text so far was no answer.
    PassEnded,
    /// `tool:start`. Not told of a call for which there is no tool.
    ToolStarted {
        /// The tool.
        name: String,
        /// The text that a chat shows meanwhile.
        status: StatusKey,
        /// The argument that says most, for a status line.
        hint: Option<String>,
    },
    /// `tool:complete`.
    ToolEnded {
        /// The tool.
        name: String,
        /// How it ended.
        status: ToolStatus,
        /// How long it took.
        duration_ms: u64,
    },
    /// `stream:complete`: it is over; what it has to say follows by the courier.
    Ended,
}

/// Hears events, one after the other. It is called in the run's own path, so it takes note and returns at once.
pub trait Listener: Debug + Send + Sync {
    /// Takes note of an event.
    fn hear(&self, event: &TurnEvent);
}

/// Passes each event to every listener. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus(Arc<[Arc<dyn Listener>]>);

impl Bus {
    /// A bus with these listeners.
    #[must_use]
    pub fn new(listeners: Vec<Arc<dyn Listener>>) -> Self {
        Self(listeners.into())
    }

    /// Tells everyone.
    pub fn publish(&self, run: RunId, kind: TurnEventKind) {
        let event = TurnEvent { run, kind };
        self.0.iter().for_each(|listener| listener.hear(&event));
    }
}

/// The bot's owners, for what only they can mend.
#[async_trait]
pub trait Owners: Debug + Send + Sync {
    /// Writes to each of them in private. A failure to do so is only logged.
    async fn tell(&self, words: &str);
}

/// Carries answers out.
#[async_trait]
pub trait Courier: Debug + Send + Sync {
    /// Delivers a reply and records each confirmed part; returns when it is delivered, hopeless, or the bot stops.
    /// What was not delivered by then stays in the outbox for the next start. A person's stop, which cancels the
    /// token, ends it for good after the part under way.
    async fn deliver(&self, delivery: PendingDelivery, stop: &CancellationToken);

    /// Whether people have seen words of a turn, which is over, in a message that stays.
    async fn has_shown(&self, run: RunId) -> bool;

    /// Takes back what people have seen of a turn that ends without words. A failure to do so is only logged; the next
    /// start tries again.
    async fn withdraw(&self, run: RunId);

    /// Shows that a message could not be answered: in a private chat by these words, in a group by a reaction. A
    /// failure to do so is only logged.
    async fn decline(&self, place: &Place, message: MessageId, words: &str);
}
