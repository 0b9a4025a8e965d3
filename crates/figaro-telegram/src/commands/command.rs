//! What a command is: a name, what is said of it, who may give it, what it does, and what its buttons do. The table calls
//! it; nothing else of Figaro knows one command from another.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::asker::Asker;
use super::card::Card;
use crate::callback::Gone;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_base::ids::{MessageId, UpdateId};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// A command that people give with `/name`, and the buttons of its cards.
#[async_trait]
pub trait Command: Debug + Send + Sync {
    /// Its name in lower case, without the slash. No two commands have the same.
    fn name(&self) -> &'static str;

    /// What it does, in a few words, for `/help` and Telegram's list of commands.
    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str;

    /// The heading of `/help` that it stands under; `None` if `/help` does not list it.
    fn group(&self) -> Option<Group>;

    /// Who may give it. Commands of owners are not in Telegram's list of commands, which everybody
    /// sees.
    fn access(&self) -> Access {
        Access::Everybody
    }

    /// Who may press its buttons, where that is not the same.
    fn press_access(&self) -> Access {
        self.access()
    }

    /// Whether its buttons change what holds for the whole chat: then they are for those who may change that, and its card has
    /// none for others.
    fn changes_chat(&self) -> bool {
        false
    }

    /// Whether later messages depend on what it does, so that it is done before they are looked at; then it must not take
    /// long.
    fn is_immediate(&self, _argument: &str) -> bool {
        false
    }

    /// Whether it begins a turn, so that it needs a place in the queue even from an owner.
    fn begins_turn(&self) -> bool {
        false
    }

    /// Does what can be done where there is no room for a message. `false` if that is nothing: then whoever gave it is told
    /// that there is no room.
    fn run_without_room(&self, _message: &Inbound) -> bool {
        false
    }

    /// The code of an invitation to own the bot in what stands behind the command. It is redeemed before the command is
    /// run, also for strangers.
    fn invitation<'a>(&self, _argument: &'a str) -> Option<&'a str> {
        None
    }

    /// Does what it says.
    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError>;

    /// The families of its buttons. No two commands share one.
    fn families(&self) -> &'static [&'static str] {
        &[]
    }

    /// Does what a button of one of its families says.
    async fn press(&self, _press: &Press<'_>) -> Result<Pressed, PressError> {
        Err(PressError::Gone)
    }

    /// The question that a press asks, as [`Self::press`] would ask it, to go on with its turn after a restart; `None` for a
    /// button that asks nothing. It changes nothing.
    fn question(&self, _press: &Press<'_>) -> Option<Question> {
        None
    }
}

/// A command as somebody gave it.
#[derive(Debug)]
pub struct Request<'a> {
    /// Who gave it, and where.
    pub(crate) asker: &'a Asker,
    /// The words behind its name, without space at the ends; [`Self::argument`] tells that they count.
    pub(super) words: &'a str,
    /// Set once the command has asked for its words.
    pub(super) is_read: &'a AtomicBool,
    /// Who wrote the message that it replies to; none for a bot's.
    pub(crate) replied: Option<&'a Speaker>,
    /// The message that holds the command.
    pub(crate) message: &'a Inbound,
    /// All commands there are, in the order of their registration.
    pub(crate) commands: &'a [Arc<dyn Command>],
}

impl<'a> Request<'a> {
    /// What stands behind its name. Where a command never asks for it, whoever wrote it is told that it changed nothing.
    pub fn argument(&self) -> &'a str {
        self.is_read.store(true, Ordering::Relaxed);
        self.words
    }
}

/// What a command leads to.
#[derive(Debug)]
pub enum Outcome {
    /// A card is shown.
    Card(Card),
    /// This is put into the queue of the conversation.
    Job(Box<Job>),
    /// A turn was stopped: the card is shown unless its own words say so.
    Stopped(Card, Control),
}

impl From<Card> for Outcome {
    fn from(card: Card) -> Self {
        Self::Card(card)
    }
}

