//! What policy knows of a call.

use figaro_mcp::table::Method;
use serde_json::{Map, Value};

use crate::ids::{ChatId, UserId};
use crate::policy::address::Addresses;

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
    /// Whether the model sent every message it names; `None` where it names none.
    pub own: Option<bool>,
    /// Whether one of them is Figaro's: a card, a notice, an answer to a command.
    pub figaros: bool,
    /// Values of parameters that Telegram may fetch a file for.
    pub files: &'a [&'a str],
    /// Addresses that a person wrote or that search found.
    pub addresses: &'a Addresses,
}
