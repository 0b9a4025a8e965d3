//! What Figaro talks about: messages, conversations, turns, tasks, notes, settings of a chat, access. Data and rules without I/O.

pub mod access;
pub mod agent;
pub mod chat;
pub mod config_change;
pub mod conversation;
pub mod delivery;
pub mod generation;
pub mod importance;
pub mod language;
pub mod message;
pub mod model;
pub mod note;
pub mod persona;
pub mod profile;
pub mod schedule;
pub mod session;
pub mod source;
pub mod task;
pub mod tool;
pub mod turn;
pub mod usage;
pub mod vector;
pub mod zone;
