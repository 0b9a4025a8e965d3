//! Figaro: a self-hosted AI agent that lives in Telegram.
//!
//! Modules stand here in reading order. Each row imports only from rows above it, siblings never from each other;
//! `tests/layering/` holds them to it. The packages `figaro-mcp` and `figaro-offline` import nothing from here.
//!
//! | row | modules | may not |
//! |---|---|---|
//! | 0 | ids secret clock shutdown text | use any other module of ours |
//! | 1 | domain config telemetry | do I/O |
//! | 2 | delivery files provider store prompts policy | know Telegram, tools, each other |
//! | 3 | languages ledger mcp outbound retention | know sessions |
//! | 4 | memory | know turns |
//! | 5 | tools | |
//! | 6 | turn | know Telegram, HTTP, a concrete store |
//! | 7 | telegram scheduler http | import each other |
//! | 8 | app cli | contain policy |

pub mod clock;
pub mod ids;
pub mod secret;
pub mod shutdown;
pub mod text;

pub mod config;
pub mod domain;
pub mod telemetry;

pub mod delivery;
pub mod files;
pub mod policy;
pub mod prompts;
pub mod provider;
pub mod store;

pub mod languages;
pub mod ledger;
pub mod mcp;
pub mod outbound;
pub mod retention;

pub mod memory;

pub mod tools;

pub mod turn;

pub mod http;
pub mod scheduler;
pub mod telegram;

pub mod app;
pub mod cli;