/// A press of a button.
#[derive(Debug)]
pub struct Press<'a> {
    /// The update that told of it.
    pub(crate) update: UpdateId,
    /// Who pressed, and where.
    pub(crate) asker: &'a Asker,
    /// The message with the button.
    pub(crate) message: MessageId,
    /// What the button says.
    pub data: &'a str,
}

impl Press<'_> {
    /// These words as if whoever pressed had typed them at this time.
    #[must_use]
    pub fn ask(&self, words: &str, now: DateTime<Utc>) -> Question {
        let Asker { place, speaker, language, client, standing, .. } = &self.asker;
        let origin = Origin::telegram(self.update, self.message);
        let part = Inbound {
            language: language.clone(),
            client: client.clone(),
            ..Inbound::addressed(origin, place.clone(), speaker.clone(), words.to_owned(), now)
        };
        Question::new(part, *standing)
    }
}

/// What a press leads to.
#[derive(Debug)]
pub enum Pressed {
    /// Words over the button, and the card in a new state.
    Shown {
        /// The text that Telegram shows over the chat for a moment.
        toast: Option<String>,
        /// The new state; `None` leaves the card as it is.
        card: Option<Card>,
    },
    /// It comes too late: that is said, and the buttons are taken off.
    Stale,
    /// Words over the button, and the buttons are taken off: what they were for is done.
    Over(String),
    /// Words over the button, which has another label from now on; the other buttons of the message stay.
    Relabelled {
        /// The text that Telegram shows over the chat for a moment.
        toast: String,
        /// The label; `None` takes the button off.
        label: Option<String>,
    },
    /// Words over the button, which has this label from now on; the other buttons are taken off: what they were for is done.
    Marked {
        /// The text that Telegram shows over the chat for a moment.
        toast: String,
        /// The label.
        label: String,
    },
    /// This is put into the queue of the conversation, at the place of the press.
    Job {
        /// What is to be done.
        job: Box<Job>,
        /// Words over the button.
        toast: Option<String>,
        /// Whether the buttons are taken off, so that what they do is done once.
        once: bool,
    },
}

impl Pressed {
    /// Words over the button alone.
    pub(crate) fn toast(text: impl Into<String>) -> Self {
        Self::Shown { toast: Some(text.into()), card: None }
    }

    /// The card in a new state.
    #[must_use]
    pub(crate) const fn card(card: Card) -> Self {
        Self::Shown { toast: None, card: Some(card) }
    }

    /// Words over the button, and the card in a new state.
    pub fn both(text: impl Into<String>, card: Card) -> Self {
        Self::Shown { toast: Some(text.into()), card: Some(card) }
    }
}

/// Why a press did nothing.
#[derive(Debug, thiserror::Error)]
pub enum PressError {
    /// The button is of an older version, or what it is about is no more: the person is told so.
    #[error("the button is out of date")]
    Gone,
    /// The store failed: the card says so.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Gone> for PressError {
    fn from(_gone: Gone) -> Self {
        Self::Gone
    }
}

/// Who may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who may talk to the bot.
    Everybody,
    /// The bot's owners alone.
    Owners,
}

/// A heading of `/help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Commands about talking to the bot.
    Chat,
    /// Commands about what is remembered.
    Remember,
    /// What runs by itself.
    Schedule,
    /// Commands about settings and figures.
    Settings,
    /// Commands for owners.
    Owner,
}

impl Group {
    /// All of them, in the order of `/help`.
    pub(crate) const ALL: [Self; 5] =
        [Self::Chat, Self::Remember, Self::Schedule, Self::Settings, Self::Owner];

    /// The words of the heading.
    #[must_use]
    pub(crate) const fn heading(self, texts: &Texts) -> &str {
        match self {
            Self::Chat => texts.help_chat(),
            Self::Remember => texts.help_remember(),
            Self::Schedule => texts.help_schedule(),
            Self::Settings => texts.help_settings(),
            Self::Owner => texts.help_owner(),
        }
    }
}
