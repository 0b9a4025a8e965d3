//! Records of the store: finding and writing them, for any operation. Code here reads through
//! [`Tables`](super::tables::Tables), writes into [`Changes`](super::changes::Changes), and knows nothing of the disk.
//! The files above this folder call it, each for the operations of one port.

pub(super) mod access;
pub(super) mod audit;
pub(super) mod background;
pub(super) mod business;
pub(super) mod calls;
pub(super) mod children;
pub(super) mod due;
pub(super) mod edits;
pub(super) mod erasure;
pub(super) mod external;
pub(super) mod facts;
pub(super) mod index;
pub(super) mod migration;
pub(super) mod parked;
pub(super) mod people;
pub(super) mod pins;
pub(super) mod receptions;
pub(super) mod session_list;
pub(super) mod sessions;
pub(super) mod spending;
pub(super) mod summaries;
pub(super) mod tasks;
pub(super) mod turns;
pub(super) mod undos;
pub(super) mod updates;
pub(super) mod vectors;
pub(super) mod write;

#[cfg(test)]
mod tests;
