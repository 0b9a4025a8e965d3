//! Permissions: access to the bot, calls and promises of the model, addresses it may load, budgets. Pure functions that
//! fail closed. Used by the ledger, the tools, the turn, Telegram and the gateway.

pub mod access;
pub mod address;
pub mod approval;
pub mod bots;
pub mod budget;
pub mod guesses;
pub mod promise;
pub mod tools;
