//! Input of a policy decision about a call.

use figaro_mcp::table::Method;
use serde_json::{Map, Value};

use crate::address::Addresses;
use figaro_base::ids::{ChatId, UserId};

/// Role of the requester in the chat of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerRole {
    /// Owner of the bot.
    Owner,
    /// Admin of the chat that the model is in; in a private chat its one user.
    Admin,
    /// Anybody else who may talk to the bot.
    Member,
    /// Nobody whose rights count: the question contains someone else's words.
    Guest,
}

impl CallerRole {
    /// All roles, the most powerful first.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Admin, Self::Member, Self::Guest];

    /// Returns the name of the role in rules.
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
    /// Description of the called method.
    pub method: &'a Method,
    /// Arguments as the model wrote them.
    pub args: &'a Map<String, Value>,
    /// Chat that the model is in.
    pub here: ChatId,
    /// Requester in their own words; `None` for words of someone else, for which nobody's rights count.
    pub speaker: Option<&'a UserId>,
    /// Role of the requester in that chat.
    pub role: CallerRole,
    /// Agent that makes the call; `None` for Figaro itself.
    pub agent: Option<&'a str>,
    /// `true` in the run of a task, in which nobody can be asked.
    pub task: bool,
    /// `true` if the model sent every message that the call names; `None` if it names none.
    pub own: Option<bool>,
    /// `true` if one of these messages is Figaro's own: a card, a notice, an answer to a command.
    pub figaros: bool,
    /// Values of parameters for which Telegram may fetch a file.
    pub files: &'a [&'a str],
    /// Addresses that a person wrote or that a search found.
    pub addresses: &'a Addresses,
    /// Text by others that the turn has read, such as a page, by its name; `None` for none.
    pub read: Option<&'a str>,
    /// Resolved usernames of the arguments, each without its `@`, with their chats. A missing username names another
    /// chat.
    pub resolved: &'a [(String, ChatId)],
}
