//! The other bots of the process, as the dashboard of one shows them to their owner.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use figaro_agent::sign_outs::SignInGrant;
use figaro_base::ids::UserId;

/// Bots of a process that runs several.
pub trait ProcessBots: Debug + Send + Sync {
    /// Returns the bots that a person owns, in the order of their names.
    fn owned_by(&self, user: &UserId) -> Vec<OwnedBot>;

    /// Makes a link that signs a person in to the dashboard of a bot, with the right that they have at another; `None` if they
    /// do not own it, or it has none now.
    fn link(&self, name: &str, grant: SignInGrant) -> Option<String>;
}

/// Bot of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedBot {
    /// Name in the file of bots.
    pub name: String,
    /// Username at Telegram, without `@`; `None` while it is not known.
    pub username: Option<String>,
    /// Activity of the bot, since `since`.
    pub activity: BotActivity,
    /// Beginning of the activity.
    pub since: DateTime<Utc>,
    /// `true` if it has a dashboard now.
    pub has_dashboard: bool,
}

/// Activity of a bot of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BotActivity {
    /// Its parts are being made, or it waits for Telegram.
    Starts,
    /// All parts are made, and messages are answered.
    Runs,
    /// It stopped by itself and is tried again. Holds the reason, with a remedy.
    Paused(String),
    /// Running turns get their time to end.
    Stops,
}
