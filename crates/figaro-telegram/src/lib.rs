//! Telegram channel: receives updates ([`poller`], [`inbound`], [`router`]), runs commands and buttons
//! ([`commands`]), sends previews and answers ([`live`], [`delivery`]). Called by the binary.

mod admins;
mod amend;
pub mod api;
mod batch;
pub mod business;
mod button;
pub mod callback;
pub mod channel;
mod chart;
pub mod commands;
mod content;
mod cursor;
pub mod delivery;
pub mod error;
mod files;
pub mod inbound;
pub mod inline;
pub mod intake;
mod kinds;
pub mod live;
mod media;
mod names;
pub mod newest;
mod outgoing;
pub mod owners;
pub mod poller;
pub mod questions;
pub mod recovery;
pub mod router;
pub mod send;

mod tries;
mod views;
pub mod webhook;
