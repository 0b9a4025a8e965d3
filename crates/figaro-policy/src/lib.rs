//! What is allowed: who may talk to the bot, what the model may do and promise, which addresses it may have loaded, and
//! what may be spent. Pure functions that fail closed.

pub mod access;
pub mod address;
pub mod approval;
pub mod bots;
pub mod budget;
pub mod guesses;
pub mod promise;
pub mod tools;
