//! A turn, from its question to its end.

mod active;

pub use active::ActiveTurn;
