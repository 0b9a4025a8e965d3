//! Button of `/tally`.

use super::buttons::buttons;

buttons! {
    /// Buttons of `/tally`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum TallyButton = "tally" {
        /// Shows this count.
        Show(count: u8) = "show",
    }
}
