//! Interface of a command: name, description, rights, effect and buttons. The table calls commands; the rest of
//! Figaro does not tell one command from another.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::asker::Asker;
use super::card::Card;
use crate::callback::Gone;
use crate::views::MessageView;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_base::ids::{MessageId, UpdateId};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Command that people give with `/name`, and the buttons of its cards.
#[async_trait]
pub trait Command: Debug + Send + Sync {
    /// Name, list entry, rights and buttons of the command. No two commands share a name or a button family.
    fn spec(&self) -> CommandSpec;

    /// Returns `true` if later messages depend on the effect of the command. It then runs before they are handled,
    /// and must be fast.
    fn is_immediate(&self, _argument: &str) -> bool {
        false
    }

    /// Runs the command without a place in the queue. Returns `false` if it cannot; the sender is then told that the
    /// queue is full.
    fn run_without_room(&self, _message: &Inbound) -> bool {
        false
    }

    /// Returns the code of an owner invite in the argument. It is redeemed before the command runs, also for
    /// strangers.
    fn invitation<'a>(&self, _argument: &'a str) -> Option<&'a str> {
        None
    }

    /// Runs the command for a request.
    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError>;

    /// Handles a press on a button of one of the command's families.
    async fn press(&self, _press: &Press<'_>) -> Result<Pressed, PressError> {
        Err(PressError::Gone)
    }

    /// Returns the question that [`Self::press`] would ask, to resume its turn after a restart; `None` for a button
    /// that asks nothing. Has no side effects.
    fn question(&self, _press: &Press<'_>) -> Option<Question> {
        None
    }
}

/// Fixed facts about a command: for the table, `/help` and Telegram's list of commands.
#[derive(Debug, Clone, Copy)]
pub struct CommandSpec {
    /// Name in lower case, without the slash.
    pub name: &'static str,
    /// Returns the short description for `/help` and Telegram's list of commands.
    pub about: fn(&Texts) -> &str,
    /// Heading of `/help` above the command; `None` if `/help` does not list it.
    pub group: Option<Group>,
    /// People who may give the command. Telegram's list, which everybody sees, leaves out commands for owners.
    pub access: Access,
    /// People who may press its buttons.
    pub press_access: Access,
    /// `true` if its buttons change a setting of the whole chat. People who may not change it see the card without
    /// buttons.
    pub changes_chat: bool,
    /// `true` if it begins a turn, so that it needs room in the queue even from an owner.
    pub begins_turn: bool,
    /// `false` if a setting is missing without which it only says so. `/help` and Telegram's list then leave it out.
    pub is_offered: bool,
    /// Families of callback data of its buttons.
    pub families: &'static [&'static str],
    /// Forms of its argument, such as `NAME`, each with its effect in English; for docs/commands.md. Empty if it takes none.
    pub arguments: &'static [(&'static str, &'static str)],
}

impl CommandSpec {
    /// Creates the spec of a command for everybody, without buttons, that `/help` does not list.
    #[must_use]
    pub const fn new(name: &'static str, about: fn(&Texts) -> &str) -> Self {
        Self {
            name,
            about,
            group: None,
            access: Access::Everybody,
            press_access: Access::Everybody,
            changes_chat: false,
            begins_turn: false,
            is_offered: true,
            families: &[],
            arguments: &[],
        }
    }

    /// Lists it under a heading of `/help`.
    #[must_use]
    pub const fn group(self, group: Group) -> Self {
        Self { group: Some(group), ..self }
    }

    /// Restricts the command and its buttons to the bot's owners.
    #[must_use]
    pub const fn owners(self) -> Self {
        Self { access: Access::Owners, press_access: Access::Owners, ..self }
    }

    /// Sets who may press its buttons.
    #[must_use]
    pub(crate) const fn pressed_by(self, press_access: Access) -> Self {
        Self { press_access, ..self }
    }

    /// Marks that its buttons change a setting of the whole chat.
    #[must_use]
    pub(crate) const fn changes_chat(self) -> Self {
        Self { changes_chat: true, ..self }
    }

    /// Marks that it begins a turn.
    #[must_use]
    pub(crate) const fn begins_turn(self) -> Self {
        Self { begins_turn: true, ..self }
    }

    /// Leaves it out of `/help` and Telegram's list if a setting that it needs is missing.
    #[must_use]
    pub(crate) const fn offered_if(self, is_offered: bool) -> Self {
        Self { is_offered, ..self }
    }

    /// Registers the families of its buttons.
    #[must_use]
    pub const fn families(self, families: &'static [&'static str]) -> Self {
        Self { families, ..self }
    }

    /// Documents the forms of its argument, each with its effect.
    #[must_use]
    pub const fn arguments(self, arguments: &'static [(&'static str, &'static str)]) -> Self {
        Self { arguments, ..self }
    }
}

