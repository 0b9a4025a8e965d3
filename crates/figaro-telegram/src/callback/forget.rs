//! The buttons by which people have Figaro forget, and get what it keeps.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::buttons::{as_text, buttons};
use super::{Gone, Page};
use figaro_base::ids::{MessageId, SessionId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::erasure::SaidAt;

/// The number of a search, by which its buttons find what it has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Search(pub(crate) u32);

buttons! {
    /// The buttons of `/forget`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Forget = "forget" {
        /// Shows what can be forgotten.
        Menu = "menu",
        /// Leaves all as it is.
        Keep = "keep",
        /// Asks whether the current session is to be forgotten.
        AskSession = "here",
        /// Forgets a session.
        Session(session: SessionId) = "session",
        /// Asks whether all about somebody is to be forgotten.
        AskAll = "me",
        /// Forgets all about whoever asked, by their number at Telegram: nobody else's press counts.
        All(user: i64) = "all",
        /// Asks whether a message is to be forgotten, which a search has found.
        AskSaid(said: SaidKey, search: Option<Search>) = "ask",
        /// Forgets a message.
        Said(said: SaidKey) = "said",
        /// Shows a page of what a search has found.
        Found(search: Search, page: Page) = "found",
        /// Asks whether all that a search has found is to be forgotten.
        AskFound(search: Search) = "askall",
        /// Forgets all that a search has found.
        AllFound(search: Search) = "allfound",
    }
}

/// Where a message is kept, in a button: `SESSION.INDEX`, or its number behind a `b` for one beside the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SaidKey(pub(crate) SaidAt);

impl Display for SaidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SaidAt::Session(key) => write!(f, "{}.{}", key.session, key.index),
            SaidAt::Background(message) => write!(f, "b{message}"),
        }
    }
}

impl FromStr for SaidKey {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        if let Some(number) = text.strip_prefix('b') {
            return number
                .parse()
                .map(|number| Self(SaidAt::Background(MessageId(number))))
                .map_err(|_error| Gone);
        }
        let (session, index) = text.split_once('.').ok_or(Gone)?;
        let session = session.parse().map_err(|_error| Gone)?;
        let index = index.parse().map_err(|_error| Gone)?;
        Ok(Self(SaidAt::Session(EntryKey { session, index })))
    }
}

buttons! {
    /// The button that shows `/privacy`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Privacy = "privacy", "show"
}

buttons! {
    /// The buttons of `/export`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Export = "export" {
        /// Shows what can be had.
        Menu = "menu",
        /// Sends the current session.
        Session = "session",
        /// Sends all that is kept of whoever presses.
        All = "all",
    }
}

impl Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Search {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        text.parse().map(Self).map_err(|_no_number| Gone)
    }
}

as_text!(SaidKey, Search);
