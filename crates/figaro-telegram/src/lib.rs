//! Telegram: updates in ([`poller`], [`inbound`], [`router`]), commands and buttons at once ([`commands`]), previews and answers
//! out ([`live`], [`delivery`]). Called by the binary.

pub mod admins;
pub mod amend;
pub mod api;
pub mod batch;
mod button;
pub mod callback;
mod chart;
pub mod commands;
pub mod consents;
pub mod cursor;
pub mod delivery;
pub mod error;
pub mod files;
pub mod inbound;
pub mod intake;
pub mod live;
pub mod newest;
pub mod owners;
pub mod poller;
pub mod questions;
pub mod recovery;
pub mod router;
pub mod send;
pub mod titles;
pub mod tries;
pub mod views;
pub mod webhook;
