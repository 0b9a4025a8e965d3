//! The ports between a turn and the outside: the events it publishes while it works, and the delivery of its answer.
//! `turn` uses both; `telegram` shows the events and delivers.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
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

/// An event of a turn, published while the turn runs. Nothing of it is stored.
#[derive(Debug, Clone)]
pub struct TurnEvent {
    /// The turn that it belongs to.
    pub run: RunId,
    /// What happened, with what is known of it.
    pub kind: TurnEventKind,
}

/// What can happen in a turn, in the order in which it happens.
#[derive(Debug, Clone)]
pub enum TurnEventKind {
    /// The turn begins. It is the first event of a turn, also of one that goes on after a restart or a person's answer.
    Started {
        /// The origin of the message it answers. Nobody waits for a task's run, so no preview of it is shown.
        origin: Origin,
        /// The chat and topic it answers in.
        place: Place,
        /// The IETF tag of the language that the person's client speaks.
        language: Option<String>,
    },
    /// `stream:delta`: more text of the pass in progress.
    Delta(String),
    /// The pass ended with calls, or is written anew: its text so far was no answer, but for what other agents have said to the
    /// person.
    PassEnded {
        /// What these have said: the text of the next pass begins with it.
        kept: String,
    },
    /// `tool:start`. A call of an unknown tool publishes nothing.
    ToolStarted {
        /// The call, as the model made it. That of a provider's own search has no id.
        call: Call,
        /// The key of the text that a chat shows meanwhile.
        status: StatusKey,
        /// The argument that says most, for a status line.
        hint: Option<String>,
    },
    /// `tool:complete`. A call has ended, in whatever way.
    ToolEnded {
        /// The call, as the model made it.
        call: Call,
        /// How the call ended.
        status: ToolStatus,
        /// What it gave, as JSON text: data of others.
        result: String,
        /// How long the call took, in milliseconds.
        duration_ms: u64,
    },
    /// `action`: the model has noted something about its answer.
    Action {
        /// What it has noted by this call.
        observation: Box<Observation>,
    },
    /// `memory:update`: what a person said was read for what is to be remembered of them. It may come after the turn is over.
    MemoryUpdated {
        /// The person.
        user: UserId,
        /// So many memories were added.
        added: usize,
        /// So many have other words.
        changed: usize,
        /// So many are remembered no more.
        removed: usize,
    },
    /// Something happened in a child that does not speak to the person. What others do is told as the turn's own.
    Child {
        /// The child.
        child: RunId,
        /// The name of its agent.
        agent: String,
        /// What happened.
        event: ChildEvent,
    },
    /// `stream:complete`: the turn is over. Its answer follows by [`Delivery`].
    Ended,
    /// What the turn has come to, once it was stored and delivered. It is the last event of a turn; none comes of one that waits
    /// for a person or that goes on later.
    Closed(Box<TurnClosing>),
}

/// What a turn has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnClosing {
    /// Whether it has an answer.
    pub ending: TurnEnding,
    /// What the model wrote in its last pass, without what Figaro adds; empty where it wrote nothing.
    pub(crate) text: String,
    /// The model that wrote it; `None` where none did.
    pub model: Option<ModelName>,
    /// The tokens of all its passes.
    pub usage: Usage,
    /// The answer ended at the bound on its length.
    pub is_cut: bool,
}

impl TurnClosing {
    /// The whole answer: what the model wrote, or the words that were delivered where these begin with it and have more.
    #[must_use]
    pub fn whole(&self, delivered: &str) -> String {
        // To a program an answer is what it is: in a chat one that is JSON is a code block, and one that was cut has a mark at its end.
        let has_more = !self.is_cut && (self.text.is_empty() || delivered.starts_with(&self.text));
        if has_more { delivered.trim_end() } else { &self.text }.to_owned()
    }
}

/// What turns tell whoever asked from outside of Telegram.
#[derive(Debug, Clone)]
pub enum OutsideEvent {
    /// What happens while a turn works.
    Event(TurnEvent),
    /// Its words at the end, in Markdown.
    Words(String),
    /// Why a question was not taken up.
    Declined(String),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnding {
    /// With what there was to say.
    Answered,
    /// A person stopped it.
    Stopped,
    /// It failed.
    Failed {
        /// A short stable name for why.
        label: &'static str,
        /// Why, in words for whoever runs Figaro. They may quote what a provider said.
        reason: String,
        /// The parameter of the request that no model can do, where that is why.
        param: Option<&'static str>,
    },
}

/// What can happen in a child, beside its calls, which are told as those of the turn.
#[derive(Debug, Clone)]
pub enum ChildEvent {
    /// It begins, or goes on after a restart.
    Started,
    /// More text of the pass in progress, for whoever asked it.
    Delta(String),
    /// The pass ended with calls: its text so far was no answer.
    PassEnded,
    /// It has ended in this way.
    Ended(ChildEnd),
}

/// Receives the events of all turns, one after the other. It is called within the turn, so it must return at once.
pub trait Listener: Debug + Send + Sync {
    /// Takes one event. Must not block; what takes long is spawned.
    fn hear(&self, event: &TurnEvent);
}

/// Passes each event to every listener. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus(Arc<[Arc<dyn Listener>]>);

impl Bus {
    /// A bus that passes each event to these listeners, in this order.
    #[must_use]
    pub fn new(listeners: Vec<Arc<dyn Listener>>) -> Self {
        Self(listeners.into())
    }

    /// Passes an event of a turn to every listener; returns when all have taken it.
    pub(crate) fn publish(&self, run: RunId, kind: TurnEventKind) {
        let event = TurnEvent { run, kind };
        self.0.iter().for_each(|listener| listener.hear(&event));
    }
}

/// Writes to the bot's owners about faults that only they can repair.
#[async_trait]
pub trait Owners: Debug + Send + Sync {
    /// Sends this text to each owner in private, in the language of that chat. A failure to do so is only logged.
    async fn tell(&self, words: ByLanguage<String>);
}

/// Delivers answers to a chat. Telegram implements it; turns, parking and recovery call it.
#[async_trait]
pub trait Delivery: Debug + Send + Sync {
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
    async fn decline(&self, message: &Inbound, words: &str);
}