/// A command as it was sent.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    /// Sender of the command, with the place.
    pub(crate) asker: &'a Asker,
    /// Text after the command's name, trimmed; [`Self::argument`] also marks it as read.
    pub(super) words: &'a str,
    /// Set when the command reads its argument.
    pub(super) is_read: &'a AtomicBool,
    /// Author of the message that the command replies to; `None` for a bot's.
    pub(crate) replied: Option<&'a Speaker>,
    pub(crate) message: &'a Inbound,
    /// All commands, in the order of their registration.
    pub(crate) commands: &'a [Arc<dyn Command>],
}

impl<'a> CommandRequest<'a> {
    /// Returns the text after the command's name. If a command never reads it, the sender is told that it changed
    /// nothing.
    pub fn argument(&self) -> &'a str {
        self.is_read.store(true, Ordering::Relaxed);
        self.words
    }

    /// Returns the specs of all commands, in the order of their registration.
    pub fn specs(&self) -> impl Iterator<Item = CommandSpec> {
        self.commands.iter().map(|command| command.spec())
    }
}

/// Result of a command, which the table shows or queues.
#[derive(Debug)]
pub enum CommandOutcome {
    /// Card to show to the sender.
    Card(Card),
    /// Job to put into the queue of the conversation.
    Job(Box<Job>),
    /// A turn was stopped. The card is shown unless the turn's own message says so.
    Stopped(Card, Control),
}

impl From<Card> for CommandOutcome {
    fn from(card: Card) -> Self {
        Self::Card(card)
    }
}

/// A press of a button, as commands get it.
#[derive(Debug)]
pub struct Press<'a> {
    /// Id of the update with the press.
    pub(crate) update: UpdateId,
    /// Person who pressed, with the place.
    pub(crate) asker: &'a Asker,
    pub(crate) message: MessageId,
    /// Message with the button, as Telegram shows it.
    pub(crate) shown: Option<&'a MessageView>,
    /// Callback data of the button, without the trail.
    pub data: &'a str,
}

impl Press<'_> {
    /// Creates a question with this text, as if the person had typed it at this time.
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

/// Result of a press, which the table shows or queues.
#[derive(Debug)]
pub enum Pressed {
    /// Shows a toast and the new state of the card.
    Shown {
        /// Text that Telegram shows over the chat for a moment.
        toast: Option<String>,
        /// New state of the card; `None` leaves it unchanged.
        card: Option<Card>,
    },
    /// The press is too late: the person is told, and the buttons are removed.
    Stale,
    /// Shows a toast and removes all buttons of the message.
    Over(String),
    /// Shows a toast and changes the label of the button; the other buttons stay.
    Relabelled {
        /// Text that Telegram shows over the chat for a moment.
        toast: String,
        /// New label; `None` removes the button.
        label: Option<String>,
    },
    /// Shows a toast, changes the label of the button, and removes the other buttons.
    Marked {
        /// Text that Telegram shows over the chat for a moment.
        toast: String,
        /// New label of the pressed button.
        label: String,
    },
    /// Puts a job into the queue of the conversation, at the position of the press.
    Job {
        /// Job to put into the queue.
        job: Box<Job>,
        /// Toast to show over the chat, if any.
        toast: Option<String>,
        /// `true` if the buttons are removed, so that they can be used only once.
        once: bool,
    },
}

impl Pressed {
    /// Creates a result that only shows a toast.
    pub(crate) fn toast(text: impl Into<String>) -> Self {
        Self::Shown { toast: Some(text.into()), card: None }
    }

    /// Creates a result that only shows the new state of the card.
    #[must_use]
    pub(crate) const fn card(card: Card) -> Self {
        Self::Shown { toast: None, card: Some(card) }
    }

    /// Creates a result with a toast and the new state of the card.
    pub fn both(text: impl Into<String>, card: Card) -> Self {
        Self::Shown { toast: Some(text.into()), card: Some(card) }
    }
}

/// Reason why a press had no effect.
#[derive(Debug, thiserror::Error)]
pub enum PressError {
    /// The button is from an older version, or its subject no longer exists; the person is told so.
    #[error("the button is out of date")]
    Gone,
    /// The store failed; the card says so.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Gone> for PressError {
    fn from(_gone: Gone) -> Self {
        Self::Gone
    }
}

/// People who may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who may talk to the bot.
    Everybody,
    /// Only the owners of the bot.
    Owners,
}

/// Heading of `/help` that groups commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Commands about talking to the bot.
    Chat,
    /// Commands about memory, notes and other stored data.
    Remember,
    /// Commands about tasks that run on a schedule.
    Schedule,
    /// Commands about settings, usage and the bot's status.
    Settings,
    /// Commands for owners of the bot.
    Owner,
}

impl Group {
    /// All headings, in the order of `/help`.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Remember, Self::Schedule, Self::Settings, Self::Owner];

    /// Returns the text of the heading.
    #[must_use]
    pub fn heading(self, texts: &Texts) -> &str {
        match self {
            Self::Chat => texts.help_chat(),
            Self::Remember => texts.help_remember(),
            Self::Schedule => texts.help_schedule(),
            Self::Settings => texts.help_settings(),
            Self::Owner => texts.help_owner(),
        }
    }
}
