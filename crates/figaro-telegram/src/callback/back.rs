//! Button that takes back what a turn did.

use super::buttons::buttons;
use figaro_base::ids::RunId;

buttons! {
    /// Takes back what this turn did in chats.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct BackButton = "back" (RunId)
}
