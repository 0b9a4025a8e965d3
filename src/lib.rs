//! Figaro: a self-hosted AI agent in Telegram. This package wires the crates of `crates/` ([`app`]) and parses the command
//! line ([`cli`]); `main` calls both.

pub mod app;
pub mod cli;
