//! What is allowed: who may talk to the bot, and what the model may do. Pure functions that fail closed.

pub mod access;
pub mod tools;
