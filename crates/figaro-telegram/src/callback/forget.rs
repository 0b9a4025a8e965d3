//! Buttons of `/forget`, `/privacy` and `/export`.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::buttons::{as_text, buttons};
use super::{Gone, Page};
use figaro_base::ids::{MessageId, SessionId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::erasure::SaidAt;

/// Number of a search; its buttons carry it to find the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchNumber(pub(crate) u32);

buttons! {
    /// Buttons of `/forget`: of its menu, its questions and its search results.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ForgetButton = "forget" {
        /// Shows the choice of what to forget.
        Menu = "menu",
        /// Answers a question with no: nothing is forgotten.
        Keep = "keep",
        /// Asks for confirmation to forget the current session.
        AskSession = "here",
        Session(session: SessionId) = "session",
        /// Asks for confirmation to forget everything about a person.
        AskAll = "me",
        /// Forgets everything about the person who asked, by Telegram user id; presses by others are refused.
        All(user: i64) = "all",
        /// Asks for confirmation to forget a message that a search found.
        AskSaid(said: SaidKey, search: Option<SearchNumber>) = "ask",
        Said(said: SaidKey) = "said",
        /// Shows a page of the results of a search.
        Found(search: SearchNumber, page: Page) = "found",
        /// Asks for confirmation to forget all results of a search.
        AskFound(search: SearchNumber) = "askall",
        /// Forgets all results of a search.
        AllFound(search: SearchNumber) = "allfound",
    }
}

/// Location of a stored message in a button: `SESSION.INDEX`, or `b` and the message id for a background message.
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
    /// Button that shows the card of `/privacy`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct PrivacyButton = "privacy", "show"
}

buttons! {
    /// Buttons of the card of `/export`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ExportButton = "export" {
        /// Shows the exports to choose from.
        Menu = "menu",
        Session = "session",
        /// Sends all data kept about the person who presses.
        All = "all",
    }
}

impl Display for SearchNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SearchNumber {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        text.parse().map(Self).map_err(|_no_number| Gone)
    }
}

as_text!(SaidKey, SearchNumber);
