//! MCP servers. The Telegram MCP server is a child process of the bot's own: found, started, watched, restarted. Other servers
//! are described in the owner's file. One client calls the tools of both.

mod backoff;
pub mod child;
pub mod client;
pub mod file;
pub mod guard;
mod lines;
pub mod locate;
pub mod servers;
pub mod supervisor;
