//! Data and pure rules: messages, conversations, turns, tasks, notes, settings of a chat, access. Used by every crate above
//! `figaro-base`. Does no I/O.
//!
//! Public types to start from: [`message::Inbound`], [`conversation::ConversationId`], [`turn::ChangeSet`], [`task::Task`],
//! [`chat::ChatConfig`].

pub mod access;
pub mod agent;
mod answers;
pub mod approval;
pub mod audit;
pub mod budget;
pub mod business;
pub mod calls;
pub mod catch_up;
pub mod chat;
pub mod child;
pub mod code;
pub mod config_change;
pub mod conversation;
pub mod delivery;
pub mod document;
pub mod erasure;
pub mod external;
pub mod facts;
pub mod form;
pub mod generation;
pub mod hearing;
pub mod importance;
pub mod language;
pub mod memory;
pub mod message;
pub mod model;
pub mod note;
pub mod observation;
pub mod origin;
pub mod people;
pub mod persona;
pub mod pin;
pub mod pinning;
pub mod profile;
pub mod provider_spec;
pub mod quiet;
pub mod reception;
pub mod record;
pub mod role;
pub mod said;
pub mod said_since;
pub mod schedule;
pub mod session;
pub mod source;
pub mod summary;
pub mod task;
pub mod tool;
pub mod tool_result;
pub mod turn;
pub mod undo;
pub mod usage;
pub mod vector;
pub mod zone;
