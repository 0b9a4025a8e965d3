//! The buttons under a question that a turn waits with.

use super::buttons::buttons;
use figaro_base::ids::RunId;

buttons! {
    /// Chooses an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Choose = "choose" {
        /// The turn that waits.
        pub(crate) turn: RunId,
        /// The answer's place among the options, from 0.
        pub(crate) option: u8,
    }
}
