//! Telegram Bot API as an MCP server: the table of methods, and everything served from it. The binary and `figaro
//! mcp-server` enter through [`main`], tests through [`serve`]. Figaro's offline Telegram uses the table; Figaro itself
//! uses the same proxies.

mod body;
mod bots;
pub mod catalog;
pub mod check;
mod download;
mod everyday;
mod files;
pub mod find;
mod http;
mod languages;
mod lines;
mod lookup;
mod malformed;
pub mod pace;
mod pipe;
mod process;
pub mod proxy;
mod scan;
mod schema;
mod server;
mod sessions;
mod settings;
mod stdio;
pub mod table;
mod telegram;
mod tokens;
mod updates;
mod wording;

pub use bots::BOT_META;
pub use http::serve;
pub use process::{main, open_port};
pub use settings::{Settings, command_line};

/// Id of the build; changes with the sources and data of this crate.
pub const BUILD_ID: &str = env!("FIGARO_MCP_BUILD_ID");

/// Version in the MCP handshake: the crate's version and the build id.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("FIGARO_MCP_BUILD_ID"));
