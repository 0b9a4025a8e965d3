//! Client of MCP servers. The Telegram MCP server is a child process of the bot, which finds, starts, watches and
//! restarts it. Other servers are described in the owner's file `mcp.json`. Used by the tools of `figaro-agent` and
//! by the binary.
//!
//! Public types to start from: [`client::Connection`], [`supervisor`], [`servers::Servers`].

mod backoff;
mod bots;
pub mod child;
pub mod client;
pub mod file;
pub mod guard;
mod lines;
pub mod locate;
pub mod servers;
pub mod supervisor;
