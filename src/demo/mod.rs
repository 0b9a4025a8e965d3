//! An offline Telegram, an offline model and an offline search on loopback: the world of `figaro demo`, and of the
//! tests, which meet the real binaries in it.

pub mod model;
pub mod tavily;
pub mod telegram;

/// The chat page: one self-contained file.
pub const PAGE: &str = include_str!("page.html");
