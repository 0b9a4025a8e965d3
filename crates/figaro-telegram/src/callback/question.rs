//! Buttons under a question whose answer a turn waits for.

use super::buttons::buttons;
use figaro_base::ids::RunId;

buttons! {
    /// Button that answers the question with one of its options.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct ChooseButton = "choose" {
        pub(crate) turn: RunId,
        /// Index of the answer in the options, from 0.
        pub(crate) option: u8,
    }
}
