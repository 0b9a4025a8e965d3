//! What policy knows of a call.

use figaro_mcp::table::Method;
use serde_json::{Map, Value};

use crate::address::Addresses;
use figaro_base::ids::{ChatId, UserId};

/// Who asks, where they ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Owns the bot.
    Owner,
    /// Administers the chat that the model is in; in a private chat its one user.
    Admin,
    /// May talk to the bot.
    Member,
    /// Nobody whose rights count: the question holds words of somebody else.
    Guest,
}

impl Role {
    /// All of them, from the one with most rights.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Admin, Self::Member, Self::Guest];

    /// The word for it in rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Guest => "guest",
        }
    }
}

/// A call of a Bot API method as policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct TelegramCall<'a> {
    /// The Bot API method that is called.
    pub method: &'a Method,
    /// The arguments of the call.
    pub args: &'a Map<String, Value>,
    /// The chat the model is in.
    pub here: ChatId,
    /// Who asked in their own words; `None` for words of someone else, which nobody's rights count for.
    pub speaker: Option<&'a UserId>,
    /// Their role here.
    pub role: Role,
    /// The agent that makes the call; `None` for Figaro itself.
    pub agent: Option<&'a str>,
    /// Whether it is the run of a task, in which nobody can be asked.
    pub task: bool,
    /// Whether the model sent every message it names; `None` where it names none.
    pub own: Option<bool>,
    /// Whether one of them is Figaro's: a card, a notice, an answer to a command.
    pub figaros: bool,
    /// Values of parameters that Telegram may fetch a file for.
    pub files: &'a [&'a str],
    /// Addresses that a person wrote or that search found.
    pub addresses: &'a Addresses,
    /// The chats that usernames among the arguments were found to name, each without its `@`. A username that is not here
    /// names another chat.
    pub resolved: &'a [(String, ChatId)],
}
