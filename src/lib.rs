//! Figaro: a self-hosted AI agent that lives in Telegram. This package puts the crates of `crates/` together ([`app`]) and reads
//! the command line ([`cli`]); `main` calls both.

pub mod app;
pub mod cli;
